/*
 * bench_layers.c - what a layer costs: a call through it to `null` against a direct one.
 */
#include "bench.h"

#include "layer/layer.h"

#include <bakeoff/backend_util.h>

#define CALLS 200000
#define TURNS 41

static double put_ns(const struct bk_tables *t, struct bk_session *s)
{
	struct bk_node node = {.id = bk_slice_str("id"), .path = bk_slice_str("path")};
	struct bk_error err = bk_error_init();
	double start = bench_now_ns();
	int i;

	for (i = 0; i < CALLS; i++)
		bench_check(t->node.put(s, &node, BK_PUT_UPSERT, &err), "put", &err);
	return (bench_now_ns() - start) / CALLS;
}

static struct bk_session *session_of(const struct bk_tables *t, struct bk_store *store)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_error err = bk_error_init();
	struct bk_session *s;

	bench_check(t->session.open(&s, store, &config, &err), "session", &err);
	return s;
}

/* The layers are put on one more time, over the store that is open; the difference is theirs. */
static double layered_ns(bk_status (*add)(struct bk_layered *io, struct bk_error *err))
{
	struct bk_error err = bk_error_init();
	struct bk_session *direct_s, *layered_s;
	const struct bk_tables *direct;
	struct bench_store b;
	struct bk_layered io;
	double differences[TURNS];
	int i;

	bench_open(&b, "null", BK_DURABLE_NONE, NULL);
	direct = &b.plugin->tables;
	io = *b.io;
	bench_check(add(&io, &err), "layer", &err);
	direct_s = session_of(direct, b.io->store);
	layered_s = session_of(&io.tables, io.store);
	for (i = 0; i < TURNS; i++) {
		double plain = put_ns(direct, direct_s);

		differences[i] = put_ns(&io.tables, layered_s) - plain;
	}
	direct->session.close(direct_s);
	io.tables.session.close(layered_s);
	if (io.store != b.io->store) { /* the layer's store closes the one beneath */
		b.io->store = io.store;
		b.io->tables = io.tables;
	}
	bench_close(&b);
	return bench_median(differences, TURNS);
}

static bk_status add_nothing(struct bk_layered *io, struct bk_error *err)
{
	return BK_OK;
}

static bk_status add_loop(struct bk_layered *io, struct bk_error *err)
{
	io->native &= ~BK_F_GET_MANY; /* so that the layer has something to do */
	return bk_layer_loop(io, err);
}

static double opened_ns(void)
{
	return layered_ns(add_nothing);
}

static double loop_ns(void)
{
	return layered_ns(add_loop);
}

static double lock_ns(void)
{
	return layered_ns(bk_layer_lock);
}

static const struct bench list[] = {
	{"layers_null_ns", 10, false, opened_ns}, /* as a run opens it */
	{"layers_loop_ns", 10, false, loop_ns},   /* over a backend that lacks a batched call */
	{"layers_lock_ns", 60, false, lock_ns},   /* over one that takes one call at a time */
};

int main(int argc, char **argv)
{
	return bench_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
