/*
 * pass.c - operations that only go one layer down.
 */
#include "layer/pass.h"

/* A pointer to a struct is one to its first member. */
static struct bk_pass_store *pass_of(struct bk_store *store)
{
	return (struct bk_pass_store *)(void *)store;
}

static struct bk_pass_session *session_of(struct bk_session *session)
{
	return (struct bk_pass_session *)(void *)session;
}

/* ---- Store and places -------------------------------------------------- */

static bk_status pass_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				     struct bk_limits *limits, struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(store);

	return p->next.store.features(p->store, native, emulated, limits, err);
}

static bk_status pass_store_make(struct bk_store *store, struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(store);

	return p->next.store.make(p->store, err);
}

static bk_status pass_store_clear(struct bk_store *store, struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(store);

	return p->next.store.clear(p->store, err);
}

static bk_status pass_store_unmake(struct bk_store *store, struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(store);

	return p->next.store.unmake(p->store, err);
}

static bk_status pass_store_inspect(struct bk_store *store, uint32_t what,
				    const struct bk_sink *sink, struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(store);

	return p->next.store.inspect(p->store, what, sink, err);
}

static bk_status pass_store_settle(struct bk_store *store, uint64_t timeout_ns,
				   struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(store);

	return p->next.store.settle(p->store, timeout_ns, err);
}

static bk_status pass_store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(store);

	return p->next.store.chill(p->store, reached, err);
}

static bk_status pass_place_create(struct bk_store *admin, struct bk_slice name,
				   struct bk_slice mark, struct bk_slice user,
				   struct bk_slice password, struct bk_slice from,
				   struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(admin);

	return p->next.place.create(p->store, name, mark, user, password, from, err);
}

static bk_status pass_place_drop(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
				 struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(admin);

	return p->next.place.drop(p->store, name, mark, err);
}

static bk_status pass_place_list(struct bk_store *admin, struct bk_place *out, size_t cap,
				 size_t *n, struct bk_error *err)
{
	struct bk_pass_store *p = pass_of(admin);

	return p->next.place.list(p->store, out, cap, n, err);
}

/* ---- Session and transactions ------------------------------------------ */

static void pass_session_close(struct bk_session *session)
{
	struct bk_pass_session *p = session_of(session);

	p->next->session.close(p->s);
}

static void pass_session_cancel(struct bk_session *session)
{
	struct bk_pass_session *p = session_of(session);

	p->next->session.cancel(p->s);
}

static void pass_session_counters(struct bk_session *session, const struct bk_sink *sink)
{
	struct bk_pass_session *p = session_of(session);

	p->next->session.counters(p->s, sink);
}

static bk_status pass_txn_begin(struct bk_session *session, uint32_t *isolation, uint32_t flags,
				struct bk_error *err)
{
	struct bk_pass_session *p = session_of(session);

	return p->next->txn.begin(p->s, isolation, flags, err);
}

static bk_status pass_txn_flush(struct bk_session *session, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(session);

	return p->next->txn.flush(p->s, err);
}

static bk_status pass_txn_commit(struct bk_session *session, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(session);

	return p->next->txn.commit(p->s, err);
}

static bk_status pass_txn_rollback(struct bk_session *session, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(session);

	return p->next->txn.rollback(p->s, err);
}

/* ---- Nodes ------------------------------------------------------------- */

static bk_status pass_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			       uint32_t want, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->node.get(out, p->s, id, want, err);
}

static bk_status pass_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
				    const struct bk_slice *ids, size_t n, uint32_t want,
				    struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->node.get_many(out, done, p->s, ids, n, want, err);
}

static bk_status pass_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
				struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->node.find(id_out, p->s, path, err);
}

static bk_status pass_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			       struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->node.put(p->s, node, mode, err);
}

static bk_status pass_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				    uint32_t mode, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->node.put_many(p->s, nodes, n, mode, err);
}

static bk_status pass_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
				  const struct bk_link *links, size_t link_count,
				  struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->node.append(p->s, id, tail, links, link_count, err);
}

static bk_status pass_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->node.remove(p->s, id, err);
}

static bk_status pass_node_walk_open(struct bk_cursor **out, struct bk_session *s,
				     struct bk_slice start, const struct bk_step *steps,
				     size_t n_steps, uint32_t want, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->node.walk_open(out, p->s, start, steps, n_steps, want, err);
}

/* ---- Binaries ---------------------------------------------------------- */

static bk_status pass_binary_write_open(struct bk_writer **out, struct bk_session *s,
					struct bk_slice key, uint64_t size_bytes, uint32_t mode,
					struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->binary.write_open(out, p->s, key, size_bytes, mode, err);
}

static bk_status pass_binary_read_open(struct bk_reader **out, struct bk_session *s,
				       struct bk_slice key, uint64_t offset, uint64_t len,
				       struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->binary.read_open(out, p->s, key, offset, len, info, err);
}

static bk_status pass_binary_stat(struct bk_session *s, struct bk_slice key,
				  struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->binary.stat(p->s, key, info, err);
}

static bk_status pass_binary_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->binary.remove(p->s, key, err);
}

static bk_status pass_binary_list_open(struct bk_cursor **out, struct bk_session *s,
				       struct bk_error *err)
{
	struct bk_pass_session *p = session_of(s);

	return p->next->binary.list_open(out, p->s, err);
}

void bk_pass_tables(struct bk_tables *out, const struct bk_tables *next)
{
	*out = *next;
	out->store.features = pass_store_features;
	out->store.make = pass_store_make;
	out->store.clear = pass_store_clear;
	out->store.unmake = pass_store_unmake;
	out->store.inspect = pass_store_inspect;
	out->store.settle = pass_store_settle;
	out->store.chill = pass_store_chill;
	out->session.close = pass_session_close;
	out->session.cancel = pass_session_cancel;
	out->session.counters = pass_session_counters;
	out->txn.begin = pass_txn_begin;
	out->txn.flush = pass_txn_flush;
	out->txn.commit = pass_txn_commit;
	out->txn.rollback = pass_txn_rollback;
	out->node.get = pass_node_get;
	out->node.get_many = pass_node_get_many;
	out->node.find = pass_node_find;
	out->node.put = pass_node_put;
	out->node.put_many = pass_node_put_many;
	out->node.append = pass_node_append;
	out->node.remove = pass_node_remove;
	out->node.walk_open = pass_node_walk_open;
	out->binary.write_open = pass_binary_write_open;
	out->binary.read_open = pass_binary_read_open;
	out->binary.stat = pass_binary_stat;
	out->binary.remove = pass_binary_remove;
	out->binary.list_open = pass_binary_list_open;
	out->place.create = pass_place_create;
	out->place.drop = pass_place_drop;
	out->place.list = pass_place_list;
}
