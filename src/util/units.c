/*
 * units.c - numbers with units, parsed exactly and formatted so that they parse back.
 */
#include "util/units.h"

#include "util/u128.h"

#include <bakeoff/backend_util.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct unit {
	const char *name; /* NULL ends a table */
	uint64_t scale;
};

struct unit_kind {
	const char *what;         /* for messages */
	const char *allowed;      /* for messages */
	const char *smallest;     /* for messages */
	const struct unit *units; /* largest first */
};

#define KI 1024ull

static const struct unit byte_units[] = {
	{"TiB", KI *KI *KI *KI},
	{"TB", 1000000000000ull},
	{"GiB", KI *KI *KI},
	{"GB", 1000000000ull},
	{"MiB", KI *KI},
	{"MB", 1000000ull},
	{"KiB", KI},
	{"kB", 1000ull},
	{"B", 1},
	{"", 1},
	{NULL, 0},
};
static const struct unit usec_units[] = {
	{"d", 86400000000ull},
	{"h", 3600000000ull},
	{"min", 60000000ull},
	{"s", 1000000ull},
	{"ms", 1000ull},
	{"us", 1},
	{NULL, 0},
};
static const struct unit nsec_units[] = {
	{"d", 86400000000000ull},
	{"h", 3600000000000ull},
	{"min", 60000000000ull},
	{"s", 1000000000ull},
	{"ms", 1000000ull},
	{"us", 1000ull},
	{"ns", 1},
	{NULL, 0},
};
static const struct unit count_units[] = {
	{"G", 1000000000ull}, {"M", 1000000ull}, {"k", 1000ull}, {"", 1}, {NULL, 0},
};

static const struct unit_kind bytes_kind = {
	"a size", "a number and B, kB, KiB, MB, MiB, GB, GiB, TB or TiB", "1 byte", byte_units};
static const struct unit_kind usec_kind = {"a duration", "a number and us, ms, s, min, h or d",
					   "1 us", usec_units};
static const struct unit_kind nsec_kind = {"a duration", "a number and ns, us, ms, s, min, h or d",
					   "1 ns", nsec_units};
static const struct unit_kind count_kind = {"a whole number, 0 or more", "digits, or 10k, 2M, 1G",
					    "1", count_units};

/* acc = acc * 10 + digit, or false when it does not fit. */
static bool unit_digit(uint64_t *acc, char c)
{
	return !__builtin_mul_overflow(*acc, 10u, acc) &&
	       !__builtin_add_overflow(*acc, (uint64_t)(c - '0'), acc);
}

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++) {
		if (strcasecmp(units->name, name) == 0)
			return units;
	}
	return NULL;
}

enum unit_fit { UNIT_FITS, UNIT_TOO_LARGE, UNIT_TOO_FINE };

/* (whole + frac / 10^digits) * scale.  With at most 18 digits nothing here can overflow. */
static enum unit_fit unit_scale(uint64_t *out, uint64_t whole, uint64_t frac, unsigned digits,
				uint64_t scale)
{
	bk_u128 total = (bk_u128)frac * scale, pow = 1;

	while (digits--)
		pow *= 10;
	if (total % pow != 0)
		return UNIT_TOO_FINE;
	total = total / pow + (bk_u128)whole * scale;
	if (total > UINT64_MAX)
		return UNIT_TOO_LARGE;
	*out = (uint64_t)total;
	return UNIT_FITS;
}

static bk_status unit_parse(uint64_t *out, const char *text, const struct unit_kind *kind,
			    struct bk_error *err)
{
	const struct unit *unit;
	uint64_t whole = 0, frac = 0;
	unsigned digits = 0;
	const char *p = text;

	if (!isdigit((unsigned char)*p))
		goto malformed;
	for (; isdigit((unsigned char)*p); p++) {
		if (!unit_digit(&whole, *p))
			goto too_large;
	}
	if (*p == '.') {
		p++;
		if (!isdigit((unsigned char)*p))
			goto malformed;
		for (; isdigit((unsigned char)*p); p++, digits++) {
			if (digits == 18 || !unit_digit(&frac, *p))
				goto too_fine;
		}
	}
	while (*p == ' ')
		p++;
	unit = unit_find(kind->units, p);
	if (!unit && *p == '\0' && whole == 0 && frac == 0)
		unit = kind->units; /* zero needs no unit */
	if (!unit)
		goto malformed;
	switch (unit_scale(out, whole, frac, digits, unit->scale)) {
	case UNIT_FITS:
		return BK_OK;
	case UNIT_TOO_LARGE:
		goto too_large;
	case UNIT_TOO_FINE:
		goto too_fine;
	}
malformed:
	return bk_fail(err, BK_INVALID, 0, "'%s' is not %s: write %s", text, kind->what,
		       kind->allowed);
too_large:
	return bk_fail(err, BK_INVALID, 0, "'%s' is too large for %s", text, kind->what);
too_fine:
	return bk_fail(err, BK_INVALID, 0, "'%s' is not a whole multiple of %s", text,
		       kind->smallest);
}

bk_status bk_units_parse_bytes(uint64_t *out, const char *text, struct bk_error *err)
{
	return unit_parse(out, text, &bytes_kind, err);
}

bk_status bk_units_parse_usec(uint64_t *out, const char *text, struct bk_error *err)
{
	return unit_parse(out, text, &usec_kind, err);
}

bk_status bk_units_parse_nsec(uint64_t *out, const char *text, struct bk_error *err)
{
	return unit_parse(out, text, &nsec_kind, err);
}

bk_status bk_units_parse_count(uint64_t *out, const char *text, struct bk_error *err)
{
	return unit_parse(out, text, &count_kind, err);
}

bk_status bk_units_parse_i64(int64_t *out, const char *text, struct bk_error *err)
{
	bool negative = *text == '-';
	uint64_t magnitude;
	bk_status st = unit_parse(&magnitude, text + (negative ? 1 : 0), &count_kind, err);

	if (st != BK_OK)
		return bk_fail(err, BK_INVALID, 0, "'%s' is not a whole number", text);
	if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
		return bk_fail(err, BK_INVALID, 0, "'%s' is too large for a whole number", text);
	*out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return BK_OK;
}

bk_status bk_units_parse_f64(double *out, const char *text, struct bk_error *err)
{
	char *end;
	double value;

	/* strtod takes hex, inf, nan and leading blanks; people who write options do not */
	if (text[strspn(text, "+-.0123456789eE")] != '\0' || *text == '\0')
		goto malformed;
	errno = 0;
	value = strtod(text, &end);
	if (*end != '\0' || end == text || !isfinite(value))
		goto malformed;
	*out = value;
	return BK_OK;
malformed:
	return bk_fail(err, BK_INVALID, 0, "'%s' is not a number", text);
}

static char *unit_format(char *out, uint64_t value, const struct unit *units)
{
	const struct unit *u = units;

	while (value % u->scale != 0)
		u++;
	while (value == 0 && u->scale != 1)
		u++;
	snprintf(out, BK_UNITS_MAX, "%llu%s", (unsigned long long)(value / u->scale), u->name);
	return out;
}

char *bk_units_format_bytes(char out[BK_UNITS_MAX], uint64_t bytes)
{
	return unit_format(out, bytes, byte_units);
}

char *bk_units_format_usec(char out[BK_UNITS_MAX], uint64_t usec)
{
	return unit_format(out, usec, usec_units);
}

static char *unit_human(char *out, double value, const struct unit *units, size_t stride)
{
	const struct unit *u;
	int digits;

	for (u = units; u->scale != 1; u += stride) {
		if (value >= (double)u->scale)
			break;
	}
	value /= (double)u->scale;
	digits = u->scale == 1 && value == floor(value) ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
	snprintf(out, BK_UNITS_MAX, "%.*f %s", digits, value, u->name);
	return out;
}

char *bk_units_human_bytes(char out[BK_UNITS_MAX], double bytes)
{
	return unit_human(out, bytes, byte_units, 2); /* the binary ones */
}

char *bk_units_human_nsec(char out[BK_UNITS_MAX], double nsec)
{
	return unit_human(out, nsec, nsec_units, 1);
}
