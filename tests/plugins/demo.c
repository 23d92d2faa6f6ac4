/*
 * demo.c - a backend for the tests of `inspect`: a store is a folder PATH/SPACE with a file
 * `demo`, whose bytes it counts.  It also says things in the wrong order, which must do no harm.
 */
#include <bakeoff/backend.h>

struct demo_options {
	const char *folder;
	const char *url;
	const char *password;
};

static const char *const demo_schemes[] = {"demo", NULL};

#define BASE_NATIVE       BK_F_NODES
#define BASE_OPTIONS_SIZE sizeof(struct demo_options)
#define BASE_OPTION_TABLE demo_option_table
#define BASE_STORE        &demo_store_ops
#define BASE_SCHEMES      demo_schemes
static const struct bk_option demo_option_table[4];
static const struct bk_store_ops demo_store_ops;
#include "base.h"

#include <stdio.h>
#include <stdlib.h>

struct bk_store {
	const struct bk_store_config *config;
	const struct demo_options *options;
};

static const struct bk_option demo_option_table[4] = {
	BK_OPTION_STR(struct demo_options, folder, "path", NULL, "folder", .flags = BK_OPTF_FOLDER),
	BK_OPTION_STR(struct demo_options, url, "url", NULL, "server", .flags = BK_OPTF_URL),
	BK_OPTION_STR(struct demo_options, password, "password", NULL, "password",
		      .env = "DEMO_PASSWORD", .flags = BK_OPTF_SECRET),
	BK_OPTION_END,
};

static bk_status demo_open(struct bk_store **out, const struct bk_host *host,
			   const struct bk_store_config *config, const void *opts,
			   struct bk_error *err)
{
	struct bk_store *store = malloc(sizeof(*store));

	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	store->config = config;
	store->options = opts;
	*out = store;
	return BK_OK;
}

static void demo_close(struct bk_store *store)
{
	free(store);
}

static bk_status demo_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
			       struct bk_limits *limits, struct bk_error *err)
{
	*native = BK_F_NODES;
	*emulated = 0;
	limits->id_max = limits->path_max = limits->rel_max = limits->doc_max = 1000;
	return BK_OK;
}

static bk_status demo_inspect_folder(struct bk_store *store, const struct bk_sink *sink,
				     struct bk_error *err)
{
	char path[4096];
	long size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/demo", store->options->folder, store->config->space);
	f = fopen(path, "rb");
	if (!f)
		return bk_fail(err, BK_NOT_FOUND, 0, "%s is not there", path);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	fclose(f);
	sink->put_u64(sink->ctx, "storage.bytes", (uint64_t)size, "bytes", BK_SINK_ESTIMATE);
	return BK_OK;
}

static bk_status demo_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			      struct bk_error *err)
{
	int i;

	if (store->options->url)
		sink->put_str(sink->ctx, "server.version", "1.2");
	else if (!store->options->folder)
		return bk_fail(err, BK_INVALID, 0, "neither path nor url is set");
	else if (demo_inspect_folder(store, sink, err) != BK_OK)
		return err->status;
	sink->put_str(sink->ctx, "space", store->config->space);
	sink->put_str(sink->ctx, "mark", store->config->mark);
	sink->flag(sink->ctx, "demo", "this is no store");
	sink->begin(sink->ctx, "table", "node");
	sink->put_f64(sink->ctx, "fill", 0.5, "ratio", 0);
	sink->put_u64(sink->ctx, "huge", UINT64_MAX, "count", 0);
	sink->end(sink->ctx);
	/* from here on: nothing that a store should do */
	sink->end(sink->ctx);
	sink->put_str(sink->ctx, "", "without a name");
	sink->put_str(sink->ctx, "latin1", "\xe9");
	sink->put_f64(sink->ctx, "nan", 0.0 / (what ? 0.0 : 1.0), "ratio", 0);
	for (i = 0; i < 20; i++)
		sink->begin(sink->ctx, "deep", "deep");
	return BK_OK;
}

static const struct bk_store_ops demo_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = demo_open,
	.close = demo_close,
	.features = demo_features,
	.make = base_make,
	.clear = base_make,
	.unmake = base_make,
	.inspect = demo_inspect,
};
