/*
 * error.h - what went wrong, as status and text; names that are checked and shown.
 */
#ifndef LDB_ERROR_H
#define LDB_ERROR_H

#include <bakeoff/backend_util.h>

#define LDB_NAME_MAX 4096u /* id, path, relation: their lengths go into two bytes of a key */

/* `text` is LevelDB's, malloc()ed; it is freed.  `what`: "open", "write to", ... */
bk_status ldb_error(struct bk_error *err, char *text, const char *what, const char *folder);
/* errno, on a path: "cannot <what> <path>: ...". */
bk_status ldb_errno(struct bk_error *err, int errnum, const char *what, const char *path);
bk_status ldb_nomem(struct bk_error *err);
bk_status ldb_no_node(struct bk_error *err, struct bk_slice id);
/* INVALID when empty, TOO_LARGE over the limit.  `what`: "the id", ... */
bk_status ldb_bad_name(struct bk_error *err, struct bk_slice name, const char *what);
static inline bk_status ldb_check_name(struct bk_error *err, struct bk_slice name, const char *what)
{
	return name.len - 1 < LDB_NAME_MAX ? BK_OK : ldb_bad_name(err, name, what);
}
bk_status ldb_check_path(struct bk_error *err, struct bk_slice path);
/* An id or path for a message: printable, cut to fit. */
#define LDB_NAME_TEXT 96
const char *ldb_name(char text[LDB_NAME_TEXT], struct bk_slice name);

#endif
