/*
 * lock.c - the layer that makes calls one at a time, for backends of BK_THREADS_SERIAL.
 *
 * The one invariant: the mutex is held while, and only while, a call is in the layer beneath.
 * cancel() alone goes past it: it is meant for a call that is in there.
 */
#include "layer/pass.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdlib.h>

struct bk_store {
	struct bk_pass_store pass;
	pthread_mutex_t lock;
};

struct bk_cursor {
	struct bk_session *session;
	struct bk_cursor *c;
};

struct bk_writer {
	struct bk_session *session;
	struct bk_writer *w;
};

struct bk_reader {
	struct bk_session *session;
	struct bk_reader *r;
};

struct bk_session {
	struct bk_pass_session pass;
	pthread_mutex_t *lock; /* the store's */
	struct bk_cursor cursor;
	struct bk_writer writer;
	struct bk_reader reader;
};

/* enter(l); return leave(l, call); */
static void enter(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
}

static bk_status leave(pthread_mutex_t *lock, bk_status st)
{
	pthread_mutex_unlock(lock);
	return st;
}

/* ---- Store and places -------------------------------------------------- */

static bk_status lock_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				     struct bk_limits *limits, struct bk_error *err)
{
	struct bk_pass_store *p = &store->pass;

	enter(&store->lock);
	return leave(&store->lock, p->next.store.features(p->store, native, emulated, limits, err));
}

static bk_status lock_store_make(struct bk_store *store, struct bk_error *err)
{
	enter(&store->lock);
	return leave(&store->lock, store->pass.next.store.make(store->pass.store, err));
}

static bk_status lock_store_clear(struct bk_store *store, struct bk_error *err)
{
	enter(&store->lock);
	return leave(&store->lock, store->pass.next.store.clear(store->pass.store, err));
}

static bk_status lock_store_unmake(struct bk_store *store, struct bk_error *err)
{
	enter(&store->lock);
	return leave(&store->lock, store->pass.next.store.unmake(store->pass.store, err));
}

static bk_status lock_store_inspect(struct bk_store *store, uint32_t what,
				    const struct bk_sink *sink, struct bk_error *err)
{
	enter(&store->lock);
	return leave(&store->lock,
		     store->pass.next.store.inspect(store->pass.store, what, sink, err));
}

static bk_status lock_store_settle(struct bk_store *store, uint64_t timeout_ns,
				   struct bk_error *err)
{
	enter(&store->lock);
	return leave(&store->lock,
		     store->pass.next.store.settle(store->pass.store, timeout_ns, err));
}

static bk_status lock_store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	enter(&store->lock);
	return leave(&store->lock, store->pass.next.store.chill(store->pass.store, reached, err));
}

static bk_status lock_place_create(struct bk_store *admin, struct bk_slice name,
				   struct bk_slice mark, struct bk_slice user,
				   struct bk_slice password, struct bk_slice from,
				   struct bk_error *err)
{
	struct bk_pass_store *p = &admin->pass;

	enter(&admin->lock);
	return leave(&admin->lock,
		     p->next.place.create(p->store, name, mark, user, password, from, err));
}

static bk_status lock_place_drop(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
				 struct bk_error *err)
{
	enter(&admin->lock);
	return leave(&admin->lock, admin->pass.next.place.drop(admin->pass.store, name, mark, err));
}

static bk_status lock_place_list(struct bk_store *admin, struct bk_place *out, size_t cap,
				 size_t *n, struct bk_error *err)
{
	enter(&admin->lock);
	return leave(&admin->lock,
		     admin->pass.next.place.list(admin->pass.store, out, cap, n, err));
}

/* ---- Session and transactions ------------------------------------------ */

static bk_status lock_session_open(struct bk_session **out, struct bk_store *store,
				   const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s = calloc(1, sizeof(*s));
	bk_status st;

	if (!s)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	enter(&store->lock);
	st = leave(&store->lock,
		   store->pass.next.session.open(&s->pass.s, store->pass.store, config, err));
	if (st) {
		free(s);
		return st;
	}
	s->pass.next = &store->pass.next;
	s->lock = &store->lock;
	*out = s;
	return BK_OK;
}

static void lock_session_close(struct bk_session *s)
{
	if (!s)
		return;
	enter(s->lock);
	s->pass.next->session.close(s->pass.s);
	leave(s->lock, BK_OK);
	free(s);
}

static void lock_session_counters(struct bk_session *s, const struct bk_sink *sink)
{
	enter(s->lock);
	s->pass.next->session.counters(s->pass.s, sink);
	leave(s->lock, BK_OK);
}

static bk_status lock_txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
				struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->txn.begin(s->pass.s, isolation, flags, err));
}

static bk_status lock_txn_flush(struct bk_session *s, struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->txn.flush(s->pass.s, err));
}

static bk_status lock_txn_commit(struct bk_session *s, struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->txn.commit(s->pass.s, err));
}

static bk_status lock_txn_rollback(struct bk_session *s, struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->txn.rollback(s->pass.s, err));
}

/* ---- Nodes ------------------------------------------------------------- */

static bk_status lock_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			       uint32_t want, struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->node.get(out, s->pass.s, id, want, err));
}

static bk_status lock_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
				    const struct bk_slice *ids, size_t n, uint32_t want,
				    struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->node.get_many(out, done, s->pass.s, ids, n, want, err));
}

static bk_status lock_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
				struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->node.find(id_out, s->pass.s, path, err));
}

static bk_status lock_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			       struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->node.put(s->pass.s, node, mode, err));
}

static bk_status lock_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				    uint32_t mode, struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->node.put_many(s->pass.s, nodes, n, mode, err));
}

static bk_status lock_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
				  const struct bk_link *links, size_t link_count,
				  struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock,
		     s->pass.next->node.append(s->pass.s, id, tail, links, link_count, err));
}

static bk_status lock_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->node.remove(s->pass.s, id, err));
}

static bk_status lock_cursor(struct bk_cursor **out, struct bk_session *s, struct bk_cursor *inner,
			     bk_status st)
{
	if (st)
		return st;
	s->cursor.session = s;
	s->cursor.c = inner;
	*out = &s->cursor;
	return BK_OK;
}

static bk_status lock_node_walk_open(struct bk_cursor **out, struct bk_session *s,
				     struct bk_slice start, const struct bk_step *steps,
				     size_t n_steps, uint32_t want, struct bk_error *err)
{
	struct bk_pass_session *p = &s->pass;
	struct bk_cursor *c = NULL;
	bk_status st;

	enter(s->lock);
	st = leave(s->lock, p->next->node.walk_open(&c, p->s, start, steps, n_steps, want, err));
	return lock_cursor(out, s, c, st);
}

static bk_status lock_node_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
				     struct bk_error *err)
{
	struct bk_session *s = c->session;

	enter(s->lock);
	return leave(s->lock, s->pass.next->node.walk_next(c->c, out, cap, n, err));
}

static void lock_node_walk_close(struct bk_cursor *c)
{
	struct bk_session *s = c->session;

	enter(s->lock);
	s->pass.next->node.walk_close(c->c);
	leave(s->lock, BK_OK);
}

/* ---- Binaries ---------------------------------------------------------- */

static bk_status lock_binary_write_open(struct bk_writer **out, struct bk_session *s,
					struct bk_slice key, uint64_t size_bytes, uint32_t mode,
					struct bk_error *err)
{
	struct bk_pass_session *p = &s->pass;
	bk_status st;

	enter(s->lock);
	st = leave(s->lock,
		   p->next->binary.write_open(&s->writer.w, p->s, key, size_bytes, mode, err));
	if (st)
		return st;
	s->writer.session = s;
	*out = &s->writer;
	return BK_OK;
}

static bk_status lock_binary_write(struct bk_writer *w, const void *data, size_t len,
				   struct bk_error *err)
{
	struct bk_session *s = w->session;

	enter(s->lock);
	return leave(s->lock, s->pass.next->binary.write(w->w, data, len, err));
}

static bk_status lock_binary_finish(struct bk_writer *w, struct bk_binary_info *info,
				    struct bk_error *err)
{
	struct bk_session *s = w->session;

	enter(s->lock);
	return leave(s->lock, s->pass.next->binary.finish(w->w, info, err));
}

static void lock_binary_abort(struct bk_writer *w)
{
	struct bk_session *s = w->session;

	enter(s->lock);
	s->pass.next->binary.abort(w->w);
	leave(s->lock, BK_OK);
}

static bk_status lock_binary_read_open(struct bk_reader **out, struct bk_session *s,
				       struct bk_slice key, uint64_t offset, uint64_t len,
				       struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_pass_session *p = &s->pass;
	bk_status st;

	enter(s->lock);
	st = leave(s->lock,
		   p->next->binary.read_open(&s->reader.r, p->s, key, offset, len, info, err));
	if (st)
		return st;
	s->reader.session = s;
	*out = &s->reader;
	return BK_OK;
}

static bk_status lock_binary_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
				  struct bk_error *err)
{
	struct bk_session *s = r->session;

	enter(s->lock);
	return leave(s->lock, s->pass.next->binary.read(r->r, buf, cap, n, err));
}

static void lock_binary_read_close(struct bk_reader *r)
{
	struct bk_session *s = r->session;

	enter(s->lock);
	s->pass.next->binary.read_close(r->r);
	leave(s->lock, BK_OK);
}

static bk_status lock_binary_stat(struct bk_session *s, struct bk_slice key,
				  struct bk_binary_info *info, struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->binary.stat(s->pass.s, key, info, err));
}

static bk_status lock_binary_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	enter(s->lock);
	return leave(s->lock, s->pass.next->binary.remove(s->pass.s, key, err));
}

static bk_status lock_binary_list_open(struct bk_cursor **out, struct bk_session *s,
				       struct bk_error *err)
{
	struct bk_cursor *c = NULL;
	bk_status st;

	enter(s->lock);
	st = leave(s->lock, s->pass.next->binary.list_open(&c, s->pass.s, err));
	return lock_cursor(out, s, c, st);
}

static bk_status lock_binary_list_next(struct bk_cursor *c, struct bk_slice *keys,
				       uint64_t *sizes_bytes, size_t cap, size_t *n,
				       struct bk_error *err)
{
	struct bk_session *s = c->session;

	enter(s->lock);
	return leave(s->lock, s->pass.next->binary.list_next(c->c, keys, sizes_bytes, cap, n, err));
}

static void lock_binary_list_close(struct bk_cursor *c)
{
	struct bk_session *s = c->session;

	enter(s->lock);
	s->pass.next->binary.list_close(c->c);
	leave(s->lock, BK_OK);
}

/* ---- The layer --------------------------------------------------------- */

static void lock_store_close(struct bk_store *store)
{
	if (!store)
		return;
	store->pass.next.store.close(store->pass.store);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

static const struct bk_store_ops lock_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.close = lock_store_close,
	.features = lock_store_features,
	.make = lock_store_make,
	.clear = lock_store_clear,
	.unmake = lock_store_unmake,
	.inspect = lock_store_inspect,
	.settle = lock_store_settle,
	.chill = lock_store_chill,
};

static const struct bk_txn_ops lock_txn_ops = {
	.struct_size = sizeof(struct bk_txn_ops),
	.begin = lock_txn_begin,
	.flush = lock_txn_flush,
	.commit = lock_txn_commit,
	.rollback = lock_txn_rollback,
};

static const struct bk_node_ops lock_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = lock_node_get,
	.get_many = lock_node_get_many,
	.find = lock_node_find,
	.put = lock_node_put,
	.put_many = lock_node_put_many,
	.append = lock_node_append,
	.remove = lock_node_remove,
	.walk_open = lock_node_walk_open,
	.walk_next = lock_node_walk_next,
	.walk_close = lock_node_walk_close,
};

static const struct bk_binary_ops lock_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = lock_binary_write_open,
	.write = lock_binary_write,
	.finish = lock_binary_finish,
	.abort = lock_binary_abort,
	.read_open = lock_binary_read_open,
	.read = lock_binary_read,
	.read_close = lock_binary_read_close,
	.stat = lock_binary_stat,
	.remove = lock_binary_remove,
	.list_open = lock_binary_list_open,
	.list_next = lock_binary_list_next,
	.list_close = lock_binary_list_close,
};

bk_status bk_layer_lock(struct bk_layered *io, struct bk_error *err)
{
	struct bk_store *store = calloc(1, sizeof(*store));
	struct bk_tables *t = &io->tables;

	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	store->pass.next = io->tables;
	store->pass.store = io->store;
	pthread_mutex_init(&store->lock, NULL);
	bk_pass_tables(t, &store->pass.next); /* session.cancel is left as that has it */
	t->store = lock_store_ops;
	t->store.open = store->pass.next.store.open;
	t->session.open = lock_session_open;
	t->session.close = lock_session_close;
	t->session.counters = lock_session_counters;
	t->txn = lock_txn_ops;
	t->node = lock_node_ops;
	t->binary = lock_binary_ops;
	t->place.create = lock_place_create;
	t->place.drop = lock_place_drop;
	t->place.list = lock_place_list;
	io->store = store;
	io->threads = BK_THREADS_PARALLEL;
	return BK_OK;
}
