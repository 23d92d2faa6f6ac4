/*
 * values.h - what the names in a service table's templates stand for: {host}, {run}, {password}.
 *
 * The one invariant: expansion never passes over a name that is unknown; it is an error that quotes
 * the template.
 */
#ifndef BK_SERVICE_VALUES_H
#define BK_SERVICE_VALUES_H

#include "util/buf.h"

#include <bakeoff/backend.h>

#include <jansson.h>
#include <stdbool.h>

struct bk_values { /* starts as all zero */
	struct bk_value {
		char *name;
		char *text;
	} * items;
	size_t count;
};

bool bk_values_set(struct bk_values *values, const char *name,
		   const char *text); /* false: memory */
const char *bk_values_get(const struct bk_values *values, const char *name);
void bk_values_free(struct bk_values *values);

json_t *bk_values_to_json(const struct bk_values *values); /* NULL: no memory */
bool bk_values_from_json(struct bk_values *values, const json_t *object);

#define BK_EXPAND_URL (1u << 0) /* what goes in is percent-encoded */

/* Appends to `out`. */
bk_status bk_expand(struct bk_buf *out, const char *text, const struct bk_values *values,
		    uint32_t flags, struct bk_error *err);
bk_status bk_expand_new(char **out, const char *text, const struct bk_values *values,
			uint32_t flags, struct bk_error *err);
/* A NULL-terminated array of expanded strings; bk_strings_free(). */
bk_status bk_expand_argv(char ***out, const char *const *argv, const struct bk_values *values,
			 struct bk_error *err);
void bk_strings_free(char **strings);

/* Does an entry with conditions `when` apply where `mask` (BK_WHEN_*) holds? */
bool bk_when(uint32_t when, uint32_t mask);
/* Of the entries with one key the last that applies counts: is this the one? */
bool bk_setting_counts(const struct bk_setting *table, size_t at, uint32_t mask);

#endif
