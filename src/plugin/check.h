/*
 * check.h - is a descriptor what this bakeoff can drive?
 *
 * The one invariant: nothing beyond a struct's own struct_size is read.  Each answers INVALID with
 * a message of its own: `path`, what was found, what was expected.
 */
#ifndef BK_PLUGIN_CHECK_H
#define BK_PLUGIN_CHECK_H

#include "plugin/plugin.h"

/* Magic, version, size, threads: the part that every version has.  *desc is a copy, zero beyond
 * what the backend's struct_size covers. */
bk_status bk_check_head(struct bk_backend *desc, const struct bk_backend *raw, const char *path,
			struct bk_error *err);
/* Name (and the file's), version, summary, features. */
bk_status bk_check_identity(const struct bk_backend *desc, const char *path, struct bk_error *err);
/* Copies the tables into zeroed memory and checks required operations, and features against
 * operations. */
bk_status bk_check_tables(struct bk_tables *tables, const struct bk_backend *desc, const char *path,
			  struct bk_error *err);
bk_status bk_check_options(const struct bk_backend *desc, const char *path, struct bk_error *err);
bk_status bk_check_service(const struct bk_backend *desc, const char *path, struct bk_error *err);

/* [a-z0-9][a-z0-9-]*, at most 40 bytes. */
bool bk_backend_name_is_valid(const char *name);

#endif
