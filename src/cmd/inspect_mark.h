/*
 * inspect_mark.h - whose folder is this?  The mark file in it, or in the one store within it.
 */
#ifndef BK_CMD_INSPECT_MARK_H
#define BK_CMD_INSPECT_MARK_H

#include <bakeoff/backend.h>

struct bk_inspect_mark {
	char *mark;
	char *backend;
	char *space; /* the folder inside that bears it; NULL: the folder itself */
};

/* NOT_FOUND: no mark; INVALID: several stores inside; CORRUPT: a mark file that is none. */
bk_status bk_inspect_mark_find(struct bk_inspect_mark *out, const char *folder,
			       struct bk_error *err);
void bk_inspect_mark_free(struct bk_inspect_mark *mark);

#endif
