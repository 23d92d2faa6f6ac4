/*
 * ops.c - the list of operations and their stubs.
 *
 * The one invariant: a stub touches nothing but *err.
 */
#include "plugin/ops.h"

#include <bakeoff/backend_util.h>

#define STUB(table, op, ...)                                                                       \
	static bk_status stub_##table##_##op(__VA_ARGS__, struct bk_error *err)                    \
	{                                                                                          \
		return bk_fail(err, BK_UNSUPPORTED, 0,                                             \
			       "this backend does not offer " #table "." #op);                     \
	}
/* Nothing to release, cancel or count where nothing was made. */
#define STUB_VOID(table, op, ...)                                                                  \
	static void stub_##table##_##op(__VA_ARGS__)                                               \
	{                                                                                          \
	}

STUB(store, open, struct bk_store **out, const struct bk_host *host,
     const struct bk_store_config *config, const void *opts)
STUB_VOID(store, close, struct bk_store *store)
STUB(store, features, struct bk_store *store, uint64_t *native, uint64_t *emulated,
     struct bk_limits *limits)
STUB(store, make, struct bk_store *store)
STUB(store, clear, struct bk_store *store)
STUB(store, unmake, struct bk_store *store)
STUB(store, inspect, struct bk_store *store, uint32_t what, const struct bk_sink *sink)
STUB(store, settle, struct bk_store *store, uint64_t timeout_ns)
STUB(store, chill, struct bk_store *store, uint32_t *reached)

STUB(session, open, struct bk_session **out, struct bk_store *store,
     const struct bk_session_config *config)
STUB_VOID(session, close, struct bk_session *session)
STUB_VOID(session, cancel, struct bk_session *session)
STUB_VOID(session, counters, struct bk_session *session, const struct bk_sink *sink)

STUB(txn, begin, struct bk_session *session, uint32_t *isolation, uint32_t flags)
STUB(txn, flush, struct bk_session *session)
STUB(txn, commit, struct bk_session *session)
STUB(txn, rollback, struct bk_session *session)

STUB(node, get, struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want)
STUB(node, get_many, struct bk_node *out, size_t *done, struct bk_session *s,
     const struct bk_slice *ids, size_t n, uint32_t want)
STUB(node, find, struct bk_slice *id_out, struct bk_session *s, struct bk_slice path)
STUB(node, put, struct bk_session *s, const struct bk_node *node, uint32_t mode)
STUB(node, put_many, struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode)
STUB(node, append, struct bk_session *s, struct bk_slice id, struct bk_slice tail,
     const struct bk_link *links, size_t link_count)
STUB(node, remove, struct bk_session *s, struct bk_slice id)
STUB(node, walk_open, struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
     const struct bk_step *steps, size_t n_steps, uint32_t want)
STUB(node, walk_next, struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n)
STUB_VOID(node, walk_close, struct bk_cursor *c)

STUB(binary, write_open, struct bk_writer **out, struct bk_session *s, struct bk_slice key,
     uint64_t size_bytes, uint32_t mode)
STUB(binary, write, struct bk_writer *w, const void *data, size_t len)
STUB(binary, finish, struct bk_writer *w, struct bk_binary_info *info)
STUB_VOID(binary, abort, struct bk_writer *w)
STUB(binary, read_open, struct bk_reader **out, struct bk_session *s, struct bk_slice key,
     uint64_t offset, uint64_t len, struct bk_binary_info *info)
STUB(binary, read, struct bk_reader *r, void *buf, size_t cap, size_t *n)
STUB_VOID(binary, read_close, struct bk_reader *r)
STUB(binary, stat, struct bk_session *s, struct bk_slice key, struct bk_binary_info *info)
STUB(binary, remove, struct bk_session *s, struct bk_slice key)
STUB(binary, list_open, struct bk_cursor **out, struct bk_session *s)
STUB(binary, list_next, struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
     size_t cap, size_t *n)
STUB_VOID(binary, list_close, struct bk_cursor *c)

STUB(place, create, struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
     struct bk_slice user, struct bk_slice password, struct bk_slice from)
STUB(place, drop, struct bk_store *admin, struct bk_slice name, struct bk_slice mark)
STUB(place, list, struct bk_store *admin, struct bk_place *out, size_t cap, size_t *n)

#define OP_(table, op, table_bit, bit, optional)                                                   \
	{                                                                                          \
#table "." #op, offsetof(struct bk_tables, table.op), table_bit, bit,              \
			(void (*)(void))stub_##table##_##op, optional                              \
	}
#define OP(table, op, table_bit)          OP_(table, op, table_bit, 0, false)
#define OP_FOR(table, op, table_bit, bit) OP_(table, op, table_bit, bit, false)

const struct bk_op bk_ops[] = {
	OP(store, open, 0),
	OP(store, close, 0),
	OP(store, features, 0),
	OP(store, make, 0),
	OP(store, clear, 0),
	OP(store, unmake, 0),
	OP(store, inspect, 0),
	OP_FOR(store, settle, 0, BK_F_SETTLE),
	OP_FOR(store, chill, 0, BK_F_CHILL),
	OP(session, open, 0),
	OP(session, close, 0),
	OP_FOR(session, cancel, 0, BK_F_CANCEL),
	OP_(session, counters, 0, 0, true),
	OP(txn, begin, BK_F_TXN),
	OP(txn, flush, BK_F_TXN),
	OP(txn, commit, BK_F_TXN),
	OP(txn, rollback, BK_F_TXN),
	OP(node, get, BK_F_NODES),
	OP_FOR(node, get_many, BK_F_NODES, BK_F_GET_MANY),
	OP(node, find, BK_F_NODES),
	OP(node, put, BK_F_NODES),
	OP_FOR(node, put_many, BK_F_NODES, BK_F_PUT_MANY),
	OP_FOR(node, append, BK_F_NODES, BK_F_APPEND),
	OP(node, remove, BK_F_NODES),
	OP(node, walk_open, BK_F_NODES),
	OP(node, walk_next, BK_F_NODES),
	OP(node, walk_close, BK_F_NODES),
	OP(binary, write_open, BK_F_BINARIES),
	OP(binary, write, BK_F_BINARIES),
	OP(binary, finish, BK_F_BINARIES),
	OP(binary, abort, BK_F_BINARIES),
	OP(binary, read_open, BK_F_BINARIES),
	OP(binary, read, BK_F_BINARIES),
	OP(binary, read_close, BK_F_BINARIES),
	OP(binary, stat, BK_F_BINARIES),
	OP(binary, remove, BK_F_BINARIES),
	OP(binary, list_open, BK_F_BINARIES),
	OP(binary, list_next, BK_F_BINARIES),
	OP(binary, list_close, BK_F_BINARIES),
	OP(place, create, BK_F_PLACES),
	OP(place, drop, BK_F_PLACES),
	OP(place, list, BK_F_PLACES),
	{NULL, 0, 0, 0, NULL, false},
};

bool bk_op_is_there(const struct bk_tables *tables, const struct bk_op *op)
{
	void (*fn)(void);

	memcpy(&fn, (const char *)tables + op->offset, sizeof(fn));
	return fn != NULL;
}

void bk_ops_fill(struct bk_tables *tables)
{
	const struct bk_op *op;

	for (op = bk_ops; op->name; op++) {
		if (!bk_op_is_there(tables, op))
			memcpy((char *)tables + op->offset, &op->stub, sizeof(op->stub));
	}
}
