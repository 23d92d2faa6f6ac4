/*
 * check.c - the check layer: store, sessions, transactions, places.
 *
 * The one invariant: see check.h; what each side owes is in check_rules.c.
 */
#include "layer/check.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

/* ---- Store: [control] -------------------------------------------------- */

static void control_enter(struct bk_store *store, const char *op)
{
	if (atomic_fetch_add(&store->in_control, 1))
		bk_check_die(op, "another control call is under way on this store");
}

static bk_status control_leave(struct bk_store *store, bk_status st, const struct bk_error *armed,
			       const char *op, struct bk_error *err)
{
	atomic_fetch_sub(&store->in_control, 1);
	return bk_check_answer(st, armed, false, op, err);
}

#define CONTROL(store, op, err, call)                                                              \
	struct bk_error armed;                                                                     \
	struct bk_pass_store *p = &(store)->pass;                                                  \
	bk_status st;                                                                              \
                                                                                                   \
	control_enter(store, op);                                                                  \
	bk_check_error_arm(&armed);                                                                \
	st = p->next.call;                                                                         \
	st = control_leave(store, st, &armed, op, err)

static bk_status check_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				      struct bk_limits *limits, struct bk_error *err)
{
	CONTROL(store, "store.features", err,
		store.features(p->store, native, emulated, limits, &armed));
	return st;
}

static bk_status check_store_make(struct bk_store *store, struct bk_error *err)
{
	CONTROL(store, "store.make", err, store.make(p->store, &armed));
	return st;
}

static bk_status check_store_clear(struct bk_store *store, struct bk_error *err)
{
	CONTROL(store, "store.clear", err, store.clear(p->store, &armed));
	return st;
}

static bk_status check_store_unmake(struct bk_store *store, struct bk_error *err)
{
	CONTROL(store, "store.unmake", err, store.unmake(p->store, &armed));
	return st;
}

static bk_status check_store_settle(struct bk_store *store, uint64_t timeout_ns,
				    struct bk_error *err)
{
	CONTROL(store, "store.settle", err, store.settle(p->store, timeout_ns, &armed));
	return st;
}

static bk_status check_store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	static const char op[] = "store.chill";
	uint32_t got = 0;

	if (atomic_load(&store->sessions_count))
		bk_check_die(op, "a session is open");
	CONTROL(store, op, err, store.chill(p->store, &got, &armed));
	if (st)
		return st;
	if (got != BK_CHILL_DROPPED && got != BK_CHILL_CANNOT)
		return bk_check_breach(err, op, "reached is %u, none of BK_CHILL_*", got);
	*reached = got;
	return BK_OK;
}

static bk_status check_store_inspect(struct bk_store *store, uint32_t what,
				     const struct bk_sink *sink, struct bk_error *err)
{
	bk_status st;

	control_enter(store, "store.inspect");
	st = bk_check_inspect(store, what, sink, err);
	atomic_fetch_sub(&store->in_control, 1);
	return st;
}

static bk_status check_place_create(struct bk_store *admin, struct bk_slice name,
				    struct bk_slice mark, struct bk_slice user,
				    struct bk_slice password, struct bk_slice from,
				    struct bk_error *err)
{
	CONTROL(admin, "place.create", err,
		place.create(p->store, name, mark, user, password, from, &armed));
	return st;
}

static bk_status check_place_drop(struct bk_store *admin, struct bk_slice name,
				  struct bk_slice mark, struct bk_error *err)
{
	CONTROL(admin, "place.drop", err, place.drop(p->store, name, mark, &armed));
	return st;
}

static bk_status check_place_list(struct bk_store *admin, struct bk_place *out, size_t cap,
				  size_t *n, struct bk_error *err)
{
	CONTROL(admin, "place.list", err, place.list(p->store, out, cap, n, &armed));
	return st;
}

/* ---- Session ----------------------------------------------------------- */

static bk_status check_session_open(struct bk_session **out, struct bk_store *store,
				    const struct bk_session_config *config, struct bk_error *err)
{
	static const char op[] = "session.open";
	struct bk_session *s, *inner = BK_CHECK_UNWRITTEN;
	struct bk_error armed;
	bk_status st, raw;

	if (atomic_fetch_add(&store->sessions_count, 1) && store->threads == BK_THREADS_SINGLE)
		bk_check_die(op, "a session is open, and the backend takes one at a time");
	s = calloc(1, sizeof(*s));
	if (!s)
		bk_check_die(op, "out of memory");
	bk_check_error_arm(&armed);
	raw = store->pass.next.session.open(&inner, store->pass.store, config, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	st = bk_check_handle(st, raw, inner, op, err);
	if (st) {
		atomic_fetch_sub(&store->sessions_count, 1);
		free(s);
		return st;
	}
	s->pass.next = &store->pass.next;
	s->pass.s = inner;
	s->store = store;
	s->thread = pthread_self();
	pthread_mutex_lock(&store->lock);
	s->next = store->sessions;
	store->sessions = s;
	pthread_mutex_unlock(&store->lock);
	*out = s;
	return BK_OK;
}

static bool any_open(const struct bk_session *s)
{
	return (s->cursors && s->cursors->open) || (s->writers && s->writers->open) ||
	       (s->readers && s->readers->open);
}

static void check_session_close(struct bk_session *s)
{
	static const char op[] = "session.close";

	bk_check_thread(s, op);
	if (any_open(s))
		bk_check_die(op, "a cursor, reader or writer of the session is open");
	if (!bk_check_lapse(&s->views))
		snprintf(s->breach, sizeof(s->breach),
			 "a borrowed view was changed before its session was closed");
	if (s->breach[0])
		fprintf(stderr, "bakeoff: check: the backend breaks the contract: %s\n", s->breach);
	s->closed = true;
	s->pass.next->session.close(s->pass.s);
	atomic_fetch_sub(&s->store->sessions_count, 1);
}

static void check_session_cancel(struct bk_session *s) /* [any] */
{
	if (s->closed)
		bk_check_die("session.cancel", "called on a session that is closed");
	s->pass.next->session.cancel(s->pass.s);
}

static void session_free(struct bk_session *s)
{
	struct bk_cursor *c, *c_next;
	struct bk_writer *w, *w_next;
	struct bk_reader *r, *r_next;

	for (c = s->cursors; c; c = c_next) {
		c_next = c->next;
		free(c);
	}
	for (w = s->writers; w; w = w_next) {
		w_next = w->next;
		free(w);
	}
	for (r = s->readers; r; r = r_next) {
		r_next = r->next;
		free(r);
	}
	free(s);
}

/* ---- Transactions ------------------------------------------------------ */

/* What is called in the wrong order must be answered STATE. */
static bk_status demand_state(bk_status st, bool wrong, const char *op, const char *why,
			      struct bk_error *err)
{
	if (wrong && st != BK_STATE && st != BK_INTERNAL && st != BK_UNSUPPORTED)
		return bk_check_breach(err, op, "it answers %d, not STATE, though %s", st, why);
	return st;
}

static bk_status check_txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
				 struct bk_error *err)
{
	static const char op[] = "txn.begin";
	struct bk_error armed;
	uint32_t level = *isolation;
	bk_status st = bk_check_enter(s, op, err);

	if (st)
		return st;
	bk_check_error_arm(&armed);
	st = bk_check_answer(s->pass.next->txn.begin(s->pass.s, &level, flags, &armed), &armed,
			     false, op, err);
	st = demand_state(st, s->txn == BK_TXN_OPEN, op, "a transaction is open", err);
	if (st)
		return st;
	s->txn = flags & BK_TXN_DEFER ? BK_TXN_UNKNOWN : BK_TXN_OPEN;
	if (level < BK_ISO_READ_COMMITTED || level > BK_ISO_SERIALIZABLE)
		return bk_check_breach(err, op, "the isolation in force is %u, none of BK_ISO_*",
				       level);
	if (level < *isolation)
		return bk_check_breach(err, op, "isolation %u was wanted, and %u is in force",
				       *isolation, level);
	*isolation = level;
	return BK_OK;
}

static bk_status check_txn_flush(struct bk_session *s, struct bk_error *err)
{
	static const char op[] = "txn.flush";
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err);

	if (st)
		return st;
	bk_check_error_arm(&armed);
	st = bk_check_answer(s->pass.next->txn.flush(s->pass.s, &armed), &armed, false, op, err);
	return demand_state(st, s->txn == BK_TXN_CLOSED, op, "no transaction is open", err);
}

static bk_status txn_end(struct bk_session *s, bool commit, const char *op, struct bk_error *err)
{
	const struct bk_txn_ops *txn = &s->pass.next->txn;
	bool none = s->txn == BK_TXN_CLOSED, held = any_open(s);
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err);

	if (st)
		return st;
	bk_check_error_arm(&armed);
	st = commit ? txn->commit(s->pass.s, &armed) : txn->rollback(s->pass.s, &armed);
	st = bk_check_answer(st, &armed, false, op, err);
	s->txn = BK_TXN_CLOSED; /* whatever it answers */
	return demand_state(st, none || held, op,
			    none ? "no transaction is open"
				 : "a cursor, reader or writer of the session is open",
			    err);
}

static bk_status check_txn_commit(struct bk_session *s, struct bk_error *err)
{
	return txn_end(s, true, "txn.commit", err);
}

static bk_status check_txn_rollback(struct bk_session *s, struct bk_error *err)
{
	return txn_end(s, false, "txn.rollback", err);
}

/* ---- The layer --------------------------------------------------------- */

static void check_store_close(struct bk_store *store)
{
	struct bk_session *s, *next;

	if (!store)
		return;
	control_enter(store, "store.close");
	if (atomic_load(&store->sessions_count))
		bk_check_die("store.close", "a session is open");
	for (s = store->sessions; s; s = next) {
		next = s->next;
		session_free(s);
	}
	store->pass.next.store.close(store->pass.store);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

bk_status bk_layer_check(struct bk_layered *io, struct bk_error *err)
{
	struct bk_store *store = calloc(1, sizeof(*store));
	struct bk_tables *t = &io->tables;

	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	store->pass.next = io->tables;
	store->pass.store = io->store;
	store->features = io->native | io->emulated | io->looped;
	store->threads = io->threads;
	pthread_mutex_init(&store->lock, NULL);
	t->store.close = check_store_close;
	t->store.features = check_store_features;
	t->store.make = check_store_make;
	t->store.clear = check_store_clear;
	t->store.unmake = check_store_unmake;
	t->store.inspect = check_store_inspect;
	t->store.settle = check_store_settle;
	t->store.chill = check_store_chill;
	t->session.open = check_session_open;
	t->session.close = check_session_close;
	t->session.cancel = check_session_cancel;
	t->session.counters = bk_check_counters;
	t->txn.begin = check_txn_begin;
	t->txn.flush = check_txn_flush;
	t->txn.commit = check_txn_commit;
	t->txn.rollback = check_txn_rollback;
	t->node = bk_check_node_ops;
	t->binary = bk_check_binary_ops;
	t->place.create = check_place_create;
	t->place.drop = check_place_drop;
	t->place.list = check_place_list;
	io->store = store;
	return BK_OK;
}
