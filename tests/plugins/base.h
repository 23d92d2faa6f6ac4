/*
 * base.h - the smallest descriptor that the loader takes; each file of broken/ spoils one thing.
 *
 * The one invariant: included with nothing defined but BASE_NAME, it is taken.  What a file wants
 * different it defines before including this.
 */
#ifndef BK_TESTS_PLUGINS_BASE_H
#define BK_TESTS_PLUGINS_BASE_H

#include <bakeoff/backend.h>
#include <bakeoff/backend_util.h>

#define BASE_OP(name, ...)                                                                         \
	__attribute__((unused)) static bk_status base_##name(__VA_ARGS__, struct bk_error *err)    \
	{                                                                                          \
		return bk_fail(err, BK_UNSUPPORTED, 0, #name " does nothing here");                \
	}
#define BASE_VOID(name, ...)                                                                       \
	__attribute__((unused)) static void base_##name(__VA_ARGS__)                               \
	{                                                                                          \
	}

BASE_OP(store_open, struct bk_store **out, const struct bk_host *host,
	const struct bk_store_config *config, const void *opts)
BASE_VOID(store_close, struct bk_store *store)
BASE_OP(features, struct bk_store *store, uint64_t *native, uint64_t *emulated,
	struct bk_limits *limits)
BASE_OP(make, struct bk_store *store)
BASE_OP(inspect, struct bk_store *store, uint32_t what, const struct bk_sink *sink)
BASE_OP(session_open, struct bk_session **out, struct bk_store *store,
	const struct bk_session_config *config)
BASE_VOID(session_close, struct bk_session *session)
BASE_OP(begin, struct bk_session *session, uint32_t *isolation, uint32_t flags)
BASE_OP(end, struct bk_session *session)
BASE_OP(get, struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want)
BASE_OP(get_many, struct bk_node *out, size_t *done, struct bk_session *s,
	const struct bk_slice *ids, size_t n, uint32_t want)
BASE_OP(find, struct bk_slice *id_out, struct bk_session *s, struct bk_slice path)
BASE_OP(put, struct bk_session *s, const struct bk_node *node, uint32_t mode)
BASE_OP(remove, struct bk_session *s, struct bk_slice id)
BASE_OP(walk_open, struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
	const struct bk_step *steps, size_t n_steps, uint32_t want)
BASE_OP(walk_next, struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n)
BASE_VOID(walk_close, struct bk_cursor *c)

/* What the files of broken/ may replace. */
#ifndef BASE_MAGIC
#define BASE_MAGIC BK_MAGIC
#endif
#ifndef BASE_MAJOR
#define BASE_MAJOR BK_ABI_MAJOR
#endif
#ifndef BASE_MINOR
#define BASE_MINOR BK_ABI_MINOR
#endif
#ifndef BASE_SIZE
#define BASE_SIZE sizeof(struct bk_backend)
#endif
#ifndef BASE_THREADS
#define BASE_THREADS BK_THREADS_PARALLEL
#endif
#ifndef BASE_DECLARED_NAME
#define BASE_DECLARED_NAME BASE_NAME
#endif
#ifndef BASE_VERSION
#define BASE_VERSION "1"
#endif
#ifndef BASE_SUMMARY
#define BASE_SUMMARY "does nothing"
#endif
#ifndef BASE_NATIVE
#define BASE_NATIVE BK_F_NODES
#endif
#ifndef BASE_EMULATED
#define BASE_EMULATED 0
#endif
#ifndef BASE_STORE
#define BASE_STORE &base_store
#endif
#ifndef BASE_SESSION
#define BASE_SESSION &base_session
#endif
#ifndef BASE_TXN
#define BASE_TXN NULL
#endif
#ifndef BASE_NODE
#define BASE_NODE &base_node
#endif
#ifndef BASE_NODE_SIZE
#define BASE_NODE_SIZE sizeof(struct bk_node_ops)
#endif
#ifndef BASE_GET
#define BASE_GET base_get
#endif
#ifndef BASE_GET_MANY
#define BASE_GET_MANY NULL
#endif
#ifndef BASE_SCHEMES
#define BASE_SCHEMES NULL
#endif
#ifndef BASE_SERVICE
#define BASE_SERVICE NULL
#endif

struct base_options {
	uint64_t number;
	const char *text;
	const char *more;
	uint32_t choice;
	uint8_t flag;
};
#ifndef BASE_OPTIONS_SIZE
#define BASE_OPTIONS_SIZE sizeof(struct base_options)
#endif

/* One option at the start of the struct: name, type and further members. */
#define BASE_OPTION(nam, ...)                                                                      \
	{                                                                                          \
		.name = (nam), .help = "help", .type = __VA_ARGS__                                 \
	}
#if defined(BASE_OPTIONS)
static const char *const base_choices[] __attribute__((unused)) = {"one", "two", NULL};
static const struct bk_option base_options[] = {BASE_OPTIONS, BK_OPTION_END};
#define BASE_OPTION_TABLE base_options
#elif !defined(BASE_OPTION_TABLE)
#define BASE_OPTION_TABLE NULL
#endif

__attribute__((unused)) static const struct bk_store_ops base_store = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = base_store_open,
	.close = base_store_close,
	.features = base_features,
	.make = base_make,
	.clear = base_make,
	.unmake = base_make,
	.inspect = base_inspect,
};

__attribute__((unused)) static const struct bk_session_ops base_session = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = base_session_open,
	.close = base_session_close,
};

__attribute__((unused)) static const struct bk_txn_ops base_txn = {
	.struct_size = sizeof(struct bk_txn_ops),
	.begin = base_begin,
	.flush = base_end,
	.commit = base_end,
	.rollback = base_end,
};

__attribute__((unused)) static const struct bk_node_ops base_node = {
	.struct_size = BASE_NODE_SIZE,
	.get = BASE_GET,
	.get_many = BASE_GET_MANY,
	.find = base_find,
	.put = base_put,
	.remove = base_remove,
	.walk_open = base_walk_open,
	.walk_next = base_walk_next,
	.walk_close = base_walk_close,
};

__attribute__((unused)) static const struct bk_backend base_backend = {
	.magic = BASE_MAGIC,
	.abi_major = BASE_MAJOR,
	.abi_minor = BASE_MINOR,
	.struct_size = BASE_SIZE,
	.threads = BASE_THREADS,
	.name = BASE_DECLARED_NAME,
	.version = BASE_VERSION,
	.summary = BASE_SUMMARY,
	.native = BASE_NATIVE,
	.emulated = BASE_EMULATED,
	.options = BASE_OPTION_TABLE,
	.options_size = BASE_OPTIONS_SIZE,
	.store = BASE_STORE,
	.session = BASE_SESSION,
	.txn = BASE_TXN,
	.node = BASE_NODE,
	.service = BASE_SERVICE,
	.schemes = BASE_SCHEMES,
};

#ifndef BASE_RETURN
#define BASE_RETURN &base_backend
#endif

BK_EXPORT const struct bk_backend *bk_backend(void);

const struct bk_backend *bk_backend(void)
{
	return BASE_RETURN;
}

#endif
