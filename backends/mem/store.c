/*
 * store.c - the descriptor, options, store and session of the in-memory backend.
 *
 * The one invariant: the content belongs to the store handle; it ends with close.
 */
#include "mem.h"

#include <stdlib.h>

static const char *const durability_names[] = {"none", "process", "machine"};

/* ---- Store ------------------------------------------------------------- */

static bk_status mem_store_open(struct bk_store **out, const struct bk_host *host,
				const struct bk_store_config *config, const void *opts,
				struct bk_error *err)
{
	const struct mem_options *o = opts;
	struct bk_store *store;
	pthread_rwlockattr_t attr;

	if (config->durability > BK_DURABLE_MACHINE)
		return bk_fail(err, BK_INVALID, 0, "mem: no such durability: %u",
			       config->durability);
	if (config->durability > BK_DURABLE_NONE && !o->pretend_durable)
		return bk_fail(
			err, BK_UNSUPPORTED, 0,
			"mem: durability '%s' was asked for, but everything is lost with the "
			"process; ask for 'none', or say pretend-durable=yes to price the "
			"harness at that level",
			durability_names[config->durability]);
	store = calloc(1, sizeof(*store));
	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "mem: out of memory");
	if (!mem_graph_init(&store->graph) || !mem_bins_init(&store->bins)) {
		mem_graph_free(&store->graph);
		mem_bins_free(&store->bins);
		free(store);
		return bk_fail(err, BK_NOMEM, 0, "mem: out of memory");
	}
	/* Readers in a loop must not keep a writer out for good. */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&store->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	store->durability = config->durability;
	*out = store;
	return BK_OK;
}

static void mem_store_close(struct bk_store *store)
{
	if (!store)
		return;
	mem_graph_free(&store->graph);
	mem_bins_free(&store->bins);
	pthread_rwlock_destroy(&store->lock);
	free(store);
}

static bk_status mem_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				    struct bk_limits *limits, struct bk_error *err);

static void empty(struct bk_store *store, bool made)
{
	pthread_rwlock_wrlock(&store->lock);
	mem_graph_clear(&store->graph);
	mem_bins_clear(&store->bins);
	store->changes++;
	store->made = made;
	pthread_rwlock_unlock(&store->lock);
}

/* The owner mark needs no keeping: nobody else can reach the content of this handle. */
static bk_status mem_store_make(struct bk_store *store, struct bk_error *err)
{
	pthread_rwlock_wrlock(&store->lock);
	store->made = true;
	pthread_rwlock_unlock(&store->lock);
	return BK_OK;
}

static bk_status mem_store_clear(struct bk_store *store, struct bk_error *err)
{
	if (!store->made)
		return bk_fail(err, BK_NOT_FOUND, 0, "mem: clear: the store has not been made");
	empty(store, true);
	return BK_OK;
}

static bk_status mem_store_unmake(struct bk_store *store, struct bk_error *err)
{
	empty(store, false);
	return BK_OK;
}

static bk_status mem_store_inspect(struct bk_store *store, uint32_t what,
				   const struct bk_sink *sink, struct bk_error *err)
{
	pthread_rwlock_rdlock(&store->lock);
	if (what & BK_INSPECT_IDENTITY) {
		sink->put_str(sink->ctx, "server.product", "bakeoff mem");
		sink->put_str(sink->ctx, "server.version", "0.1.0");
		sink->flag(sink->ctx, "not-durable", "the content ends with the store handle");
		if (store->durability > BK_DURABLE_NONE)
			sink->flag(sink->ctx, "durability-pretended",
				   "a commit promises nothing, whatever level was asked for");
	}
	if (what & BK_INSPECT_SIZE) {
		sink->put_u64(sink->ctx, "nodes.count", store->graph.nodes, "count", 0);
		sink->put_u64(sink->ctx, "links.count", store->graph.links, "count", 0);
		sink->put_u64(sink->ctx, "binaries.count", store->bins.keys.count, "count", 0);
		sink->put_u64(sink->ctx, "storage.bytes", store->graph.bytes + store->bins.bytes,
			      "bytes", BK_SINK_ESTIMATE);
	}
	if (what & BK_INSPECT_COUNTERS)
		sink->put_u64(sink->ctx, "commits", store->changes, "count", 0);
	pthread_rwlock_unlock(&store->lock);
	return BK_OK;
}

/* There is no background work. */
static bk_status mem_store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	return BK_OK;
}

static const struct bk_store_ops mem_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = mem_store_open,
	.close = mem_store_close,
	.features = mem_store_features,
	.make = mem_store_make,
	.clear = mem_store_clear,
	.unmake = mem_store_unmake,
	.inspect = mem_store_inspect,
	.settle = mem_store_settle,
};

/* ---- Session ----------------------------------------------------------- */

static void mem_session_close(struct bk_session *s)
{
	if (!s)
		return;
	if (s->cursor.open)
		mem_cursor_close(&s->cursor);
	mem_blob_release(s->reader.blob);
	mem_blob_release(s->writer.blob);
	mem_txn_free(&s->txn);
	free(s->writer.key.data);
	free(s->links.data);
	free(s->bytes.data);
	free(s->seen.data);
	free(s->frontier.data);
	free(s->undo.data);
	free(s);
}

static bk_status mem_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s;

	if (config->durability > store->durability)
		return bk_fail(
			err, BK_INVALID, 0,
			"mem: a session may ask for durability '%s' at most, as the store did",
			durability_names[store->durability]);
	if (!store->made)
		return bk_fail(err, BK_NOT_FOUND, 0, "mem: session: the store has not been made");
	s = calloc(1, sizeof(*s));
	if (!s || !mem_txn_init(&s->txn)) {
		if (s)
			mem_txn_free(&s->txn);
		free(s);
		return bk_fail(err, BK_NOMEM, 0, "mem: out of memory");
	}
	s->store = store;
	*out = s;
	return BK_OK;
}

/* Nothing is requested of anybody. */
static void mem_session_counters(struct bk_session *session, const struct bk_sink *sink)
{
}

static const struct bk_session_ops mem_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = mem_session_open,
	.close = mem_session_close,
	.counters = mem_session_counters,
};

/* ---- Backend ----------------------------------------------------------- */

static const struct bk_option mem_option_table[] = {
	BK_OPTION_BOOL(struct mem_options, pretend_durable, "pretend-durable", "no",
		       "accept any durability, though nothing outlives the process",
		       .flags = BK_OPTF_DURABILITY),
	BK_OPTION_END,
};

static const struct bk_backend mem_backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = "mem",
	.version = "0.1.0",
	.summary = "nodes and binaries in memory: the oracle, and the price of the harness",
	.native = BK_F_NODES | BK_F_CAS | BK_F_TXN | BK_F_TXN_BINARIES | BK_F_GET_MANY |
		  BK_F_PUT_MANY | BK_F_BATCH_ATOMIC | BK_F_APPEND | BK_F_WALK | BK_F_TXN_WALK |
		  BK_F_BINARIES | BK_F_BINARY_RANGE | BK_F_BINARY_CREATE | BK_F_SETTLE,
	.options = mem_option_table,
	.options_size = sizeof(struct mem_options),
	.store = &mem_store_ops,
	.session = &mem_session_ops,
	.txn = &mem_txn_ops,
	.node = &mem_node_ops,
	.binary = &mem_binary_ops,
};

static bk_status mem_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				    struct bk_limits *limits, struct bk_error *err)
{
	*native = mem_backend.native;
	*emulated = mem_backend.emulated;
	limits->sessions_max = 0;
	limits->id_max = limits->path_max = limits->rel_max = limits->key_max = MEM_NAME_MAX;
	limits->doc_max = MEM_DOC_MAX;
	limits->binary_max = MEM_BIN_MAX;
	return BK_OK;
}

BK_EXPORT const struct bk_backend *bk_backend(void);
BK_EXPORT const struct bk_backend *bk_backend(void)
{
	return &mem_backend;
}
