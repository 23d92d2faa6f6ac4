/*
 * workers.c - see workers.h.
 *
 * The one invariant: a thread that fails ends the process, so nobody waits for it for ever.
 */
#include "conform/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct crew {
	struct bk_test *t;
	struct bk_layered *l;
	void (*fn)(struct bk_worker *w);
	void *shared;
	pthread_barrier_t ready;
};
struct member {
	struct crew *crew;
	struct bk_worker worker;
	pthread_t thread;
};

static void *member_run(void *arg)
{
	struct member *m = arg;
	struct crew *crew = m->crew;

	bk_test_enter(&m->worker.box, crew->t, crew->l, BK_DURABLE_NONE, m->worker.index, 0);
	pthread_barrier_wait(&crew->ready);
	crew->fn(&m->worker);
	bk_test_exit(&m->worker.box);
	return NULL;
}

void bk_test_workers(struct bk_test *t, struct bk_layered *l, unsigned n,
		     void (*fn)(struct bk_worker *w), void *shared)
{
	struct crew crew = {.t = t, .l = l, .fn = fn, .shared = shared};
	struct member *members = calloc(n, sizeof(*members));
	unsigned i;

	CHECK(t, members && pthread_barrier_init(&crew.ready, NULL, n) == 0, "no threads");
	for (i = 0; i < n; i++) {
		members[i].crew = &crew;
		members[i].worker.index = i;
		members[i].worker.shared = shared;
		CHECK(t, pthread_create(&members[i].thread, NULL, member_run, &members[i]) == 0,
		      "pthread_create");
	}
	for (i = 0; i < n; i++)
		pthread_join(members[i].thread, NULL);
	pthread_barrier_destroy(&crew.ready);
	free(members);
}

unsigned bk_test_worker_count(const struct bk_test *t, unsigned most)
{
	uint32_t max = t->limits.sessions_max;

	return max && max < most ? (max < 2 ? 2 : max) : most;
}

/* ---- One aside ---------------------------------------------------------------------------------
 */

struct bk_aside {
	struct bk_worker worker;
	struct bk_test *t;
	struct bk_layered *l;
	uint64_t timeout_ns;
	void (*fn)(struct bk_worker *w);
	pthread_t thread;
	pthread_barrier_t ready;
	atomic_bool done;
};

static void *aside_run(void *arg)
{
	struct bk_aside *a = arg;

	bk_test_enter(&a->worker.box, a->t, a->l, BK_DURABLE_NONE, 31, a->timeout_ns);
	pthread_barrier_wait(&a->ready);
	a->fn(&a->worker);
	bk_test_exit(&a->worker.box);
	atomic_store(&a->done, true);
	return NULL;
}

struct bk_aside *bk_test_aside(struct bk_test *t, struct bk_layered *l, uint64_t timeout_ns,
			       void (*fn)(struct bk_worker *w), void *shared)
{
	struct bk_aside *a = calloc(1, sizeof(*a));

	CHECK(t, a && pthread_barrier_init(&a->ready, NULL, 2) == 0, "no threads");
	a->t = t;
	a->l = l;
	a->timeout_ns = timeout_ns;
	a->fn = fn;
	a->worker.shared = shared;
	CHECK(t, pthread_create(&a->thread, NULL, aside_run, a) == 0, "pthread_create");
	pthread_barrier_wait(&a->ready);
	return a;
}

bool bk_test_aside_done(const struct bk_aside *aside)
{
	return atomic_load(&aside->done);
}

void bk_test_aside_join(struct bk_aside *aside)
{
	pthread_join(aside->thread, NULL);
	pthread_barrier_destroy(&aside->ready);
	free(aside);
}
