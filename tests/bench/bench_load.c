/*
 * bench_load.c - what the harness costs an operation: the load loop over `null`, clock and
 * histogram included.
 */
#include "bench.h"

#include "layer/layer.h"
#include "load/load.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPERATIONS 4000000u
#define TURNS      7

struct loop {
	struct bench_store store;
	struct worker {
		const struct loop *loop;
		struct bk_session *session;
	} workers[64];
};

static bk_status loop_start(void *ctx, uint32_t number, void **state, struct bk_error *err)
{
	struct loop *l = ctx;
	struct worker *w = &l->workers[number];
	struct bk_session_config config = {.struct_size = sizeof(config), .worker = number};

	w->loop = l;
	*state = w;
	return l->store.io->tables.session.open(&w->session, l->store.io->store, &config, err);
}

static void loop_stop(void *state)
{
	struct worker *w = state;

	w->loop->store.io->tables.session.close(w->session);
}

static bk_status loop_op(void *state, uint64_t index, struct bk_error *err)
{
	struct worker *w = state;
	struct bk_node node = {0};

	node.id = bk_slice_of(&index, sizeof(index));
	node.path = node.id;
	return w->loop->store.io->tables.node.put(w->session, &node, BK_PUT_UPSERT, err);
}

/* Nanoseconds an operation and worker, the median of the turns. */
static double loop_ns(uint32_t workers, bool pair)
{
	struct loop l = {0};
	struct bk_error err = bk_error_init();
	double turns[TURNS];
	int i;

	bench_open(&l.store, "null", BK_DURABLE_NONE, NULL);
	for (i = 0; i < TURNS; i++) {
		struct bk_load_plan plan = {
			.workers = workers,
			.total = (uint64_t)OPERATIONS * workers,
			.ctx = &l,
			.start = loop_start,
			.op = loop_op,
			.stop = loop_stop,
			.pair_clock = pair,
		};
		struct bk_load_result r;

		bench_check(bk_load_run(&r, &plan, &err), "load loop", &err);
		turns[i] = (double)r.last_done_ns / OPERATIONS;
		bk_load_result_free(&r);
	}
	bench_close(&l.store);
	return bench_median(turns, TURNS);
}

static double chained(void)
{
	return loop_ns(1, false);
}

static double pair(void)
{
	return loop_ns(1, true);
}

/* All cores busy against one, an operation and worker. */
static double all_cores(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	double one = loop_ns(1, false);

	return loop_ns((uint32_t)(cores > 64 ? 64 : cores), false) / one;
}

int main(int argc, char **argv)
{
	static const struct bench list[] = {
		{"load_chained_ns", 50, false, chained},
		{"load_pair_ns", 80, false, pair},
		{"load_all_cores_ratio", 1.1, false, all_cores},
	};

	return bench_main(argc, argv, list, sizeof(list) / sizeof(list[0]));
}
