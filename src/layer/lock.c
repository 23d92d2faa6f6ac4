/*
 * lock.c - the layer that makes calls one at a time, for backends of BK_THREADS_SERIAL.
 *
 * The one invariant: the mutex is held while, and only while, a call is in the layer beneath.
 * cancel() alone goes past it: it is meant for a call that is in there.
 */
#include "layer/lock.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

/* ---- Store and places -------------------------------------------------- */

static bk_status lock_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				     struct bk_limits *limits, struct bk_error *err)
{
	struct bk_pass_store *p = &store->pass;

	bk_lock_enter(&store->lock);
	return bk_lock_leave(&store->lock,
			     p->next.store.features(p->store, native, emulated, limits, err));
}

static bk_status lock_store_make(struct bk_store *store, struct bk_error *err)
{
	bk_lock_enter(&store->lock);
	return bk_lock_leave(&store->lock, store->pass.next.store.make(store->pass.store, err));
}

static bk_status lock_store_clear(struct bk_store *store, struct bk_error *err)
{
	bk_lock_enter(&store->lock);
	return bk_lock_leave(&store->lock, store->pass.next.store.clear(store->pass.store, err));
}

static bk_status lock_store_unmake(struct bk_store *store, struct bk_error *err)
{
	bk_lock_enter(&store->lock);
	return bk_lock_leave(&store->lock, store->pass.next.store.unmake(store->pass.store, err));
}

static bk_status lock_store_inspect(struct bk_store *store, uint32_t what,
				    const struct bk_sink *sink, struct bk_error *err)
{
	bk_lock_enter(&store->lock);
	return bk_lock_leave(&store->lock,
			     store->pass.next.store.inspect(store->pass.store, what, sink, err));
}

static bk_status lock_store_settle(struct bk_store *store, uint64_t timeout_ns,
				   struct bk_error *err)
{
	bk_lock_enter(&store->lock);
	return bk_lock_leave(&store->lock,
			     store->pass.next.store.settle(store->pass.store, timeout_ns, err));
}

static bk_status lock_store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	bk_lock_enter(&store->lock);
	return bk_lock_leave(&store->lock,
			     store->pass.next.store.chill(store->pass.store, reached, err));
}

static bk_status lock_place_create(struct bk_store *admin, struct bk_slice name,
				   struct bk_slice mark, struct bk_slice user,
				   struct bk_slice password, struct bk_slice from,
				   struct bk_error *err)
{
	struct bk_pass_store *p = &admin->pass;

	bk_lock_enter(&admin->lock);
	return bk_lock_leave(&admin->lock,
			     p->next.place.create(p->store, name, mark, user, password, from, err));
}

static bk_status lock_place_drop(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
				 struct bk_error *err)
{
	bk_lock_enter(&admin->lock);
	return bk_lock_leave(&admin->lock,
			     admin->pass.next.place.drop(admin->pass.store, name, mark, err));
}

static bk_status lock_place_list(struct bk_store *admin, struct bk_place *out, size_t cap,
				 size_t *n, struct bk_error *err)
{
	bk_lock_enter(&admin->lock);
	return bk_lock_leave(&admin->lock,
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
	bk_lock_enter(&store->lock);
	st = bk_lock_leave(&store->lock, store->pass.next.session.open(
						 &s->pass.s, store->pass.store, config, err));
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
	bk_lock_enter(s->lock);
	s->pass.next->session.close(s->pass.s);
	bk_lock_leave(s->lock, BK_OK);
	free(s);
}

static void lock_session_counters(struct bk_session *s, const struct bk_sink *sink)
{
	bk_lock_enter(s->lock);
	s->pass.next->session.counters(s->pass.s, sink);
	bk_lock_leave(s->lock, BK_OK);
}

static bk_status lock_txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
				struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->txn.begin(s->pass.s, isolation, flags, err));
}

static bk_status lock_txn_flush(struct bk_session *s, struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->txn.flush(s->pass.s, err));
}

static bk_status lock_txn_commit(struct bk_session *s, struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->txn.commit(s->pass.s, err));
}

static bk_status lock_txn_rollback(struct bk_session *s, struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->txn.rollback(s->pass.s, err));
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
	t->node = bk_lock_node_ops;
	t->binary = bk_lock_binary_ops;
	t->place.create = lock_place_create;
	t->place.drop = lock_place_drop;
	t->place.list = lock_place_list;
	io->store = store;
	io->threads = BK_THREADS_PARALLEL;
	return BK_OK;
}
