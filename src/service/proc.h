/*
 * proc.h - processes as /proc shows them.
 *
 * The one invariant: a process is known by its pid, its start time and the boot it was started in;
 * a bare pid proves nothing.
 */
#ifndef BK_SERVICE_PROC_H
#define BK_SERVICE_PROC_H

#include "service/service.h"

/* Clock ticks since boot; 0: no such process (or a zombie). */
uint64_t bk_proc_start(pid_t pid);
const char *bk_proc_boot_id(char out[40]); /* "" when unknown */

/* pidfd_open() of that very process; -1 when it is gone. */
int bk_proc_open(pid_t pid, uint64_t start);
int bk_proc_pidfd(pid_t pid);
int bk_proc_signal(int pidfd, int signal);
bool bk_proc_wait(int pidfd, int timeout_ms); /* true: it ended */

/* Does the command line contain this text? */
bool bk_proc_mentions(pid_t pid, const char *text);

/* What ps shows of this process from now on; a command line that it began with may hold a URL with
 * a password.  Nothing may point into argv any more. */
void bk_proc_set_title(const char *title);

/* Children and theirs; `roots` are counted in.  Returns how many there are. */
size_t bk_proc_tree(pid_t *out, size_t cap, const pid_t *roots, size_t root_count);

void bk_proc_usage(struct bk_service_usage *out, const pid_t *pids, size_t count);

#endif
