/*
 * value.c - option values by type.
 */
#include "plugin/value.h"

#include "util/redact.h"
#include "util/suggest.h"
#include "util/units.h"

#include <bakeoff/backend_util.h>

#include <math.h>
#include <stdlib.h>
#include <strings.h>

struct value {
	union {
		uint8_t flag;
		int64_t i64;
		uint64_t u64;
		double f64;
		const char *str;
		uint32_t choice;
	} as;
};

size_t bk_value_size(uint32_t type)
{
	switch (type) {
	case BK_OPT_BOOL:
		return sizeof(uint8_t);
	case BK_OPT_I64:
	case BK_OPT_U64:
	case BK_OPT_BYTES:
	case BK_OPT_USEC:
		return sizeof(uint64_t);
	case BK_OPT_F64:
		return sizeof(double);
	case BK_OPT_STR:
		return sizeof(const char *);
	case BK_OPT_ENUM:
		return sizeof(uint32_t);
	default:
		return 0;
	}
}

const char *bk_value_type_name(uint32_t type)
{
	static const char *const names[] = {"?",     "yes or no", "whole number", "whole number",
					    "size",  "duration",  "number",       "text",
					    "choice"};

	return type < sizeof(names) / sizeof(*names) ? names[type] : names[0];
}

static bk_status value_bool(uint8_t *out, const char *text, struct bk_error *err)
{
	static const char *const yes[] = {"yes", "true", "on", "1", NULL};
	static const char *const no[] = {"no", "false", "off", "0", NULL};
	size_t i;

	for (i = 0; yes[i]; i++) {
		if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
			*out = strcasecmp(text, yes[i]) == 0;
			return BK_OK;
		}
	}
	return bk_fail(err, BK_INVALID, 0, "'%s' is neither yes nor no", text);
}

static bk_status value_enum(uint32_t *out, const struct bk_option *entry, const char *text,
			    struct bk_error *err)
{
	char list[300] = "";
	const char *near;
	size_t len = 0;
	uint32_t i;

	for (i = 0; entry->choices[i]; i++) {
		if (strcmp(entry->choices[i], text) == 0) {
			*out = i;
			return BK_OK;
		}
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
						i ? ", " : "", entry->choices[i]);
	}
	near = bk_suggest_in(text, entry->choices);
	if (near)
		return bk_fail(err, BK_INVALID, 0, "'%s' is not one of %s; did you mean '%s'?",
			       text, list, near);
	return bk_fail(err, BK_INVALID, 0, "'%s' is not one of %s", text, list);
}

static bk_status value_parse(struct value *out, const struct bk_option *entry, const char *text,
			     struct bk_error *err)
{
	switch (entry->type) {
	case BK_OPT_BOOL:
		return value_bool(&out->as.flag, text, err);
	case BK_OPT_I64:
		return bk_units_parse_i64(&out->as.i64, text, err);
	case BK_OPT_U64:
		return bk_units_parse_count(&out->as.u64, text, err);
	case BK_OPT_BYTES:
		return bk_units_parse_bytes(&out->as.u64, text, err);
	case BK_OPT_USEC:
		return bk_units_parse_usec(&out->as.u64, text, err);
	case BK_OPT_F64:
		return bk_units_parse_f64(&out->as.f64, text, err);
	case BK_OPT_STR:
		out->as.str = text;
		return BK_OK;
	case BK_OPT_ENUM:
		return value_enum(&out->as.choice, entry, text, err);
	default:
		return bk_fail(err, BK_INTERNAL, 0, "option type %u is not known", entry->type);
	}
}

static bool value_in_range(const struct value *value, const struct bk_option *entry)
{
	if (entry->min == 0 && entry->max == 0)
		return true;
	switch (entry->type) {
	case BK_OPT_I64:
		return value->as.i64 >= entry->min && value->as.i64 <= entry->max;
	case BK_OPT_U64:
	case BK_OPT_BYTES:
	case BK_OPT_USEC:
		return (entry->min <= 0 || value->as.u64 >= (uint64_t)entry->min) &&
		       (entry->max == INT64_MAX || /* no upper bound, beyond it too */
			(entry->max >= 0 && value->as.u64 <= (uint64_t)entry->max));
	case BK_OPT_F64:
		return value->as.f64 >= (double)entry->min && value->as.f64 <= (double)entry->max;
	default:
		return true;
	}
}

static bk_status value_out_of_range(const struct bk_option *entry, const char *text,
				    struct bk_error *err)
{
	char min[32], max[32];

	bk_value_format_bound(min, entry, entry->min);
	bk_value_format_bound(max, entry, entry->max);
	if (entry->max == INT64_MAX)
		return bk_fail(err, BK_INVALID, 0, "'%s' is less than %s", text, min);
	return bk_fail(err, BK_INVALID, 0, "'%s' is not within %s to %s", text, min, max);
}

bk_status bk_value_put(void *data, const struct bk_option *entry, const char *text,
		       struct bk_error *err)
{
	struct value value;
	bk_status st = value_parse(&value, entry, text, err);

	if (st == BK_OK && !value_in_range(&value, entry))
		st = value_out_of_range(entry, text, err);
	if (st != BK_OK && (entry->flags & BK_OPTF_SECRET))
		return bk_fail(err, st, 0, "the value (not shown: secret) is not a valid %s",
			       bk_value_type_name(entry->type));
	if (st != BK_OK)
		return st;
	memcpy((char *)data + entry->offset, &value.as, bk_value_size(entry->type));
	return BK_OK;
}

static void value_format_f64(char out[BK_UNITS_MAX], double value)
{
	int digits;

	for (digits = 6; digits <= 17; digits++) { /* the shortest that reads back */
		snprintf(out, BK_UNITS_MAX, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			return;
	}
}

bk_status bk_value_get(char **out, const void *data, const struct bk_option *entry,
		       struct bk_error *err)
{
	char text[BK_UNITS_MAX] = "";
	const char *shown = text;
	struct value value;

	memcpy(&value.as, (const char *)data + entry->offset, bk_value_size(entry->type));
	switch (entry->type) {
	case BK_OPT_BOOL:
		shown = value.as.flag ? "yes" : "no";
		break;
	case BK_OPT_I64:
		snprintf(text, sizeof(text), "%lld", (long long)value.as.i64);
		break;
	case BK_OPT_U64:
		snprintf(text, sizeof(text), "%llu", (unsigned long long)value.as.u64);
		break;
	case BK_OPT_BYTES:
		bk_units_format_bytes(text, value.as.u64);
		break;
	case BK_OPT_USEC:
		bk_units_format_usec(text, value.as.u64);
		break;
	case BK_OPT_F64:
		value_format_f64(text, value.as.f64);
		break;
	case BK_OPT_STR:
		shown = value.as.str;
		break;
	case BK_OPT_ENUM:
		shown = entry->choices[value.as.choice];
		break;
	default:
		break;
	}
	if (!shown) {
		*out = NULL;
		return BK_OK;
	}
	if (entry->flags & BK_OPTF_SECRET)
		shown = "(secret)";
	*out = entry->type == BK_OPT_STR ? bk_redact(shown) : strdup(shown);
	return *out ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory");
}

void bk_value_format_bound(char out[32], const struct bk_option *entry, int64_t bound)
{
	if (entry->type == BK_OPT_BYTES && bound >= 0)
		bk_units_format_bytes(out, (uint64_t)bound);
	else if (entry->type == BK_OPT_USEC && bound >= 0)
		bk_units_format_usec(out, (uint64_t)bound);
	else
		snprintf(out, 32, "%lld", (long long)bound);
}
