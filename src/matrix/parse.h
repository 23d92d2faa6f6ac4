/*
 * parse.h - the parts of matrix parsing, for each other.  Private to matrix/.
 */
#ifndef BK_MATRIX_PARSE_H
#define BK_MATRIX_PARSE_H

#include "matrix/matrix.h"

#define BK_VARIANTS_MAX 64u

/* keys.c: each key of the file into `m`, which holds the defaults. */
bk_status bk_matrix_keys(struct bk_matrix *m, struct bk_error *err);

/* override.c: before the cells are made, and after: --variants takes away those of the rest. */
bk_status bk_matrix_override(struct bk_matrix *m, const struct bk_matrix_overrides *o,
			     struct bk_error *err);
bk_status bk_matrix_keep_variants(struct bk_matrix *m, const char *list, struct bk_error *err);

/* variants.c */
bk_status bk_matrix_standard(struct bk_yaml_file *out, struct bk_arena *arena,
			     struct bk_error *err);
bk_status bk_variant_parse(struct bk_variant *out, struct bk_arena *arena,
			   const struct bk_yaml_file *file, const struct bk_yaml *map,
			   struct bk_error *err);
bk_status bk_variant_named(struct bk_variant *out, const struct bk_yaml_file *standard,
			   struct bk_arena *arena, const char *name, struct bk_error *err);

/* glob.c: * and ? in `pattern`; the whole text must match. */
bool bk_matrix_glob(const char *pattern, const char *text);

/* expand.c: `scenarios` into cases, then cells. */
bk_status bk_matrix_cases(struct bk_matrix *m, const struct bk_yaml *scenarios,
			  struct bk_error *err);
bk_status bk_matrix_cells(struct bk_matrix *m, const struct bk_yaml *exclude, const char *only,
			  struct bk_error *err);

#endif
