/*
 * options.c - option values as text, the way they go to a server or into state.json.
 */
#include "service/run.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

struct opt_lookup {
	const struct bk_options *options;
	const char *name;
	char *text;
	bool given; /* only a value that somebody set */
	const struct bk_option *entry;
};

/* bk_options_each() hides secrets; a string's value itself stands in the backend's struct. */
static char *opt_raw(const struct bk_options *options, const struct bk_option *entry,
		     const char *value)
{
	const char *raw = value;

	if (value && entry->type == BK_OPT_STR && (entry->flags & (BK_OPTF_SECRET | BK_OPTF_URL)))
		memcpy(&raw, (const char *)bk_options_data(options) + entry->offset, sizeof(raw));
	return raw ? strdup(raw) : NULL;
}

static void opt_look(void *ctx, const struct bk_option *entry, const char *value,
		     enum bk_option_source source)
{
	struct opt_lookup *look = ctx;

	if (strcmp(entry->name, look->name) != 0 || look->text ||
	    (look->given && source == BK_FROM_DEFAULT))
		return;
	look->text = opt_raw(look->options, entry, value);
	look->entry = entry;
}

char *bk_service_option_text(const struct bk_options *options, const char *name)
{
	struct opt_lookup look = {options, name, NULL, false, NULL};

	bk_options_each(options, opt_look, &look);
	return look.text;
}

char *bk_service_setting_text(const struct bk_options *options, const char *name)
{
	struct opt_lookup look = {options, name, NULL, true, NULL};
	uint64_t bytes;
	char *plain;

	bk_options_each(options, opt_look, &look);
	if (!look.text || look.entry->type != BK_OPT_BYTES)
		return look.text;
	/* 64KiB is our way to write it; a number of bytes everybody understands. */
	memcpy(&bytes, (const char *)bk_options_data(options) + look.entry->offset, sizeof(bytes));
	free(look.text);
	return asprintf(&plain, "%llu", (unsigned long long)bytes) < 0 ? NULL : plain;
}

struct opt_given {
	const struct bk_options *options;
	json_t *given;
};

static void opt_note_given(void *ctx, const struct bk_option *entry, const char *value,
			   enum bk_option_source source)
{
	struct opt_given *g = ctx;
	char *text;

	if (source != BK_FROM_USER && source != BK_FROM_ENV)
		return;
	text = opt_raw(g->options, entry, value);
	if (text)
		json_object_set_new(g->given, entry->name, json_string(text));
	free(text);
}

json_t *bk_service_given(const struct bk_options *options)
{
	struct opt_given given = {options, json_object()};

	if (given.given)
		bk_options_each(options, opt_note_given, &given);
	return given.given;
}
