/*
 * describe.c - what a store is, as JSON for the results file: backend, options in force, features,
 * what the store says of itself.  Secrets never get here: the options module hides them.
 */
#include "run/stores.h"

#include <bakeoff/backend_util.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void add_option(void *ctx, const struct bk_option *entry, const char *value,
		       enum bk_option_source source)
{
	json_t *const *lists = ctx; /* all options, and the names of those that somebody chose */

	json_object_set_new(lists[0], entry->name, value ? json_string(value) : json_null());
	if (source == BK_FROM_USER && value)
		json_array_append_new(lists[1], json_string(entry->name));
}

static json_t *feature_names(uint64_t mask)
{
	json_t *list = json_array();
	const struct bk_feature *f;

	for (f = bk_features; f->name; f++) {
		if (mask & f->bit)
			json_array_append_new(list, json_string(f->name));
	}
	return list;
}

/* Identity is flat: what stands in a list is left out. */
struct identity {
	json_t *object;
	int depth;
};

static void id_u64(void *ctx, const char *name, uint64_t value, const char *unit, uint32_t flags)
{
	struct identity *id = ctx;

	(void)unit;
	(void)flags;
	if (!id->depth)
		json_object_set_new(id->object, name, json_integer((json_int_t)value));
}

static void id_f64(void *ctx, const char *name, double value, const char *unit, uint32_t flags)
{
	struct identity *id = ctx;

	(void)unit;
	(void)flags;
	if (!id->depth)
		json_object_set_new(id->object, name, json_real(value));
}

static void id_str(void *ctx, const char *name, const char *value)
{
	struct identity *id = ctx;

	if (!id->depth)
		json_object_set_new(id->object, name, json_string(value));
}

static void id_begin(void *ctx, const char *kind, const char *name)
{
	struct identity *id = ctx;

	(void)kind;
	(void)name;
	id->depth++;
}

static void id_end(void *ctx)
{
	struct identity *id = ctx;

	id->depth--;
}

static void id_flag(void *ctx, const char *code, const char *text)
{
	struct identity *id = ctx;
	json_t *flags = json_object_get(id->object, "flags");

	if (!flags) {
		flags = json_object();
		json_object_set_new(id->object, "flags", flags);
	}
	json_object_set_new(flags, code, json_string(text));
}

static json_t *identity(const struct bk_layered *store)
{
	struct identity id = {.object = json_object()};
	struct bk_error err = bk_error_init();
	const struct bk_sink sink = {
		.struct_size = sizeof(sink),
		.ctx = &id,
		.put_u64 = id_u64,
		.put_f64 = id_f64,
		.put_str = id_str,
		.begin = id_begin,
		.end = id_end,
		.flag = id_flag,
	};

	if (store->tables.store.inspect(store->store, BK_INSPECT_IDENTITY, &sink, &err) < 0)
		json_object_set_new(id.object, "error", json_string(err.message));
	return id.object;
}

char *bk_store_describe(const struct bk_store_half *half, const struct bk_layered *store)
{
	json_t *root = json_object(), *options = json_object(), *chosen = json_array();
	json_t *lists[] = {options, chosen};
	char *text;

	bk_options_each(half->options, add_option, lists);
	json_object_set_new(root, "backend", json_string(half->plugin->desc.name));
	json_object_set_new(root, "version", json_string(half->plugin->desc.version));
	json_object_set_new(root, "options", options);
	json_object_set_new(root, "chosen", chosen);
	if (store) {
		json_object_set_new(root, "native", feature_names(store->native));
		json_object_set_new(root, "emulated", feature_names(store->emulated));
		json_object_set_new(root, "looped", feature_names(store->looped));
		json_object_set_new(root, "identity", identity(store));
	}
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}
