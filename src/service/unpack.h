/*
 * unpack.h - a pack's folder made again: files, folders, links, modes; holes stay holes.
 *
 * The one invariant: the destination is new; nothing that was there is written to or followed.
 */
#ifndef BK_SERVICE_UNPACK_H
#define BK_SERVICE_UNPACK_H

#include "service/pack.h"

#include <stdbool.h>

struct bk_unpack {
	uid_t uid; /* whose all of it will be; (uid_t)-1: whoever calls */
	gid_t gid;
	unsigned workers;        /* at once; 0: one */
	const char *const *late; /* folders right below the tree's own whose files are left to
				  * bk_unpack_late(): the folders alone are made; or NULL */
	bool (*stop)(void *ctx); /* asked now and then; true: give up (CANCELLED); or NULL */
	void *stop_ctx;
};

/* `to` must not exist; its parent must. */
bk_status bk_unpack_tree(const struct bk_unpack *how, const struct bk_pack *pack, const char *to,
			 struct bk_error *err);
/* What bk_unpack_tree() left out. */
bk_status bk_unpack_late(const struct bk_unpack *how, const struct bk_pack *pack, const char *to,
			 struct bk_error *err);

/* As many as there are processors for it, two at most: more only get in each other's way. */
unsigned bk_unpack_workers(void);

/* bk_fs_remove_tree() by two workers; others may be at work in it. */
bk_status bk_unpack_remove(const char *path, struct bk_error *err);

#endif
