/*
 * copy.h - a folder's copy: files, folders, links, modes; holes stay holes.
 *
 * The one invariant: the destination is new; nothing that was there is written to or followed.
 */
#ifndef BK_SERVICE_COPY_H
#define BK_SERVICE_COPY_H

#include <bakeoff/backend.h>

#include <stdbool.h>
#include <sys/types.h>

#define BK_COPY_HOLES (1u << 0) /* leave out blocks of zeros: later copies then skip them */

struct bk_copy {
	uid_t uid; /* the owner of the copy; (uid_t)-1: whoever copies */
	gid_t gid;
	uint32_t flags;          /* BK_COPY_* */
	unsigned workers;        /* at once; 0: one */
	bool (*stop)(void *ctx); /* asked now and then; true: give up (CANCELLED); or NULL */
	void *stop_ctx;
	uint64_t files, bytes; /* copied: out */
};

/* `to` must not exist; its parent must. */
bk_status bk_copy_tree(struct bk_copy *copy, const char *from, const char *to,
		       struct bk_error *err);

/* As many as there are processors for it, two at most: more only get in each other's way. */
unsigned bk_copy_workers(void);

/* bk_fs_remove_tree() by two workers.  Nobody else may be at work in it. */
bk_status bk_copy_remove(const char *path, struct bk_error *err);

#endif
