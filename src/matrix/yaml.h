/*
 * yaml.h - a YAML file as a tree in which every value knows its line and column.
 *
 * Only what a matrix needs: mappings, lists, scalars.  Anchors, aliases, tags, merges, several
 * documents, duplicate keys and unreasonable sizes are refused, each with its place.
 */
#ifndef BK_MATRIX_YAML_H
#define BK_MATRIX_YAML_H

#include <bakeoff/backend.h>

#include "util/arena.h"

#include <stdbool.h>

enum bk_yaml_type { BK_YAML_SCALAR, BK_YAML_LIST, BK_YAML_MAP };

struct bk_yaml {
	enum bk_yaml_type type;
	uint32_t line, column;     /* from 1 */
	const char *text;          /* SCALAR */
	bool quoted;               /* SCALAR: quotes rule out that it means null */
	const struct bk_yaml *key; /* in a MAP: the entry's key, a SCALAR */
	struct bk_yaml *first;     /* LIST and MAP */
	struct bk_yaml *next;      /* sibling */
	size_t count;
};

/* A file with its tree.  Free the arena with bk_arena_free(). */
struct bk_yaml_file {
	struct bk_arena arena;
	const char *path; /* as given: what errors begin with */
	char *text;       /* in the arena */
	struct bk_yaml *root;
};
bk_status bk_yaml_load(struct bk_yaml_file *out, const char *path, struct bk_error *err);

/* "path:line:column: ..." as an INVALID error; returns INVALID. */
bk_status bk_yaml_fail(struct bk_error *err, const struct bk_yaml_file *file,
		       const struct bk_yaml *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* "`what` 'x' is unknown; did you mean 'y'?" at its place. */
bk_status bk_yaml_unknown(struct bk_error *err, const struct bk_yaml_file *file,
			  const struct bk_yaml *at, const char *what, const char *const *known);

const struct bk_yaml *bk_yaml_get(const struct bk_yaml *map, const char *key); /* or NULL */
const char *bk_yaml_kind(const struct bk_yaml *value); /* "a list", "a mapping", "a value" */

#endif
