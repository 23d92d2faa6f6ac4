/*
 * options.c - a backend's option values.
 *
 * The one invariant: the struct's strings point into `texts` (or at the backend's own initial
 * values), so a copy owns its own.
 */
#include "plugin/options.h"

#include "plugin/value.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

struct bk_options {
	const struct bk_backend *desc;
	size_t count;                  /* entries of desc->options */
	void *data;                    /* the backend's struct */
	char **texts;                  /* what each string entry points at; NULL: not ours */
	enum bk_option_source *source; /* of each entry */
};

static const struct bk_option *options_entry(const struct bk_options *options, const char *name)
{
	size_t i;

	for (i = 0; i < options->count; i++) {
		if (strcmp(options->desc->options[i].name, name) == 0)
			return &options->desc->options[i];
	}
	return NULL;
}

static bk_status options_unknown(const struct bk_options *options, const char *name,
				 struct bk_error *err)
{
	struct bk_suggest suggest;
	size_t i;

	if (options->count == 0)
		return bk_fail(err, BK_INVALID, 0,
			       "option '%.60s' is unknown: backend '%s' has no options", name,
			       options->desc->name);
	bk_suggest_init(&suggest, name);
	for (i = 0; i < options->count; i++)
		bk_suggest_offer(&suggest, options->desc->options[i].name);
	if (suggest.best)
		return bk_fail(err, BK_INVALID, 0,
			       "option '%.60s' of backend '%s' is unknown; did you mean '%s'?",
			       name, options->desc->name, suggest.best);
	return bk_fail(
		err, BK_INVALID, 0,
		"option '%.60s' of backend '%s' is unknown; `bakeoff backends %s` lists them", name,
		options->desc->name, options->desc->name);
}

/* The value into the struct; a string gets memory of its own first. */
static bk_status options_put(struct bk_options *options, const struct bk_option *entry,
			     const char *value, enum bk_option_source source, struct bk_error *err)
{
	size_t i = (size_t)(entry - options->desc->options);
	char *text = NULL;
	bk_status st;

	if (entry->type == BK_OPT_STR) {
		text = strdup(value);
		if (!text)
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
		value = text;
	}
	st = bk_value_put(options->data, entry, value, err);
	if (st != BK_OK) {
		free(text);
		return st;
	}
	free(options->texts[i]);
	options->texts[i] = text;
	options->source[i] = source;
	return BK_OK;
}

static bk_status options_alloc(struct bk_options **out, const struct bk_backend *desc,
			       struct bk_error *err)
{
	struct bk_options *options = calloc(1, sizeof(*options));
	size_t n = 0;

	if (!options)
		goto nomem;
	while (desc->options && desc->options[n].name)
		n++;
	options->desc = desc;
	options->count = n;
	options->data = calloc(1, desc->options_size + 1); /* never of size 0 */
	options->texts = calloc(n + 1, sizeof(*options->texts));
	options->source = calloc(n + 1, sizeof(*options->source));
	if (!options->data || !options->texts || !options->source)
		goto nomem;
	*out = options;
	return BK_OK;
nomem:
	bk_options_free(options);
	return bk_fail(err, BK_NOMEM, 0, "out of memory");
}

static bk_status options_start(struct bk_options *options, const struct bk_option *entry,
			       struct bk_error *err)
{
	const char *value = entry->env ? bk_options_environment(entry->env) : NULL;
	struct bk_error why = bk_error_init();
	bk_status st;

	if (entry->def) {
		st = options_put(options, entry, entry->def, BK_FROM_DEFAULT, err);
		if (st != BK_OK)
			return st;
	}
	if (!value || !*value)
		return BK_OK;
	st = options_put(options, entry, value, BK_FROM_ENV, &why);
	if (st == BK_OK)
		return BK_OK;
	return bk_fail(err, st, 0, "option '%s' of backend '%s', from variable %s: %s", entry->name,
		       options->desc->name, entry->env, why.message);
}

bk_status bk_options_new(struct bk_options **out, const struct bk_backend *desc,
			 struct bk_error *err)
{
	struct bk_options *options = NULL;
	bk_status st = options_alloc(&options, desc, err);
	size_t i;

	if (st != BK_OK)
		return st;
	if (desc->options_init && desc->options_size)
		memcpy(options->data, desc->options_init, desc->options_size);
	for (i = 0; st == BK_OK && i < options->count; i++)
		st = options_start(options, &desc->options[i], err);
	if (st != BK_OK) {
		bk_options_free(options);
		return st;
	}
	*out = options;
	return BK_OK;
}

void bk_options_free(struct bk_options *options)
{
	size_t i;

	if (!options)
		return;
	for (i = 0; options->texts && i < options->count; i++)
		free(options->texts[i]);
	free(options->texts);
	free(options->source);
	free(options->data);
	free(options);
}

bk_status bk_options_copy(struct bk_options **out, const struct bk_options *from,
			  struct bk_error *err)
{
	struct bk_options *options = NULL;
	bk_status st = options_alloc(&options, from->desc, err);
	size_t i;

	if (st != BK_OK)
		return st;
	memcpy(options->data, from->data, from->desc->options_size);
	for (i = 0; st == BK_OK && i < options->count; i++) {
		if (from->texts[i])
			st = options_put(options, &from->desc->options[i], from->texts[i],
					 from->source[i], err);
		options->source[i] = from->source[i];
	}
	if (st != BK_OK) {
		bk_options_free(options);
		return st;
	}
	*out = options;
	return BK_OK;
}

/* Back to how it began, without the environment. */
static bk_status options_restart(struct bk_options *options, size_t i, struct bk_error *err)
{
	const struct bk_option *entry = &options->desc->options[i];
	const char *init = options->desc->options_init;
	char *field = (char *)options->data + entry->offset;
	size_t size = bk_value_size(entry->type);

	if (entry->def)
		return options_put(options, entry, entry->def, BK_FROM_DEFAULT, err);
	if (init)
		memcpy(field, init + entry->offset, size);
	else
		memset(field, 0, size);
	free(options->texts[i]);
	options->texts[i] = NULL;
	options->source[i] = BK_FROM_DEFAULT;
	return BK_OK;
}

bk_status bk_options_drop_environment(struct bk_options *options, struct bk_error *err)
{
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; st == BK_OK && i < options->count; i++) {
		if (options->source[i] == BK_FROM_ENV)
			st = options_restart(options, i, err);
	}
	return st;
}

/* scheme://user:password@... */
static bool options_url_has_password(const char *url)
{
	const char *p = strstr(url, "://"), *at, *colon;

	if (!p)
		return false;
	p += 3;
	at = memchr(p, '@', strcspn(p, "/?"));
	colon = at ? memchr(p, ':', (size_t)(at - p)) : NULL;
	return colon != NULL;
}

/* A URL given by hand says where and who: variables about another server would mix with it. */
static bk_status options_yield_to_url(struct bk_options *options, const char *url,
				      struct bk_error *err)
{
	static const char *const parts[] = {"host",     "port",     "socket", "user",
					    "database", "password", NULL};
	bk_status st = BK_OK;
	size_t i, k;

	for (i = 0; st == BK_OK && i < options->count; i++) {
		const char *name = options->desc->options[i].name;

		if (options->source[i] != BK_FROM_ENV)
			continue;
		for (k = 0; parts[k] && strcmp(parts[k], name) != 0; k++)
			;
		if (parts[k] && (strcmp(name, "password") != 0 || options_url_has_password(url)))
			st = options_restart(options, i, err);
	}
	return st;
}

bk_status bk_options_set(struct bk_options *options, const char *name, const char *value,
			 enum bk_option_source source, struct bk_error *err)
{
	const struct bk_option *entry = options_entry(options, name);
	struct bk_error why = bk_error_init();
	bk_status st;

	if (!entry)
		return options_unknown(options, name, err);
	if ((entry->flags & BK_OPTF_URL) && source != BK_FROM_ENV) {
		st = options_yield_to_url(options, value, err);
		if (st != BK_OK)
			return st;
	}
	st = options_put(options, entry, value, source, &why);
	if (st == BK_OK)
		return BK_OK;
	return bk_fail(err, st, 0, "option '%s' of backend '%s': %s", name, options->desc->name,
		       why.message);
}

bk_status bk_options_set_pair(struct bk_options *options, const char *pair,
			      enum bk_option_source source, struct bk_error *err)
{
	const char *equals = strchr(pair, '=');
	char *name;
	bk_status st;

	/* a text without '=' may be a secret put in the wrong place: it is not quoted */
	if (!equals || equals == pair)
		return bk_fail(
			err, BK_INVALID, 0,
			"an option of backend '%s' is written name=value; there is no %s here",
			options->desc->name, equals ? "name" : "'='");
	name = strndup(pair, (size_t)(equals - pair));
	if (!name)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	st = bk_options_set(options, name, equals + 1, source, err);
	free(name);
	return st;
}

static bool options_has_value(const struct bk_options *options, size_t i)
{
	const struct bk_option *entry = &options->desc->options[i];
	const char *text;

	if (entry->type != BK_OPT_STR)
		return options->source[i] != BK_FROM_DEFAULT;
	memcpy(&text, (const char *)options->data + entry->offset, sizeof(text));
	return text && *text;
}

bk_status bk_options_check(const struct bk_options *options, struct bk_error *err)
{
	size_t i;

	for (i = 0; i < options->count; i++) {
		const struct bk_option *entry = &options->desc->options[i];

		if (!(entry->flags & BK_OPTF_REQUIRED) || options_has_value(options, i))
			continue;
		return bk_fail(err, BK_INVALID, 0,
			       "option '%s' of backend '%s' is required (%s); set %s=...%s%s",
			       entry->name, options->desc->name, entry->help, entry->name,
			       entry->env ? " or the variable " : "", entry->env ? entry->env : "");
	}
	return BK_OK;
}

const void *bk_options_data(const struct bk_options *options)
{
	return options->data;
}

const struct bk_option *bk_options_flagged(const struct bk_options *options, uint32_t flag)
{
	size_t i;

	for (i = 0; i < options->count; i++) {
		if (options->desc->options[i].flags & flag)
			return &options->desc->options[i];
	}
	return NULL;
}

bool bk_options_is_set(const struct bk_options *options, const char *name)
{
	const struct bk_option *entry = options_entry(options, name);
	enum bk_option_source source;

	if (!entry)
		return false;
	source = options->source[entry - options->desc->options];
	return source == BK_FROM_ENV || source == BK_FROM_USER;
}

void bk_options_each(const struct bk_options *options,
		     void (*fn)(void *ctx, const struct bk_option *entry, const char *value,
				enum bk_option_source source),
		     void *ctx)
{
	struct bk_error err = bk_error_init();
	size_t i;

	for (i = 0; i < options->count; i++) {
		const struct bk_option *entry = &options->desc->options[i];
		char *value = NULL;

		if (bk_value_get(&value, options->data, entry, &err) != BK_OK)
			continue; /* out of memory */
		fn(ctx, entry, value, options->source[i]);
		free(value);
	}
}
