/*
 * stop.c - the end of a server's processes, and of what they leave.
 *
 * The one invariant: after bk_keeper_stop() no process of the server is left, nor any that it
 * started: the keeper is the reaper of all of them and kills what remains.
 */
#include "service/keeper.h"

#include "service/proc.h"
#include "service/segments.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STP_STOP_MS 5000

static void stp_signal(const struct bk_server *server, int signal)
{
	if (server->pid != 0)
		bk_proc_signal(server->pidfd, signal);
}

/* The end of one or all is awaited; whoever does not end is killed. */
static void stp_await_end(struct bk_keeper *k, const struct bk_server *only)
{
	uint64_t until = bk_service_now_ns() + STP_STOP_MS * UINT64_C(1000000), now;
	bool killed = false, left;
	size_t i;

	for (;;) {
		left = false;
		for (i = 0; i < k->server_count; i++)
			left = left ||
			       (k->servers[i].pid != 0 && (!only || only == &k->servers[i]));
		now = bk_service_now_ns();
		if (!left || (killed && now >= until))
			return;
		if (now >= until) {
			for (i = 0; i < k->server_count; i++) {
				if (!only || only == &k->servers[i])
					stp_signal(&k->servers[i], SIGKILL);
			}
			killed = true;
			until = now + UINT64_C(2000000000);
		}
		bk_keeper_wait(k, NULL, (int)((until - now) / 1000000) + 1);
	}
}

static bool stp_is_noted(const struct bk_keeper *k, pid_t pid)
{
	size_t i;

	for (i = 0; i < k->gone_count; i++) {
		if (k->gone[i].pid == pid)
			return true;
	}
	return false;
}

void bk_keeper_note_gone(struct bk_keeper *k, pid_t root)
{
	pid_t pids[256];
	size_t cap = sizeof(pids) / sizeof(pids[0]), n = bk_proc_tree(pids, cap, &root, 1), i;

	for (i = 0; i < n && i < cap; i++) {
		uint64_t start = bk_proc_start(pids[i]);
		struct bk_gone *more;

		if (pids[i] == getpid() || start == 0 || stp_is_noted(k, pids[i]))
			continue;
		bk_segments_note(k->shm_files, pids[i]);
		more = realloc(k->gone, (k->gone_count + 1) * sizeof(*more));
		if (!more)
			return;
		k->gone = more;
		k->gone[k->gone_count++] = (struct bk_gone){pids[i], start};
	}
}

/* Whatever is still a child of ours: the workers of a server that was killed. */
static void stp_kill_orphans(struct bk_keeper *k)
{
	uint64_t until = bk_service_now_ns() + UINT64_C(2000000000);
	pid_t pids[256], self = getpid();
	size_t n, i, cap = sizeof(pids) / sizeof(pids[0]);
	siginfo_t info;

	/* Almost always there is none, and the kernel knows. */
	while (bk_service_now_ns() < until &&
	       waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
		bk_keeper_note_gone(k, self);
		n = bk_proc_tree(pids, cap, &self, 1);
		for (i = 0; i < n && i < cap; i++) {
			if (pids[i] != self)
				kill(pids[i], SIGKILL);
		}
		bk_keeper_wait(k, NULL, 5);
	}
}

/* What workers mapped meanwhile: a look at them while they are there. */
void bk_keeper_note_segments(struct bk_keeper *k)
{
	pid_t pids[256], self = getpid();
	size_t cap = sizeof(pids) / sizeof(pids[0]), n = bk_proc_tree(pids, cap, &self, 1), i;

	for (i = 0; i < n && i < cap; i++) {
		if (pids[i] != self)
			bk_segments_note(k->shm_files, pids[i]);
	}
}

static void stp_remove_segments(struct bk_keeper *k)
{
	size_t i;

	for (i = 0; i < k->server_count; i++) {
		if (k->servers[i].last_pid != 0)
			bk_segments_remove(k->servers[i].last_pid, k->servers[i].start);
	}
	for (i = 0; i < k->gone_count; i++)
		bk_segments_remove(k->gone[i].pid, k->gone[i].start);
	k->gone_count = 0;
	bk_segments_remove_files(k->shm_files, k->run->identity.uid);
	json_array_clear(k->shm_files);
}

void bk_keeper_stop(struct bk_keeper *k, bool clean)
{
	size_t i;

	k->up = false;
	for (i = k->server_count; i-- > 0;) {
		struct bk_server *s = &k->servers[i];

		stp_signal(s, clean ? (int)s->desc->stop_signal
				    : (s->desc->drop_signal ? (int)s->desc->drop_signal : SIGKILL));
		if (clean)
			stp_await_end(k, s);
	}
	stp_await_end(k, NULL);
	stp_kill_orphans(k);
	stp_remove_segments(k);
}

/* As a crash leaves things: segments stay, for the server to find at its next start. */
void bk_keeper_kill(struct bk_keeper *k)
{
	size_t i;

	bk_keeper_note_segments(k);
	k->up = false;
	for (i = 0; i < k->server_count; i++)
		stp_signal(&k->servers[i], SIGKILL);
	stp_await_end(k, NULL);
	stp_kill_orphans(k);
}
