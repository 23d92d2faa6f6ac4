/*
 * service.h - private servers: started for a store, reached through it, gone afterwards.
 *
 * A run is one server (of one or more processes) in one folder with one keeper: a process of its
 * own session that starts the server, and ends and removes all of it when told to or when whoever
 * started it is gone.  The one invariant: nothing outlives its keeper, and the keeper outlives
 * nobody but where bk_service_detach() said so.
 *
 * Every function here belongs to the control thread.  Start services before opening stores: the
 * keeper is forked from the process as it is then.
 */
#ifndef BK_SERVICE_SERVICE_H
#define BK_SERVICE_SERVICE_H

#include "plugin/options.h"
#include "plugin/plugin.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum bk_profile {
	BK_PROFILE_TEST, /* tmpfs where there is room, nothing synced, small: exec, provision */
	BK_PROFILE_BENCH /* a real disk, durable as asked: run, conform */
};

struct bk_service_config {
	enum bk_profile profile;
	uint32_t durability;       /* BK_DURABLE_*: the most that a session will ask for */
	bool tcp;                  /* listen on a loopback address, with a password */
	bool spare;                /* keep a copy of the template ready for the next start; the
				    * folder is then removed after stop() has returned */
	const char *data;          /* the folder to make the server's folder in.  NULL: tmpfs with
				    * room, else $TMPDIR, /tmp; refused for BENCH */
	const char *const *schema; /* script files, NULL-terminated; or NULL */
	const char *purpose;       /* what `services` says it is for: "exec", "run many-members" */
	uint64_t timeout_ns;       /* until it is up; 0: a minute */
	uint64_t ttl_ns;           /* once detached; 0: until torn down */
	const volatile sig_atomic_t *interrupted;  /* not 0: give up (CANCELLED); or NULL */
	void (*note)(void *ctx, const char *line); /* what takes long, as it begins; or NULL */
	void *note_ctx;
};

struct bk_service_run;

/* Does this backend have a server that bakeoff can start here?  OK, or UNSUPPORTED (it has no
 * service), or NOT_FOUND with a message that names the missing program and where it was looked
 * for.  *program: the server program found; *user: whom it would run as; both may be NULL, each the
 * caller's to free. */
bk_status bk_service_probe(char **program, char **user, const struct bk_plugin *plugin,
			   const struct bk_options *options, struct bk_error *err);

/* It has a service, and neither the user nor the environment says where a server is: no URL and
 * none of the options that the service's `reach` fills in with a place.  run, conform and inspect
 * then start one. */
bool bk_service_wanted(const struct bk_plugin *plugin, const struct bk_options *options);

/* Where a throw-away server's data and the templates would be; each the caller's to free. */
bk_status bk_service_where(char **data, char **cache, struct bk_error *err);

/* Start in two halves, so that several start at once.  begin() returns when the keeper is at work
 * (after making the template where there was none); await() when the store opens.  A backend
 * without a service but with a folder option gets an empty folder.
 * `options` receives host, port, user and so on (BK_FROM_HARNESS) in await(); plugin and options
 * outlive the run, the config need not.  After a failed await() the run is still to be stopped;
 * bk_service_log() then has the end of the server's log. */
bk_status bk_service_begin(struct bk_service_run **out, const struct bk_plugin *plugin,
			   struct bk_options *options, const struct bk_service_config *config,
			   struct bk_error *err);
bk_status bk_service_await(struct bk_service_run *run, struct bk_error *err);
/* Both. */
bk_status bk_service_start(struct bk_service_run **out, const struct bk_plugin *plugin,
			   struct bk_options *options, const struct bk_service_config *config,
			   struct bk_error *err);

/* Stop cleanly and start on the same data, host and port (chill); start it again after a
 * kill.  Returns when the store opens. */
bk_status bk_service_restart(struct bk_service_run *run, struct bk_error *err);
/* SIGKILL to every process of the server, as a crash; returns when they are dead. */
bk_status bk_service_kill(struct bk_service_run *run, struct bk_error *err);
/* End everything and remove it; frees the run.  NULL is fine. */
void bk_service_stop(struct bk_service_run *run);
/* Say so and do not wait: of several, to all before the first stop().  NULL is fine. */
void bk_service_ask_stop(struct bk_service_run *run);
/* Leave it running, in the keeper's hands; frees the run. */
bk_status bk_service_detach(struct bk_service_run *run, struct bk_error *err);
/* Told once: if bakeoff is killed, the keeper ends this process too. */
void bk_service_guard(struct bk_service_run *run, pid_t pid);

/* Has a server process died on its own?  Then what and how, in *err. */
bool bk_service_died(struct bk_service_run *run, struct bk_error *err);

const char *bk_service_id(const struct bk_service_run *run);
const char *bk_service_folder(const struct bk_service_run *run); /* the server's {data} */
/* What a name of the service table stands for here: "host", "port", "run"; NULL: nothing. */
const char *bk_service_value(const struct bk_service_run *run, const char *name);
/* The end of the server's logs; valid until the next call.  Never NULL. */
const char *bk_service_log(struct bk_service_run *run);

struct bk_service_usage { /* since the start of the server, processes that ended included */
	uint64_t cpu_ns;
	uint64_t write_bytes; /* handed to the disk */
	uint64_t read_bytes;
	uint64_t rss_bytes; /* now; shared pages counted once where the system tells */
};
bk_status bk_service_usage(struct bk_service_usage *out, const struct bk_service_run *run,
			   struct bk_error *err);

/* ---- What clients are told ------------------------------------------------------------------ */

/* Variables in the order in which they are to be applied: value NULL unsets, and then a name that
 * ends in `*` stands for all that begin so. */
struct bk_service_env {
	struct bk_service_variable {
		char *name;
		char *value;
		bool secret;
	} * items;
	size_t count;
};
bk_status bk_service_env(struct bk_service_env *out, const struct bk_service_run *run,
			 bool database_url, struct bk_error *err);
void bk_service_env_free(struct bk_service_env *env);
/* The environment of a program that bakeoff runs for its user: the one that bakeoff was given, with
 * these applied.  Each string and the array are the caller's to free. */
bk_status bk_service_env_apply(char ***out, const struct bk_service_env *envs, size_t count,
			       struct bk_error *err);

/* ---- What is there ----------------------------------------------------------------------------
 */

struct bk_service_info {
	char *id, *backend, *plugin_path, *purpose, *folder, *url, *where;
	uint64_t created_unix_s, expires_unix_s; /* 0: never */
	pid_t keeper;
	bool alive;    /* its keeper is */
	bool detached; /* by provision */
	bool existing; /* a place on a server that is not ours */
};
struct bk_service_list {
	struct bk_service_info *items;
	size_t count;
};
bk_status bk_service_list(struct bk_service_list *out, struct bk_error *err);
void bk_service_list_free(struct bk_service_list *list);

/* Ends processes and removes folders whose keeper is dead.  Returns how many it removed; called at
 * the start of whatever starts servers. */
size_t bk_service_sweep(void);

bool bk_service_is_id(const char *id); /* something is remembered under it */
/* The options and the plugin of what runs under an id, to open its store; NOT_FOUND with the
 * nearest id. */
bk_status bk_service_reach(struct bk_plugin **plugin, struct bk_options **options, const char *id,
			   bool admin, struct bk_error *err);
bk_status bk_service_teardown(const char *id, struct bk_error *err);
/* Of a place whose server is gone for good: only what is remembered of it goes. */
bk_status bk_service_forget(const char *id, struct bk_error *err);
bk_status bk_service_reset(const char *id, struct bk_error *err);

/* ---- Places on a server that exists ---------------------------------------------------------- */

/* A database (bucket) and a user of their own, made through `options`, which reach the server as
 * someone who may; remembered under an id until torn down. */
bk_status bk_service_place(char **id, struct bk_service_env *env, const struct bk_plugin *plugin,
			   const struct bk_options *options, const struct bk_service_config *config,
			   struct bk_error *err);

#endif
