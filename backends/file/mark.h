/*
 * mark.h - the file `.bakeoff`, which tells whose a folder is.
 *
 * First line: the mark; second line: the name of the backend.  Lines of this backend follow:
 * "made N" (how many folders make() made to get there), "node-levels N", "binary-levels N".
 *
 * The one invariant: no folder without it is ever written to or emptied, unless it is empty.
 */
#ifndef BK_FILE_MARK_H
#define BK_FILE_MARK_H

#include "io.h"

#define FILE_MARK      ".bakeoff"
#define FILE_MARK_NEW  ".bakeoff.new"
#define FILE_MARK_KIND "file"

enum file_place {
	FILE_PLACE_ABSENT,
	FILE_PLACE_EMPTY, /* a folder with nothing in it, or what a make() cut short left */
	FILE_PLACE_OURS,
	FILE_PLACE_FOREIGN,
};

struct file_mark {
	enum file_place place;
	unsigned made, node_levels, binary_levels; /* 0: not told */
	char why[320];                             /* FOREIGN: what it is instead */
};

/* What is at `folder`?  `mark` NULL: any mark will do. */
bk_status file_mark_read(struct file_mark *out, const char *folder, const char *mark,
			 struct bk_error *err);
/* Write it, whole or not at all; on disk when `sync`. */
bk_status file_mark_write(const char *folder, const char *mark, const struct file_mark *values,
			  bool sync, struct bk_error *err);
bk_status file_mark_foreign(struct bk_error *err, const char *what, const char *folder,
			    const struct file_mark *mark);

#endif
