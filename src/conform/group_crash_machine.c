/*
 * group_crash_machine.c - durability `machine`: each acknowledged commit was synced; and kills
 * during clear and unmake.
 *
 * The one invariant: syncs are counted where they are made: in this process for an embedded store,
 * by the server's own counter (durability.syncs of inspect) for any other.
 */
#include "conform/apart.h"
#include "conform/contents.h"
#include "conform/crashes.h"
#include "conform/folder.h"
#include "conform/sink.h"
#include "conform/syncs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMITS 20
#define COUNTER "durability.syncs"

/* ---- Counting ---------------------------------------------------------------------------------
 */

static uint64_t server_syncs(struct bk_box *b)
{
	const struct bk_said *said;
	struct bk_record record;

	bk_record_init(&record, &b->arena);
	b->ops->session.counters(b->s, &record.sink); /* hands over what it has not told yet */
	bk_record_init(&record, &b->arena);
	WANT(b->t, BK_OK,
	     b->l->tables.store.inspect(b->l->store, BK_INSPECT_COUNTERS, &record.sink, E));
	said = bk_record_find(&record, COUNTER);
	if (!said)
		bk_test_skip(b->t, "publishes no counter " COUNTER);
	return said->value;
}

/* Every commit of an embedded store needs a sync of its own: nobody else commits here. */
static void count_here(struct bk_test *t,
		       bk_status (*step)(struct bk_box *b, unsigned i, struct bk_error *err))
{
	struct bk_syncs *syncs = bk_syncs_start(t);
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_MACHINE, BK_OPEN_CHECK);
	struct bk_error err = bk_error_init();
	unsigned i;

	for (i = 0; i < COMMITS; i++) {
		uint64_t before = bk_syncs_count(syncs), after;
		bk_status st = step(b, i, &err);

		after = bk_syncs_count(syncs);
		CHECK(t, st == BK_OK, "commit %u: %s: %s", i, bk_test_status_name(st), err.message);
		CHECK(t, after > before, "commit %u was acknowledged without a sync", i);
	}
	bk_test_note(t, "%u commits, %llu syncs", COMMITS,
		     (unsigned long long)bk_syncs_count(syncs));
}

static void count_there(struct bk_test *t,
			bk_status (*step)(struct bk_box *b, unsigned i, struct bk_error *err))
{
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_MACHINE, BK_OPEN_CHECK);
	struct bk_error err = bk_error_init();
	uint64_t before = server_syncs(b), after;
	unsigned i;

	for (i = 0; i < COMMITS; i++) {
		bk_status st = step(b, i, &err);

		CHECK(t, st == BK_OK, "commit %u: %s: %s", i, bk_test_status_name(st), err.message);
	}
	after = server_syncs(b);
	CHECK(t, after >= before + COMMITS, "%u commits were acknowledged with %llu syncs", COMMITS,
	      (unsigned long long)(after - before));
}

/* A few commits' worth of preparation first, which the steps then work on. */
static void prepare(struct bk_test *t)
{
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	unsigned i;

	for (i = 0; i < COMMITS && (t->own & BK_F_NODES); i++) {
		struct bk_node node = bk_node_named(b, "old%u", i);

		bk_node_link(b, &node, "r>hub");
		CREATE(b, &node);
	}
	for (i = 0; i < COMMITS && (t->own & BK_F_BINARIES); i++)
		STORE(b, bk_test_printf(&b->arena, "old%u", i), i, 1000);
	bk_test_shut_box(b);
}

static void counted(struct bk_test *t,
		    bk_status (*step)(struct bk_box *b, unsigned i, struct bk_error *err))
{
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_MACHINE, BK_OPEN_CHECK);

	bk_test_shut_box(b);
	prepare(t);
	if (bk_options_flagged(t->options, BK_OPTF_FOLDER))
		count_here(t, step);
	else
		count_there(t, step);
}

/* ---- Commits ------------------------------------------------------------------------------------
 */

static bk_status put_step(struct bk_box *b, unsigned i, struct bk_error *err)
{
	struct bk_node node = bk_node_named(b, "new%u", i);

	node.doc = bk_test_bytes(&b->arena, i, 500);
	bk_node_link(b, &node, "r>hub");
	return b->ops->node.put(b->s, &node, i % 2 ? BK_PUT_CREATE : BK_PUT_UPSERT, err);
}

static bk_status batch_step(struct bk_box *b, unsigned i, struct bk_error *err)
{
	struct bk_node nodes[3];
	unsigned k;

	for (k = 0; k < 3; k++)
		nodes[k] = bk_node_named(b, "new%u-%u", i, k);
	return b->ops->node.put_many(b->s, nodes, 3, BK_PUT_CREATE, err);
}

static bk_status replace_step(struct bk_box *b, unsigned i, struct bk_error *err)
{
	struct bk_node node = bk_node_named(b, "old%u", i);

	node.doc = bk_slice_str("replaced");
	return b->ops->node.put(b->s, &node, BK_PUT_REPLACE, err);
}

static bk_status append_step(struct bk_box *b, unsigned i, struct bk_error *err)
{
	return b->ops->node.append(b->s, bk_id_named(b, "old%u", i), bk_slice_str("tail"), NULL, 0,
				   err);
}

static bk_status remove_step(struct bk_box *b, unsigned i, struct bk_error *err)
{
	return b->ops->node.remove(b->s, bk_id_named(b, "old%u", i), err);
}

static bk_status txn_step(struct bk_box *b, unsigned i, struct bk_error *err)
{
	struct bk_node node = bk_node_named(b, "new%u", i), old = bk_node_named(b, "old%u", i);
	uint32_t isolation = 0;
	bk_status st = b->ops->txn.begin(b->s, &isolation, 0, err);

	if (st == BK_OK)
		st = b->ops->node.put(b->s, &node, BK_PUT_CREATE, err);
	if (st == BK_OK)
		st = b->ops->node.put(b->s, &old, BK_PUT_REPLACE, err);
	return st == BK_OK ? b->ops->txn.commit(b->s, err) : st;
}

static bk_status blob_step(struct bk_box *b, unsigned i, struct bk_error *err)
{
	struct bk_slice key = bk_test_printf(&b->arena, "%s%u", i % 2 ? "old" : "new", i);
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w = NULL;
	bk_status st = b->ops->binary.write_open(&w, b->s, key, 4, BK_PUT_UPSERT, err);

	if (st == BK_OK)
		st = b->ops->binary.write(w, "data", 4, err);
	return st == BK_OK ? b->ops->binary.finish(w, &info, err) : st;
}

static bk_status blob_remove_step(struct bk_box *b, unsigned i, struct bk_error *err)
{
	return b->ops->binary.remove(b->s, bk_test_printf(&b->arena, "old%u", i), err);
}

static void machine_put(struct bk_test *t)
{
	counted(t, put_step);
}

static void machine_batch(struct bk_test *t)
{
	counted(t, batch_step);
}

static void machine_replace(struct bk_test *t)
{
	counted(t, replace_step);
}

static void machine_append(struct bk_test *t)
{
	counted(t, append_step);
}

static void machine_remove(struct bk_test *t)
{
	counted(t, remove_step);
}

static void machine_txn(struct bk_test *t)
{
	counted(t, txn_step);
}

static void machine_binary(struct bk_test *t)
{
	counted(t, blob_step);
}

static void machine_binary_remove(struct bk_test *t)
{
	counted(t, blob_remove_step);
}

/* ---- Clear and unmake cut short
 * ------------------------------------------------------------------------ */

static void control_and_die(struct bk_test *t, bool unmake, uint64_t after_us)
{
	pid_t pid = fork();
	int status;

	CHECK(t, pid >= 0, "fork: %s", strerror(errno));
	if (pid == 0) {
		struct bk_error err = bk_error_init();
		struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_PROCESS, BK_BARE);

		if (unmake)
			l->tables.store.unmake(l->store, &err);
		else
			l->tables.store.clear(l->store, &err);
		_exit(0);
	}
	usleep((useconds_t)after_us);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void fill_two(struct bk_test *t, void *ctx)
{
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_PROCESS, BK_OPEN_CHECK);

	bk_fill(b, "n");
	bk_fill(b, "m");
	bk_test_shut_box(b);
}

static void end_the_rest(struct bk_test *t, void *ctx)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	const bool *unmake = ctx;
	struct bk_box *b;

	if (*unmake) {
		bk_status st;

		WANT_IN(t, TWO(BK_OK, BK_NOT_FOUND), UINT64_MAX, st,
			l->tables.store.unmake(l->store, E));
		CHECK(t, !t->folder || bk_folder_entries(t, t->folder) == 0,
		      "unmake after half of unmake left: %s", bk_folder_picture(t, t->folder));
		WANT(t, BK_OK, l->tables.store.make(l->store, E));
	} else {
		WANT(t, BK_OK, l->tables.store.clear(l->store, E));
	}
	b = bk_test_join(t, l, BK_DURABLE_PROCESS);
	bk_empty(b, AT, "n");
	bk_empty(b, AT, "m");
	bk_fill(b, "k");
	bk_filled(b, AT, "k");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.clear(l->store, E));
	bk_test_shut(t, l);
}

static void cut_short(struct bk_test *t, bool unmake)
{
	struct bk_rng rng;
	int i;

	bk_rng_init(&rng, t->seed);
	for (i = 0; i < 6; i++) {
		bk_test_apart(t, fill_two, NULL);
		control_and_die(t, unmake, bk_rng_below(&rng, 8000 * t->slow));
		bk_test_apart(t, end_the_rest, &unmake);
	}
}

static void half_cleared(struct bk_test *t)
{
	cut_short(t, false);
}

static void half_unmade(struct bk_test *t)
{
	cut_short(t, true);
}

#define NODE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}

static const struct bk_case cases[] = {
	NODE("machine-put", machine_put, "at machine each put is synced before it is acknowledged"),
	NODE("machine-batch", machine_batch, "at machine each batch is synced"),
	NODE("machine-replace", machine_replace, "at machine each replacement is synced"),
	NODE("machine-append", machine_append, "at machine each append is synced"),
	NODE("machine-remove", machine_remove, "at machine each remove is synced"),
	{"machine-txn", "at machine each commit is synced", machine_txn, .needs = BK_F_NODES,
	 .own = BK_F_TXN},
	{"machine-binary", "at machine each binary is synced", machine_binary,
	 .needs = BK_F_BINARIES},
	{"machine-binary-remove", "at machine each remove of a binary is synced",
	 machine_binary_remove, .needs = BK_F_BINARIES},
	{"half-cleared", "a kill during clear; clear again", half_cleared},
	{"half-unmade", "a kill during unmake; unmake again", half_unmade},
	{.name = NULL},
};

const struct bk_group bk_group_crash_machine = {"crash", cases};
