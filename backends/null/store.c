/*
 * store.c - the descriptor, options, store and session of the backend that keeps nothing.
 *
 * The one invariant: BK_F_DISCARDS is set, so that nobody takes its numbers for a store's.
 */
#include "null.h"

#include <stdlib.h>

/* ---- Store ------------------------------------------------------------- */

static void null_store_close(struct bk_store *store)
{
	free(store);
}

/* Any durability is accepted: BK_F_DISCARDS says already that no promise is kept. */
static bk_status null_store_open(struct bk_store **out, const struct bk_host *host,
				 const struct bk_store_config *config, const void *opts,
				 struct bk_error *err)
{
	struct bk_store *store = calloc(1, sizeof(*store));
	bk_status st;

	if (!store)
		return null_fail(err, BK_NOMEM, "null: out of memory");
	store->options = opts;
	st = null_control(store, NULL_OPEN, err);
	if (st) {
		free(store);
		return st;
	}
	*out = store;
	return BK_OK;
}

static bk_status null_store_make(struct bk_store *store, struct bk_error *err)
{
	return null_control(store, NULL_MAKE, err);
}

static bk_status null_store_clear(struct bk_store *store, struct bk_error *err)
{
	return BK_OK;
}

static bk_status null_store_unmake(struct bk_store *store, struct bk_error *err)
{
	return BK_OK;
}

static bk_status null_store_inspect(struct bk_store *store, uint32_t what,
				    const struct bk_sink *sink, struct bk_error *err)
{
	const struct null_options *o = store->options;

	if (what & BK_INSPECT_IDENTITY) {
		sink->put_str(sink->ctx, "server.product", "bakeoff null");
		sink->put_str(sink->ctx, "server.version", "0.1.0");
		sink->flag(sink->ctx, "discards", "nothing is kept; nothing can be verified");
		if (o->delay_us)
			sink->flag(sink->ctx, "delay", "calls are delayed on purpose");
		if (o->fail_every || o->fail_from)
			sink->flag(sink->ctx, "failure", "calls fail on purpose");
	}
	if (what & BK_INSPECT_SIZE)
		sink->put_u64(sink->ctx, "storage.bytes", 0, "bytes", 0);
	return BK_OK;
}

static bk_status null_store_settle(struct bk_store *store, uint64_t timeout_ns,
				   struct bk_error *err)
{
	return null_control(store, NULL_SETTLE, err);
}

static bk_status null_store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	*reached = BK_CHILL_DROPPED;
	return BK_OK;
}

static bk_status null_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				     struct bk_limits *limits, struct bk_error *err);

static const struct bk_store_ops null_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = null_store_open,
	.close = null_store_close,
	.features = null_store_features,
	.make = null_store_make,
	.clear = null_store_clear,
	.unmake = null_store_unmake,
	.inspect = null_store_inspect,
	.settle = null_store_settle,
	.chill = null_store_chill,
};

/* ---- Session ----------------------------------------------------------- */

static void null_session_close(struct bk_session *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static bk_status null_session_open(struct bk_session **out, struct bk_store *store,
				   const struct bk_session_config *config, struct bk_error *err)
{
	const struct null_options *o = store->options;
	struct bk_session *s;
	pthread_condattr_t attr;
	bk_status st;

	s = calloc(1, sizeof(*s));
	if (!s)
		return null_fail(err, BK_NOMEM, "null: out of memory");
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	atomic_init(&s->cancelled, false);
	s->options = o;
	s->timeout_ns = config->timeout_ns;
	s->plain = !o->delay_us && !o->fail_every && !o->fail_from;
	if (o->fail_on == NULL_SESSION) {
		st = null_call(s, NULL_SESSION, err);
		s->calls = 0;
		if (st) {
			null_session_close(s);
			return st;
		}
	}
	*out = s;
	return BK_OK;
}

static void null_session_counters(struct bk_session *s, const struct bk_sink *sink)
{
}

static const struct bk_session_ops null_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = null_session_open,
	.close = null_session_close,
	.cancel = null_cancel,
	.counters = null_session_counters,
};

/* ---- Backend ----------------------------------------------------------- */

static const char *const delay_modes[] = {"spin", "sleep", NULL};
static const char *const delay_kinds[] = {"any", "read", "write", "commit", NULL};

static const struct bk_option null_option_table[] = {
	BK_OPTION_USEC(struct null_options, delay_us, "delay", "0us",
		       "how long each call of a session takes"),
	BK_OPTION_ENUM(struct null_options, delay_mode, "delay-mode", "sleep", delay_modes,
		       "spin: keep the processor; sleep: give it away until 100us before the end"),
	BK_OPTION_ENUM(struct null_options, delay_on, "delay-on", "any", delay_kinds,
		       "which calls are delayed: any of a session, or only reads, writes, commits"),
	BK_OPTION_U64(struct null_options, fail_every, "fail-every", "0",
		      "every k-th call fails; 0: none"),
	BK_OPTION_U64(struct null_options, fail_from, "fail-from", "0",
		      "all calls from the n-th on fail, counted from 1; 0: none"),
	BK_OPTION_ENUM(struct null_options, fail_on, "fail-on", "any", null_kind_names,
		       "which calls are counted and fail: any of a session, or only this kind"),
	BK_OPTION_ENUM(struct null_options, fail_status, "fail-status", "io", null_status_names,
		       "what a planted failure answers"),
	BK_OPTION_END,
};

static const struct bk_backend null_backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = "null",
	.version = "0.1.0",
	.summary = "keeps nothing: the price of the harness, a known delay, a planted failure",
	.native = BK_F_NODES | BK_F_DISCARDS | BK_F_TXN | BK_F_TXN_BINARIES | BK_F_GET_MANY |
		  BK_F_PUT_MANY | BK_F_BATCH_ATOMIC | BK_F_APPEND | BK_F_WALK | BK_F_TXN_WALK |
		  BK_F_BINARIES | BK_F_BINARY_STREAM | BK_F_BINARY_RANGE | BK_F_BINARY_CREATE |
		  BK_F_CANCEL | BK_F_SETTLE | BK_F_CHILL | BK_F_TIMEOUT,
	.options = null_option_table,
	.options_size = sizeof(struct null_options),
	.store = &null_store_ops,
	.session = &null_session_ops,
	.txn = &null_txn_ops,
	.node = &null_node_ops,
	.binary = &null_binary_ops,
};

static bk_status null_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				     struct bk_limits *limits, struct bk_error *err)
{
	*native = null_backend.native;
	*emulated = null_backend.emulated;
	limits->sessions_max = 0;
	limits->id_max = limits->path_max = limits->rel_max = limits->key_max = UINT32_MAX;
	limits->doc_max = limits->binary_max = INT64_MAX;
	return BK_OK;
}

BK_EXPORT const struct bk_backend *bk_backend(void);
BK_EXPORT const struct bk_backend *bk_backend(void)
{
	return &null_backend;
}
