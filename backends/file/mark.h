/*
 * mark.h - the file `.bakeoff`, which tells whose a folder is.
 *
 * It stands in PATH/SPACE.  First line: the mark; second line: the name of the backend.  Lines of
 * this backend follow: "made N" (how many folders make() made down to PATH), "node-levels N",
 * "binary-levels N".  PATH itself bears none: it holds one folder a space.
 *
 * The one invariant: a space's folder is never there without its mark: it is made, and removed,
 * under the name PATH/.bakeoff-SPACE.half.
 */
#ifndef BK_FILE_MARK_H
#define BK_FILE_MARK_H

#include "io.h"

#define FILE_MARK      ".bakeoff"
#define FILE_MARK_KIND "file"

enum file_place {
	FILE_PLACE_ABSENT,
	FILE_PLACE_EMPTY, /* a folder with nothing in it that counts */
	FILE_PLACE_OURS,
	FILE_PLACE_FOREIGN,
};

struct file_mark {
	enum file_place place;
	bool unmarked;                             /* FOREIGN: a folder without a mark */
	unsigned made, node_levels, binary_levels; /* 0: not told */
	char why[320];                             /* FOREIGN: what it is instead */
};

/* What is at PATH/SPACE?  `mark` NULL: any mark will do. */
bk_status file_mark_read(struct file_mark *out, const char *folder, const char *mark,
			 struct bk_error *err);
/* What is at PATH?  OURS: a folder in it bears a mark of bakeoff.  `made` is what the mark of a
 * space of this backend tells. */
bk_status file_mark_root(struct file_mark *out, const char *root, struct bk_error *err);

/* Make PATH/SPACE, empty but for its mark; PATH is there. */
bk_status file_mark_make(const char *root, const char *space, const char *mark,
			 const struct file_mark *values, bool sync, struct bk_error *err);
/* Remove PATH/SPACE, which is empty but for its mark; and what a make or a removal cut short left.
 */
bk_status file_mark_remove(const char *root, const char *space, bool sync, struct bk_error *err);
bk_status file_mark_foreign(struct bk_error *err, const char *what, const char *folder,
			    const struct file_mark *mark);

#endif
