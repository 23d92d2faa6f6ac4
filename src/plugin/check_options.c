/*
 * check_options.c - is a backend's option table sound?
 *
 * The one invariant: after this check, parsing any text into any entry stays inside the struct and
 * no two entries share a byte of it.
 */
#include "plugin/check.h"
#include "plugin/value.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

#define OPTIONS_MAX 256 /* a table without an end is found here */

static bool check_option_name(const char *name)
{
	return name[0] >= 'a' && name[0] <= 'z' && strlen(name) <= 40 &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static bk_status check_option_shape(const struct bk_option *o, const char *path,
				    struct bk_error *err)
{
	const uint32_t known = BK_OPTF_REQUIRED | BK_OPTF_SECRET | BK_OPTF_DURABILITY |
			       BK_OPTF_FOLDER | BK_OPTF_URL;

	if (!check_option_name(o->name))
		return bk_fail(
			err, BK_INVALID, 0,
			"%s: option '%.60s': expected a name of [a-z0-9-] that begins with a "
			"letter",
			path, o->name);
	if (bk_value_size(o->type) == 0)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': its type is %u, expected one of BK_OPT_*", path,
			       o->name, o->type);
	if (!o->help || !*o->help || strchr(o->help, '\n'))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': its help is %s, expected one line", path, o->name,
			       o->help && *o->help ? "several lines" : "missing");
	if (o->flags & ~known)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': flags 0x%x mean nothing, expected BK_OPTF_* only",
			       path, o->name, o->flags & ~known);
	if ((o->flags & (BK_OPTF_FOLDER | BK_OPTF_URL)) && o->type != BK_OPT_STR)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': a folder or URL is expected to be BK_OPT_STR, its "
			       "type is %u",
			       path, o->name, o->type);
	if (o->type == BK_OPT_ENUM && (!o->choices || !o->choices[0]))
		return bk_fail(
			err, BK_INVALID, 0,
			"%s: option '%s': BK_OPT_ENUM without choices, expected at least one", path,
			o->name);
	if (o->type != BK_OPT_ENUM && o->choices)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': it has choices, expected with BK_OPT_ENUM only",
			       path, o->name);
	if (o->min > o->max)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': its min %lld is above its max %lld", path, o->name,
			       (long long)o->min, (long long)o->max);
	if ((o->flags & BK_OPTF_REQUIRED) && o->def)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': it is required and has a default, expected one of "
			       "the two",
			       path, o->name);
	return BK_OK;
}

static bk_status check_option_place(const struct bk_option *o, size_t struct_size, const char *path,
				    struct bk_error *err)
{
	size_t size = bk_value_size(o->type);

	if (size > struct_size || o->offset > struct_size - size)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': bytes %u to %zu lie outside the option struct of "
			       "%zu bytes",
			       path, o->name, o->offset, o->offset + size, struct_size);
	if (o->offset % size != 0)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: option '%s': its offset %u is not aligned for its type of %zu "
			       "bytes",
			       path, o->name, o->offset, size);
	return BK_OK;
}

/* Against the entries before it: names, bytes, and flags of which there is one. */
static bk_status check_option_pairs(const struct bk_option *options, size_t at, const char *path,
				    struct bk_error *err)
{
	const struct bk_option *b = &options[at];
	const uint32_t once = BK_OPTF_FOLDER | BK_OPTF_URL;
	size_t i;

	for (i = 0; i < at; i++) {
		const struct bk_option *a = &options[i];

		if (strcmp(a->name, b->name) == 0)
			return bk_fail(err, BK_INVALID, 0,
				       "%s: option '%s': stands in the table twice", path, b->name);
		if (a->offset < b->offset + bk_value_size(b->type) &&
		    b->offset < a->offset + bk_value_size(a->type))
			return bk_fail(
				err, BK_INVALID, 0,
				"%s: option '%s': shares bytes of the struct with option '%s'",
				path, b->name, a->name);
		if (a->flags & b->flags & once)
			return bk_fail(err, BK_INVALID, 0,
				       "%s: option '%s': a second %s beside option '%s', expected "
				       "one",
				       path, b->name,
				       a->flags & b->flags & BK_OPTF_FOLDER ? "folder" : "URL",
				       a->name);
	}
	return BK_OK;
}

static bk_status check_option_default(const struct bk_option *o, void *scratch, const char *path,
				      struct bk_error *err)
{
	struct bk_error why = bk_error_init();

	if (!o->def || bk_value_put(scratch, o, o->def, &why) == BK_OK)
		return BK_OK;
	return bk_fail(err, BK_INVALID, 0, "%s: option '%s': its default does not parse: %s", path,
		       o->name, why.message);
}

bk_status bk_check_options(const struct bk_backend *desc, const char *path, struct bk_error *err)
{
	const struct bk_option *o = desc->options;
	bk_status st = BK_OK;
	void *scratch;
	size_t i;

	if (!o)
		return BK_OK;
	if (desc->options_size > 1u << 20)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: its options_size is %zu, expected at most 1 MiB", path,
			       desc->options_size);
	scratch = calloc(1, desc->options_size + sizeof(uint64_t));
	if (!scratch)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	for (i = 0; st == BK_OK && o[i].name; i++) {
		if (i == OPTIONS_MAX) {
			st = bk_fail(
				err, BK_INVALID, 0,
				"%s: its option table has no end within %d entries, expected an "
				"entry with name NULL",
				path, OPTIONS_MAX);
			break;
		}
		st = check_option_shape(&o[i], path, err);
		if (st == BK_OK)
			st = check_option_place(&o[i], desc->options_size, path, err);
		if (st == BK_OK)
			st = check_option_pairs(o, i, path, err);
		if (st == BK_OK)
			st = check_option_default(&o[i], scratch, path, err);
	}
	free(scratch);
	return st;
}
