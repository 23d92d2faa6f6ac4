/*
 * spawn.h - a child process for a server or one of its commands.
 *
 * The one invariant: a child has the environment, the descriptors and the user that it is given
 * here and nothing of whoever runs bakeoff: no terminal, no pipe, no variable.
 */
#ifndef BK_SERVICE_SPAWN_H
#define BK_SERVICE_SPAWN_H

#include "service/identity.h"

struct bk_spawn {
	const char *path; /* of the program */
	char *const *argv;
	char *const *env;
	const char *cwd;
	int in, out;      /* descriptors; out is standard error too, unless err >= 0 */
	int err;          /* or -1 */
	int death_signal; /* when the process that called bk_spawn() ends; 0: none */
	const struct bk_identity *identity; /* NULL: as we are */
};

/* Returns when the program runs or could not be run.  *pidfd is the caller's to close, the pid to
 * wait for.  Call it from the main thread: the death signal comes when the calling thread ends. */
bk_status bk_spawn(pid_t *pid, int *pidfd, const struct bk_spawn *spawn, struct bk_error *err);

/* "status 1", "signal 9 (Killed)" */
const char *bk_spawn_describe(char *out, size_t cap, int wait_status);

#endif
