/*
 * store.c - the descriptor, options, store and sessions.
 */
#include "rediskv.h"

#include <stdlib.h>

static bk_status rkv_store_open(struct bk_store **out, const struct bk_host *host,
				const struct bk_store_config *config, const void *opts,
				struct bk_error *err)
{
	struct bk_store *store = calloc(1, sizeof(*store));
	bk_status st;

	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	store->options = opts;
	store->config = config;
	st = rkv_connect(&store->conn, store->options, err);
	if (st != BK_OK) {
		free(store);
		return st;
	}
	*out = store;
	return BK_OK;
}

static void rkv_store_close(struct bk_store *store)
{
	rkv_disconnect(&store->conn);
	free(store);
}

static bk_status rkv_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
			      struct bk_limits *limits, struct bk_error *err)
{
	*native = BK_F_BINARIES;
	*emulated = 0;
	limits->key_max = 400;
	limits->binary_max = 256u << 20;
	return BK_OK;
}

static bk_status rkv_make(struct bk_store *store, struct bk_error *err)
{
	return BK_OK; /* keys need no table */
}

/* The keys of a space are few in tests: one by one. */
static bk_status rkv_clear(struct bk_store *store, struct bk_error *err)
{
	char set[64];
	struct bk_slice pop[2] = {bk_slice_str("SPOP"), {set, 0}};
	struct bk_slice del[2] = {bk_slice_str("DEL"), {NULL, 0}};
	struct rkv_reply reply;
	char key[1024];
	bk_status st;

	pop[1].len = (size_t)snprintf(set, sizeof(set), "{%s}", store->config->space);
	for (;;) {
		st = rkv_command(&store->conn, &reply, pop, 2, err);
		if (st != BK_OK || reply.type == 0)
			return st;
		snprintf(key, sizeof(key), "%s:%.*s", store->config->space, (int)reply.len,
			 reply.text);
		del[1] = bk_slice_str(key);
		st = rkv_command(&store->conn, &reply, del, 2, err);
		if (st != BK_OK)
			return st;
	}
}

static bk_status rkv_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			     struct bk_error *err)
{
	struct bk_slice info[2] = {bk_slice_str("INFO"), bk_slice_str("server")};
	struct bk_slice size = bk_slice_str("DBSIZE");
	struct rkv_reply reply;
	char version[32] = "";
	const char *p;
	bk_status st = rkv_command(&store->conn, &reply, info, 2, err);

	if (st != BK_OK)
		return st;
	p = strstr(reply.text, "redis_version:");
	if (p)
		sscanf(p, "redis_version:%31[^\r\n]", version);
	sink->put_str(sink->ctx, "server.product", "Redis");
	sink->put_str(sink->ctx, "server.version", version);
	st = rkv_command(&store->conn, &reply, &size, 1, err);
	if (st == BK_OK)
		sink->put_u64(sink->ctx, "keys", (uint64_t)reply.number, "count", 0);
	return st;
}

const struct bk_store_ops rkv_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = rkv_store_open,
	.close = rkv_store_close,
	.features = rkv_features,
	.make = rkv_make,
	.clear = rkv_clear,
	.unmake = rkv_clear,
	.inspect = rkv_inspect,
};

static bk_status rkv_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *session = calloc(1, sizeof(*session));
	bk_status st;

	if (!session)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	session->store = store;
	st = rkv_connect(&session->conn, store->options, err);
	if (st != BK_OK) {
		free(session);
		return st;
	}
	*out = session;
	return BK_OK;
}

static void rkv_session_close(struct bk_session *session)
{
	rkv_disconnect(&session->conn);
	free(session);
}

const struct bk_session_ops rkv_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = rkv_session_open,
	.close = rkv_session_close,
};

const struct bk_option rkv_options[] = {
	BK_OPTION_STR(struct rkv_options, socket, "socket", NULL, "path of the server's socket"),
	BK_OPTION_STR(struct rkv_options, host, "host", NULL, "address, instead of a socket"),
	BK_OPTION_U64(struct rkv_options, port, "port", "6379", "port", .min = 1, .max = 65535),
	BK_OPTION_STR(struct rkv_options, password, "password", NULL, "password",
		      .flags = BK_OPTF_SECRET),
	BK_OPTION_STR(struct rkv_options, bin_dir, "bin-dir", NULL, "folder of redis-server"),
	BK_OPTION_STR(struct rkv_options, maxmemory, "maxmemory", NULL,
		      "what a private server may use, as Redis writes it"),
	BK_OPTION_END,
};

static const struct bk_backend rkv_backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = "rediskv",
	.version = "1",
	.summary = "binaries as strings in Redis",
	.native = BK_F_BINARIES,
	.options = rkv_options,
	.options_size = sizeof(struct rkv_options),
	.store = &rkv_store_ops,
	.session = &rkv_session_ops,
	.binary = &rkv_binary_ops,
	.service = &rkv_service,
};

BK_EXPORT const struct bk_backend *bk_backend(void);
BK_EXPORT const struct bk_backend *bk_backend(void)
{
	return &rkv_backend;
}
