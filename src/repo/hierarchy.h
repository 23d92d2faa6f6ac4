/*
 * hierarchy.h - where a resource that is created without a name of its choice lands: directly
 * under its parent (flat), or some levels down, named by the first digits of its own name
 * (pairtree), so that no folder grows too wide.
 */
#ifndef BK_REPO_HIERARCHY_H
#define BK_REPO_HIERARCHY_H

#include <bakeoff/backend.h>

#include "util/buf.h"

#include <stdbool.h>

#define BK_NAME_LEN 36 /* a UUID as text */

struct bk_hierarchy {
	uint32_t levels; /* 0: flat */
	uint32_t digits; /* hex digits a level */
};

/* "flat", "pairtree" (4x2) or "pairtree LEVELSxDIGITS", at most 32 digits in all. */
bk_status bk_hierarchy_parse(struct bk_hierarchy *out, const char *text, struct bk_error *err);

/* The name of the i-th resource of a kind: a UUID in text, the same for the same (seed, kind, i).
 */
void bk_name_make(char out[BK_NAME_LEN + 1], uint64_t seed, const char *kind, uint64_t i);

/* PARENT/aa/bb/cc/dd/NAME into buf (after what is in it, which is `parent`); ends[l] is the length
 * of the path down to level l, so ends[0] .. ends[levels - 1] are the pairtree levels. */
void bk_hierarchy_path(struct bk_buf *buf, const struct bk_hierarchy *h, const char *name,
		       size_t ends[32]);

#endif
