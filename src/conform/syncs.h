/*
 * syncs.h - how often this process asked the kernel to make something durable.
 *
 * The one invariant: what is counted has been asked for before the call that asked has returned, so
 * a count taken after a commit includes the commit's own.
 */
#ifndef BK_CONFORM_SYNCS_H
#define BK_CONFORM_SYNCS_H

#include "conform/test.h"

/* Counts from here on, in this thread and those that it starts: fsync, fdatasync, syncfs, sync,
 * msync with MS_SYNC, and writes to descriptors with O_SYNC or O_DSYNC.  Skips the case where the
 * kernel does not allow it.  There is no way back: for the rest of the process. */
struct bk_syncs;
struct bk_syncs *bk_syncs_start(struct bk_test *t);
uint64_t bk_syncs_count(const struct bk_syncs *syncs);

#endif
