/*
 * keeper.h - the process that keeps a server: its parts.  Inside src/service only.
 *
 * The one invariant: the keeper forks with one thread and waits in one place, bk_keeper_wait(),
 * which notices at any moment that its starter is gone, that it is told to end, and that a child
 * died.
 */
#ifndef BK_SERVICE_KEEPER_H
#define BK_SERVICE_KEEPER_H

#include "service/run.h"
#include "service/unpack.h"

#include <poll.h>

struct bk_server { /* one process of the table */
	const struct bk_process *desc;
	pid_t pid; /* 0: not running */
	pid_t last_pid;
	int pidfd;
	uint64_t start;
	int status; /* as waitpid() gave it, once it ended */
	bool ended; /* on its own or by a signal from outside, and nobody has been told */
	char *log_path;
	off_t log_from; /* where the log of this start begins */
};

struct bk_gone { /* a process that was killed: what it made in shared memory goes too */
	pid_t pid;
	uint64_t start;
};

struct bk_keeper {
	struct bk_service_run *run;
	int control;  /* to the starter; -1 once it is gone */
	int listener; /* for teardown and reset: a socket in the folder */
	int signals;
	int lock;
	int run_lock;  /* of a {run} that is elsewhere: the folder itself, open and locked */
	bool attached; /* ends when the starter does */
	bool quit;
	bool told; /* to stop, by the starter: it was not killed */
	bool up;
	uint64_t deadline_ns; /* of the start at hand */
	uint64_t expires_ns;  /* monotonic; 0: never */
	uint64_t spare_ns;    /* when to make a spare copy; 0: not any more */
	time_t created, expires;
	struct bk_server *servers;
	size_t server_count;
	char *run_folder; /* {run} */
	char *data;       /* {data} */
	char *command_log;
	json_t *shm_files;
	struct bk_pack pack; /* the template, open for resets: its file may go meanwhile */
	struct bk_gone *gone;
	size_t gone_count;
	pid_t command; /* the one at work, or 0 */
	int command_status;
	struct bk_late *late; /* the copy that goes on while the server starts; or NULL */
	pid_t guarded;        /* ends with the starter */
	int guarded_fd;
};

/* ---- keeper.c */
/* In the child after the fork; never returns. */
void bk_keeper_main(struct bk_service_run *run, int control) __attribute__((noreturn));
/* Waits for `extra` (may be NULL), a child's end or `timeout_ms` (-1: none).  false: quit. */
bool bk_keeper_wait(struct bk_keeper *k, struct pollfd *extra, int timeout_ms);
bool bk_keeper_stopped(void *k); /* for bk_unpack: a look without waiting */
void bk_keeper_read_signals(struct bk_keeper *k);
void bk_keeper_lose_control(struct bk_keeper *k); /* the starter hung up */
/* CANCELLED when the keeper is to quit, TIMEOUT past the deadline. */
bk_status bk_keeper_check(const struct bk_keeper *k, const char *what, struct bk_error *err);

/* ---- obey.c */
#define BK_KEEPER_IDLE_NS UINT64_C(100000000) /* up for so long: time to copy ahead */
void bk_keeper_loop(struct bk_keeper *k);     /* until it is to quit */
void bk_keeper_set_deadline(struct bk_keeper *k);
json_t *bk_keeper_up(const struct bk_keeper *k); /* the messages */
json_t *bk_keeper_failed(const struct bk_keeper *k, const struct bk_error *err);

/* ---- folder.c */
bk_status bk_keeper_make_folder(struct bk_keeper *k, struct bk_error *err);
bk_status bk_keeper_fill_data(struct bk_keeper *k, struct bk_error *err);
bk_status bk_keeper_write_files(struct bk_keeper *k, struct bk_error *err);
void bk_keeper_clear_run(struct bk_keeper *k);
bk_status bk_keeper_save_state(struct bk_keeper *k, struct bk_error *err);
void bk_keeper_remove_folder(struct bk_keeper *k);
bk_status bk_keeper_copy_failed(const struct bk_keeper *k, const struct bk_error *cause,
				struct bk_error *err);

/* ---- late.c */
/* Begins to copy what the server does not need before it is ready, in a process of its own. */
bk_status bk_keeper_begin_late(struct bk_keeper *k, const struct bk_unpack *how,
			       struct bk_error *err);
/* Waits for that.  `st` and `err` are how the start went meanwhile; a copy that failed outranks
 * them, being the cause.  Afterwards there is no such process. */
bk_status bk_keeper_end_late(struct bk_keeper *k, bk_status st, struct bk_error *err);
bool bk_keeper_is_late(struct bk_keeper *k, pid_t pid); /* it ended, if it is that */

/* ---- command.c */
/* Runs those of a list that apply; `copied`: what is for the template only is left out. */
bk_status bk_keeper_commands(struct bk_keeper *k, const struct bk_command *list, bool copied,
			     struct bk_error *err);
/* One command line; *status its wait status.  `text` receives what it prints; or NULL. */
bk_status bk_keeper_run(struct bk_keeper *k, int *status, struct bk_buf *text,
			const char *const *argv, const char *stdin_text, uint64_t timeout_ns,
			struct bk_error *err);
/* The environment of servers and commands; bk_strings_free(). */
bk_status bk_keeper_environment(char ***out, const struct bk_keeper *k, const char *notify,
				struct bk_error *err);

/* ---- server.c, stop.c */
#define BK_START_PORTS 1u /* choose where it listens */
#define BK_START_DATA  2u /* the data is new: commands before and after */
bk_status bk_keeper_start(struct bk_keeper *k, uint32_t how, struct bk_error *err);
/* Clean: by stop_signal, one after the other.  Else by drop_signal, all at once. */
void bk_keeper_stop(struct bk_keeper *k, bool clean);
void bk_keeper_kill(struct bk_keeper *k);
void bk_keeper_note_segments(struct bk_keeper *k);
/* `root` and all that it started, before they are killed. */
void bk_keeper_note_gone(struct bk_keeper *k, pid_t root);
/* What ended, how, and what its log says. */
void bk_keeper_describe_end(struct bk_keeper *k, const struct bk_server *server,
			    struct bk_error *err);
/* One that was started and runs no more; NULL. */
struct bk_server *bk_keeper_ended(struct bk_keeper *k);

/* ---- ready.c */
bk_status bk_keeper_await_ready(struct bk_keeper *k, struct bk_server *server, int notify,
				struct bk_error *err);
/* A socket in {run} for READY=1; -1: none. */
int bk_keeper_notify_socket(struct bk_keeper *k, char **path);

/* ---- log.c */
/* The last lines in one, for a message. */
void bk_keeper_log_line(char *out, size_t cap, const struct bk_keeper *k, const char *path,
			off_t from);
void bk_keeper_log_all(struct bk_buf *out, const struct bk_keeper *k);

/* ---- wire.c: one JSON object a message */
bool bk_wire_send(int fd, json_t *message); /* takes the message over */
json_t *bk_wire_receive(int fd, int flags); /* NULL: closed, nothing there, or not an object */
json_t *bk_wire_failure(const struct bk_error *failure);
char *bk_wire_clean(char *text); /* what is no UTF-8 becomes '?'; returns it */
bk_status bk_wire_status(const json_t *message, struct bk_error *err);

#endif
