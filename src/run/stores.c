/*
 * stores.c - from a variant's words to open stores.
 */
#include "run/stores.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Plugins and options ------------------------------------------------------------ */

static bk_status at_place(struct bk_error *err, const struct bk_yaml_file *file,
			  const struct bk_yaml *at, const struct bk_error *why)
{
	if (file && at)
		bk_yaml_fail(err, file, at, "%s", why->message);
	else
		bk_fail(err, BK_INVALID, 0, "%s", why->message);
	return BK_INVALID;
}

/* --set without a name goes to every store; one that lacks the option does not mind. */
static bool has_option(const struct bk_plugin *plugin, const char *name)
{
	const struct bk_option *o = plugin->desc.options;

	while (o && o->name && strcmp(o->name, name) != 0)
		o++;
	return o && o->name;
}

static bk_status init_half(struct bk_store_half *out, const struct bk_half *half,
			   struct bk_error *err)
{
	struct bk_error why = bk_error_init();
	size_t i;

	if (bk_plugin_find(&out->plugin, half->backend, &why) < 0)
		return at_place(err, half->file, half->at, &why);
	if (bk_options_new(&out->options, &out->plugin->desc, err) < 0)
		return err->status;
	for (i = 0; i < half->option_count; i++) {
		const struct bk_pair_text *o = &half->options[i];

		if (o->known && !has_option(out->plugin, o->name))
			continue;
		if (o->known)
			*o->known = true;
		if (bk_options_set(out->options, o->name, o->value, BK_FROM_USER, &why) < 0)
			return at_place(err, o->file, o->at, &why);
	}
	return BK_OK;
}

static bool same_options(const struct bk_half *a, const struct bk_half *b)
{
	size_t i, k;

	if (a->option_count != b->option_count)
		return false;
	for (i = 0; i < a->option_count; i++) {
		for (k = 0; k < b->option_count; k++) {
			if (strcmp(a->options[i].name, b->options[k].name) == 0 &&
			    strcmp(a->options[i].value, b->options[k].value) == 0)
				break;
		}
		if (k == b->option_count)
			return false;
	}
	return true;
}

bk_status bk_variant_stores_init(struct bk_variant_stores *out, const struct bk_variant *variant,
				 struct bk_error *err)
{
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->variant = variant;
	out->has_binaries = variant->binaries.backend != NULL;
	out->shared = out->has_binaries &&
		      strcmp(variant->nodes.backend, variant->binaries.backend) == 0 &&
		      same_options(&variant->nodes, &variant->binaries);
	st = init_half(&out->nodes, &variant->nodes, err);
	if (st >= 0 && out->has_binaries && !out->shared)
		st = init_half(&out->binaries, &variant->binaries, err);
	if (st >= 0) {
		const struct bk_plugin *b = out->shared ? out->nodes.plugin : out->binaries.plugin;

		if (!((out->nodes.plugin->desc.native | out->nodes.plugin->desc.emulated) &
		      BK_F_NODES))
			st = bk_fail(err, BK_INVALID, 0,
				     "variant '%s': backend '%s' holds no nodes", variant->name,
				     variant->nodes.backend);
		else if (b && !((b->desc.native | b->desc.emulated) & BK_F_BINARIES))
			st = bk_fail(err, BK_INVALID, 0,
				     "variant '%s': backend '%s' holds no binaries", variant->name,
				     variant->binaries.backend);
	}
	if (st < 0)
		bk_variant_stores_free(out);
	return st;
}

static void free_half(struct bk_store_half *half)
{
	bk_service_stop(half->server);
	bk_options_free(half->options);
	bk_plugin_free(half->plugin);
	free(half->folder);
	memset(half, 0, sizeof(*half));
}

void bk_variant_stores_free(struct bk_variant_stores *stores)
{
	free_half(&stores->nodes);
	free_half(&stores->binaries);
}

/* ---- Places ------------------------------------------------------------------------- */

static bk_status place_half(struct bk_store_half *half, const char *folder, const char *name,
			    struct bk_error *err)
{
	const struct bk_option *option;
	char *path;
	bk_status st;

	if (!half->plugin)
		return BK_OK;
	option = bk_options_flagged(half->options, BK_OPTF_FOLDER);
	if (option && !bk_options_is_set(half->options, option->name)) {
		path = bk_fs_join(folder, name);
		if (!path)
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
		half->folder = path;
		st = bk_options_set(half->options, option->name, path, BK_FROM_HARNESS, err);
		if (st < 0)
			return st;
	}
	return bk_options_check(half->options, err);
}

bk_status bk_variant_stores_place(struct bk_variant_stores *stores, const char *folder,
				  struct bk_error *err)
{
	bk_status st = place_half(&stores->nodes, folder, "nodes", err);

	return st < 0 ? st : place_half(&stores->binaries, folder, "binaries", err);
}

/* ---- Opening ------------------------------------------------------------------------ */

static bk_status open_half(struct bk_layered **out, const struct bk_store_half *half,
			   const char *space, uint32_t durability, struct bk_error *err)
{
	bk_status st;

	if (half->server_error.status < 0) {
		*err = half->server_error;
		return err->status;
	}
	st = bk_open(out, half->plugin, half->options, space, NULL, durability, 0, err);
	if (st < 0)
		return st;
	st = (*out)->tables.store.make((*out)->store, err);
	if (st < 0) {
		bk_close(*out);
		*out = NULL;
	}
	return st;
}

bk_status bk_variant_stores_open(struct bk_repo *out, const struct bk_variant_stores *stores,
				 const char *space, uint32_t durability, uint64_t timeout_ns,
				 struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->timeout_ns = timeout_ns;
	out->traffic = calloc(1, sizeof(*out->traffic));
	if (!out->traffic)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	st = open_half(&out->nodes, &stores->nodes, space, durability, err);
	if (st < 0) {
		free(out->traffic);
		out->traffic = NULL;
		return st;
	}
	if (stores->shared)
		out->binaries = out->nodes;
	else if (stores->has_binaries)
		st = open_half(&out->binaries, &stores->binaries, space, durability, err);
	if (st < 0)
		bk_variant_stores_close(out, false, &ignored);
	return st;
}

static bk_status close_store(struct bk_layered *store, bool keep, struct bk_error *err)
{
	bk_status st = BK_OK;

	if (!store)
		return BK_OK;
	if (!keep)
		st = store->tables.store.unmake(store->store, err);
	bk_close(store);
	return st;
}

bk_status bk_variant_stores_close(struct bk_repo *repo, bool keep, struct bk_error *err)
{
	struct bk_error second = bk_error_init();
	bk_status st = close_store(repo->nodes, keep, err), st2 = BK_OK;

	if (repo->binaries != repo->nodes)
		st2 = close_store(repo->binaries, keep, &second);
	free(repo->traffic);
	memset(repo, 0, sizeof(*repo));
	if (st >= 0 && st2 < 0) {
		*err = second;
		return st2;
	}
	return st;
}
