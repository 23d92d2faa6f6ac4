/*
 * The lock layer: over a backend that breaks when two calls meet, many threads get on; cancel alone
 * goes past the lock.
 */
#include "unit.h"

#include "layer/layer.h"
#include "plugin/ops.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4
#define CALLS   300

/* ---- A backend that counts the calls that are in it ---------------------- */

struct bk_store {
	atomic_int inside, met, waiting;
	atomic_bool cancelled;
	long calls; /* guarded by nothing but the layer: TSan watches */
};

struct bk_session {
	struct bk_store *store;
};

struct bk_cursor {
	struct bk_store *store;
};

static void visit(struct bk_store *store)
{
	if (atomic_fetch_add(&store->inside, 1))
		atomic_store(&store->met, 1);
	store->calls++;
	if (store->calls % 64 == 0)
		usleep(100);
	atomic_fetch_sub(&store->inside, 1);
}

static bk_status fake_session_open(struct bk_session **out, struct bk_store *store,
				   const struct bk_session_config *config, struct bk_error *err)
{
	visit(store);
	*out = calloc(1, sizeof(**out));
	(*out)->store = store;
	return BK_OK;
}

static void fake_session_close(struct bk_session *s)
{
	visit(s->store);
	free(s);
}

static void fake_session_cancel(struct bk_session *s)
{
	atomic_store(&s->store->cancelled, true);
}

static bk_status fake_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			  uint32_t want, struct bk_error *err)
{
	visit(s->store);
	return bk_fail(err, BK_NOT_FOUND, 0, "not here");
}

/* Does not return until it is cancelled. */
static bk_status fake_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			  struct bk_error *err)
{
	atomic_store(&s->store->waiting, 1);
	while (!atomic_load(&s->store->cancelled))
		usleep(100);
	return bk_fail(err, BK_CANCELLED, 0, "cancelled");
}

static bk_status fake_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
				const struct bk_step *steps, size_t n_steps, uint32_t want,
				struct bk_error *err)
{
	visit(s->store);
	*out = malloc(sizeof(**out));
	(*out)->store = s->store;
	return BK_OK;
}

static bk_status fake_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
				struct bk_error *err)
{
	visit(c->store);
	return BK_END;
}

static void fake_walk_close(struct bk_cursor *c)
{
	visit(c->store);
	free(c);
}

static void fake_store_close(struct bk_store *store)
{
	free(store);
}

static struct bk_layered fake(void)
{
	struct bk_layered io;

	memset(&io, 0, sizeof(io));
	io.tables.store.close = fake_store_close;
	io.tables.session.open = fake_session_open;
	io.tables.session.close = fake_session_close;
	io.tables.session.cancel = fake_session_cancel;
	io.tables.node.get = fake_get;
	io.tables.node.put = fake_put;
	io.tables.node.walk_open = fake_walk_open;
	io.tables.node.walk_next = fake_walk_next;
	io.tables.node.walk_close = fake_walk_close;
	bk_ops_fill(&io.tables);
	io.store = calloc(1, sizeof(*io.store));
	io.threads = BK_THREADS_SERIAL;
	io.native = BK_F_NODES | BK_F_CANCEL;
	return io;
}

/* ---- Tests --------------------------------------------------------------- */

struct caller {
	struct bk_layered *io;
	pthread_t thread;
	const char *failed;
};

static void *call_often(void *ctx)
{
	struct caller *caller = ctx;
	const struct bk_tables *t = &caller->io->tables;
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_error err = bk_error_init();
	struct bk_session *s;
	struct bk_cursor *c;
	struct bk_node node;
	struct bk_hit hit;
	size_t n;
	int i;

	if (t->session.open(&s, caller->io->store, &config, &err)) {
		caller->failed = "session.open";
		return NULL;
	}
	for (i = 0; i < CALLS && !caller->failed; i++) {
		if (t->node.get(&node, s, bk_slice_str("a"), 0, &err) != BK_NOT_FOUND)
			caller->failed = "get";
		if (t->node.walk_open(&c, s, bk_slice_str("a"), NULL, 0, 0, &err))
			caller->failed = "walk_open";
		if (t->node.walk_next(c, &hit, 1, &n, &err) != BK_END)
			caller->failed = "walk_next";
		t->node.walk_close(c);
	}
	t->session.close(s);
	return NULL;
}

static void calls_do_not_meet(void **state)
{
	struct bk_layered io = fake();
	struct bk_store *inner = io.store;
	struct bk_error err = bk_error_init();
	struct caller callers[THREADS];
	int i;

	assert_int_equal(bk_layer_lock(&io, &err), BK_OK);
	assert_int_equal(io.threads, BK_THREADS_PARALLEL);
	for (i = 0; i < THREADS; i++) {
		callers[i].io = &io;
		callers[i].failed = NULL;
		pthread_create(&callers[i].thread, NULL, call_often, &callers[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(callers[i].thread, NULL);
		if (callers[i].failed)
			fail_msg("%s failed", callers[i].failed);
	}
	assert_int_equal(atomic_load(&inner->met), 0);
	assert_int_equal(inner->calls, THREADS * (2 + CALLS * 4));
	io.tables.store.close(io.store);
}

struct waiter {
	struct bk_layered *io;
	struct bk_session *session;
	bk_status status;
};

static void *wait_in_put(void *ctx)
{
	struct waiter *w = ctx;
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_error err = bk_error_init();
	struct bk_node node;

	memset(&node, 0, sizeof(node));
	w->io->tables.session.open(&w->session, w->io->store, &config, &err);
	w->status = w->io->tables.node.put(w->session, &node, BK_PUT_CREATE, &err);
	w->io->tables.session.close(w->session);
	return NULL;
}

static void cancel_goes_past_the_lock(void **state)
{
	struct bk_layered io = fake();
	struct bk_store *inner = io.store;
	struct bk_error err = bk_error_init();
	struct waiter w = {&io, NULL, BK_OK};
	pthread_t thread;

	assert_int_equal(bk_layer_lock(&io, &err), BK_OK);
	pthread_create(&thread, NULL, wait_in_put, &w);
	while (!atomic_load(&inner->waiting))
		usleep(100);
	io.tables.session.cancel(w.session);
	pthread_join(thread, NULL);
	assert_int_equal(w.status, BK_CANCELLED);
	io.tables.store.close(io.store);
}

static void stubs_stay_stubs(void **state)
{
	struct bk_layered io = fake();
	struct bk_error err = bk_error_init();

	assert_int_equal(bk_layer_lock(&io, &err), BK_OK);
	assert_int_equal(io.tables.store.settle(io.store, 0, &err), BK_UNSUPPORTED);
	assert_contains(err.message, "store.settle");
	assert_int_equal(io.tables.place.list(io.store, NULL, 0, NULL, &err), BK_UNSUPPORTED);
	io.tables.store.close(io.store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_do_not_meet),
		cmocka_unit_test(cancel_goes_past_the_lock),
		cmocka_unit_test(stubs_stay_stubs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
