/*
 * value.h - one option's value: text to number and back, within its range and choices.
 *
 * The one invariant: bk_value_put() writes into the struct only what passed every check.
 */
#ifndef BK_PLUGIN_VALUE_H
#define BK_PLUGIN_VALUE_H

#include <bakeoff/backend.h>

#include <stdbool.h>
#include <stddef.h>

/* The size of a value in the backend's struct; 0 for a type that is not known. */
size_t bk_value_size(uint32_t type);
const char *bk_value_type_name(uint32_t type); /* "size", "duration", ... for help */

/* Parse `text` into the struct at entry->offset.  Strings are borrowed: the struct points at
 * `text`.  INVALID with what is wrong with the value, without the option's name; a secret is never
 * quoted. */
bk_status bk_value_put(void *data, const struct bk_option *entry, const char *text,
		       struct bk_error *err);

/* The value as a user would write it, the caller's to free; *out is NULL for an unset string.
 * Secrets come as "(secret)"; passwords inside URLs as "*". */
bk_status bk_value_get(char **out, const void *data, const struct bk_option *entry,
		       struct bk_error *err);

/* One bound, formatted in the option's unit. */
void bk_value_format_bound(char out[32], const struct bk_option *entry, int64_t bound);

#endif
