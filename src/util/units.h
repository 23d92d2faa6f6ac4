/*
 * units.h - numbers as people write them: 64KiB, 1.5GB, 250ms, 10min, 10k.
 *
 * The one invariant: what is parsed is exact.  A value that is not a whole number of the smallest
 * unit, or that does not fit 64 bits, is refused and never rounded; format writes text that parses
 * back to the same number.
 */
#ifndef BK_UTIL_UNITS_H
#define BK_UTIL_UNITS_H

#include <bakeoff/backend.h>

#define BK_UNITS_MAX 32 /* room for any formatted value */

/* Each answers INVALID with a message that quotes the text and says what may be written. */
bk_status bk_units_parse_bytes(uint64_t *out, const char *text, struct bk_error *err);
bk_status bk_units_parse_usec(uint64_t *out, const char *text, struct bk_error *err);
bk_status bk_units_parse_nsec(uint64_t *out, const char *text, struct bk_error *err);
bk_status bk_units_parse_count(uint64_t *out, const char *text, struct bk_error *err);
bk_status bk_units_parse_i64(int64_t *out, const char *text, struct bk_error *err);
bk_status bk_units_parse_f64(double *out, const char *text, struct bk_error *err);

/* Exact: the largest unit of which it is a whole number.  Returns `out`. */
char *bk_units_format_bytes(char out[BK_UNITS_MAX], uint64_t bytes);
char *bk_units_format_usec(char out[BK_UNITS_MAX], uint64_t usec);

/* For people: three significant digits and a unit, "1.50 GiB", "38.2 ms". */
char *bk_units_human_bytes(char out[BK_UNITS_MAX], double bytes);
char *bk_units_human_nsec(char out[BK_UNITS_MAX], double nsec);

#endif
