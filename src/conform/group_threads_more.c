/*
 * group_threads_more.c - stores and binaries side by side, walks under fire, cancel, time-outs.
 *
 * The one invariant: a call that is cut short says so (CANCELLED, TIMEOUT) or has done its work.
 */
#include "conform/contents.h"
#include "conform/txns.h"
#include "conform/workers.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Two stores ---------------------------------------------------------------------------------
 */

static void one_store(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	const char *tag = w->shared;
	int i;

	for (i = 0; i < 10; i++) {
		bk_fill(b, bk_arena_printf(&b->arena, "%s%d", tag, i));
		if (i == 0)
			bk_filled(b, AT, bk_arena_printf(&b->arena, "%s0", tag));
	}
}

static void two_stores(struct bk_test *t)
{
	struct bk_layered *l[2];
	struct bk_aside *aside[2];
	char tags[2][2] = {"a", "b"};
	int i, k;

	for (i = 0; i < 2; i++) {
		l[i] = bk_test_open(t, i ? BK_SPACE_B : BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
		WANT(t, BK_OK, l[i]->tables.store.make(l[i]->store, E));
	}
	for (i = 0; i < 2; i++)
		aside[i] = bk_test_aside(t, l[i], 0, one_store, tags[i]);
	for (i = 0; i < 2; i++)
		bk_test_aside_join(aside[i]);
	for (i = 0; i < 2; i++) {
		struct bk_box *b = bk_test_join(t, l[i], BK_DURABLE_NONE);

		for (k = 0; k < 10 && (t->own & BK_F_NODES); k++) {
			struct bk_slice id;

			FIND(b, BK_OK, &id, bk_path_named(b, "%s%d%d", tags[i], k, 7));
			FIND(b, BK_NOT_FOUND, &id, bk_path_named(b, "%s%d%d", tags[!i], k, 7));
		}
	}
}

/* ---- Walks under fire
 * ---------------------------------------------------------------------------- */

struct fire {
	atomic_bool cease;
	atomic_uint rounds;
};

static void keep_writing(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct fire *fire = w->shared;
	unsigned i;

	for (i = 0; !atomic_load(&fire->cease) && i < 3000; i++) {
		struct bk_node kid = bk_node_named(b, "new%u", i);
		bk_status st;

		kid.parent = bk_id_named(b, "top");
		bk_node_link(b, &kid, "r>top");
		ANY(b->t, st, b->ops->node.put(b->s, &kid, BK_PUT_CREATE, E));
		CHECK(b->t, st == BK_OK || st == BK_CONFLICT, "put: %s", bk_test_status_name(st));
		if (i >= 20) {
			ANY(b->t, st,
			    b->ops->node.remove(b->s, bk_id_named(b, "new%u", i - 20), E));
			CHECK(b->t, st == BK_OK || st == BK_CONFLICT || st == BK_NOT_FOUND,
			      "remove: %s", bk_test_status_name(st));
		}
		atomic_fetch_add(&fire->rounds, 1);
	}
}

static void steady_kids_once(struct bk_box *b, const struct bk_hits *hits, unsigned n)
{
	unsigned char seen[400] = {0};
	size_t i;
	unsigned k;

	for (i = 0; i < hits->count; i++) {
		const char *text = bk_arena_printf(&b->arena, "%.*s", (int)hits->at[i].id.len,
						   (const char *)hits->at[i].id.data);

		if (sscanf(text[0] == '/' ? text + 1 : text, "kid%u", &k) != 1 || k >= n)
			continue;
		CHECK(b->t, !seen[k], "kid%u comes twice", k);
		seen[k] = 1;
	}
	for (k = 0; k < n; k++)
		CHECK(b->t, seen[k], "kid%u was there all the time and did not come", k);
}

static void walks_under_fire(struct bk_test *t)
{
	enum { KIDS = 400 };
	struct bk_box *b = bk_test_box(t);
	struct bk_step steps[2] = {bk_children(), bk_in("r")};
	struct fire fire = {false, 0};
	struct bk_aside *aside;
	struct bk_hits hits;
	int i;

	TARGETS(b, "top");
	for (i = 0; i < KIDS; i++) {
		struct bk_node kid = bk_node_named(b, "kid%d", i);

		kid.parent = bk_id_named(b, "top");
		bk_node_link(b, &kid, "r>top");
		CREATE(b, &kid);
	}
	aside = bk_test_aside(t, b->l, 0, keep_writing, &fire);
	for (i = 0; i < 12; i++) {
		WALK(b, &hits, bk_id_named(b, "top"), &steps[i % 2], 1, 0, i < 6 ? 11 : 200);
		steady_kids_once(b, &hits, KIDS);
	}
	atomic_store(&fire.cease, true);
	bk_test_aside_join(aside);
}

/* ---- Binaries
 * --------------------------------------------------------------------------------------- */

static void same_key(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	int i;

	for (i = 0; i < 8; i++) {
		struct bk_writer *wr =
			WRITE_OPEN(b, bk_slice_str("shared"), BK_SIZE_UNKNOWN, BK_PUT_UPSERT);
		bk_status st;
		struct bk_binary_info info = {.struct_size = sizeof(info)};

		WRITE(b, wr, w->index, 0, 200000);
		WANT_IN(b->t, TWO(BK_OK, BK_CONFLICT), UINT64_MAX, st,
			b->ops->binary.finish(wr, &info, E));
		STORE(b, bk_test_printf(&b->arena, "own%u-%d", w->index, i), w->index, 5000);
	}
}

static void binaries_together(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	unsigned n = bk_test_worker_count(t, 4), k, matches = 0;
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_reader *r = NULL;
	char got[256], want[256];
	size_t len = 0;
	int i;

	bk_test_workers(t, b->l, n, same_key, NULL);
	for (k = 0; k < n; k++) {
		for (i = 0; i < 8; i++)
			BINARY(b, bk_test_printf(&b->arena, "own%u-%d", k, i), k, 5000);
	}
	WANT(t, BK_OK,
	     b->ops->binary.read_open(&r, b->s, bk_slice_str("shared"), 0, 256, &info, E));
	WANT(t, BK_OK, b->ops->binary.read(r, got, sizeof(got), &len, E));
	b->ops->binary.read_close(r);
	for (k = 0; k < n; k++) { /* the whole of it is of one writer */
		bk_content_fill(want, k, 0, len);
		if (memcmp(want, got, len) == 0) {
			BINARY(b, bk_slice_str("shared"), k, 200000);
			matches++;
		}
	}
	CHECK(t, matches == 1, "the shared binary is of none of its writers");
}

static void create_key(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	atomic_int *winners = w->shared;
	int i;

	for (i = 0; i < 15; i++) {
		struct bk_slice key = bk_test_printf(&b->arena, "race%d", i);
		struct bk_binary_info info = {.struct_size = sizeof(info)};
		struct bk_writer *wr = WRITE_OPEN(b, key, 3000, BK_PUT_CREATE);
		bk_status st;

		WRITE(b, wr, w->index, 0, 3000);
		WANT_IN(b->t, THREE(BK_OK, BK_EXISTS, BK_CONFLICT), UINT64_MAX, st,
			b->ops->binary.finish(wr, &info, E));
		if (st == BK_OK)
			atomic_fetch_add(&winners[i], 1);
	}
}

static void unique_key(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	atomic_int winners[15];
	int i;

	for (i = 0; i < 15; i++)
		atomic_init(&winners[i], 0);
	bk_test_workers(t, b->l, bk_test_worker_count(t, 4), create_key, winners);
	for (i = 0; i < 15; i++)
		CHECK(t, winners[i] == 1, "race %d has %d winners, should be one", i,
		      (int)winners[i]);
}

/* ---- Cut short
 * ----------------------------------------------------------------------------------------- */

struct target {
	_Atomic(struct bk_session *) s;
	const struct bk_tables *ops;
	atomic_bool done;
};

static void *keep_cancelling(void *arg)
{
	struct target *target = arg;

	while (!atomic_load(&target->done)) {
		target->ops->session.cancel(atomic_load(&target->s));
		bk_test_sleep_ms(1);
	}
	return NULL;
}

static void cancel(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct target target = {b->s, b->ops, false};
	struct bk_node node, got;
	pthread_t thread;
	bk_status st;
	int i;

	CHECK(t, pthread_create(&thread, NULL, keep_cancelling, &target) == 0, "pthread_create");
	for (i = 0; i < 300; i++) {
		node = bk_node_named(b, "n%d", i);
		ANY(t, st, b->ops->node.put(b->s, &node, BK_PUT_UPSERT, E));
		CHECK(t, st == BK_OK || st == BK_CANCELLED, "put: %s", bk_test_status_name(st));
		if (st != BK_OK)
			continue;
		ANY(t, st, b->ops->node.get(&got, b->s, node.id, BK_WANT_ALL, E));
		CHECK(t, st == BK_OK || st == BK_CANCELLED, "get: %s", bk_test_status_name(st));
	}
	atomic_store(&target.done, true);
	pthread_join(thread, NULL);
	bk_fill(bk_test_join(t, b->l, BK_DURABLE_NONE), "after");
}

/* One nanosecond is no time at all: a call may be quicker than its clock, but not say anything
 * else. */
static void hurry(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct bk_node node, got;
	bk_status st;
	int i;

	for (i = 0; i < 20; i++) {
		node = bk_node_named(b, "n%d", i);
		ANY(b->t, st, b->ops->node.put(b->s, &node, BK_PUT_UPSERT, E));
		if (st == BK_UNAVAILABLE)
			return; /* it had to give the connection up */
		CHECK(b->t, st == BK_OK || st == BK_TIMEOUT, "put: %s", bk_test_status_name(st));
		ANY(b->t, st, b->ops->node.get(&got, b->s, node.id, 0, E));
		if (st == BK_UNAVAILABLE)
			return;
		CHECK(b->t, st == BK_OK || st == BK_TIMEOUT || st == BK_NOT_FOUND, "get: %s",
		      bk_test_status_name(st));
	}
}

static void timeout_short(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	bk_test_aside_join(bk_test_aside(t, b->l, 1, hurry, NULL));
	bk_fill(b, "after");
	bk_filled(b, AT, "after");
}

struct waiting {
	bk_status st;
	uint64_t took_ns;
};

static void wait_for_lock(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct waiting *waiting = w->shared;
	struct bk_node node = bk_node_named(b, "n");
	uint64_t start = bk_test_now_ns();

	node.doc = bk_slice_str("theirs");
	ANY(b->t, waiting->st, b->ops->node.put(b->s, &node, BK_PUT_REPLACE, E));
	waiting->took_ns = bk_test_now_ns() - start;
}

static void timeout_of_lock(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n");
	struct waiting waiting = {BK_OK, 0};

	CREATE(b, &node);
	BEGIN(b);
	node.doc = bk_slice_str("ours");
	PUT(b, BK_OK, &node, BK_PUT_REPLACE);
	bk_test_aside_join(bk_test_aside(t, b->l, 300000000, wait_for_lock, &waiting));
	CHECK(t, waiting.took_ns < UINT64_C(5000000000) * t->slow,
	      "a call with a time-out of 300 ms took %llu ms",
	      (unsigned long long)(waiting.took_ns / 1000000));
	CHECK(t, waiting.st == BK_OK || waiting.st == BK_TIMEOUT || waiting.st == BK_CONFLICT,
	      "put: %s", bk_test_status_name(waiting.st));
	ROLLBACK(b);
}

static const struct bk_case cases[] = {
	{"two-stores", "two stores filled at once from two threads", two_stores,
	 .flags = BK_CASE_THREADS},
	{"walks-under-fire", "walks while another thread writes: what stays comes once",
	 walks_under_fire, .needs = BK_F_NODES, .flags = BK_CASE_THREADS},
	{"binaries-together", "four writers of one key: the binary is of one of them",
	 binaries_together, .needs = BK_F_BINARIES, .flags = BK_CASE_THREADS},
	{"unique-key", "of four creates of one key exactly one wins", unique_key,
	 .own = BK_F_BINARY_CREATE, .flags = BK_CASE_THREADS},
	{"cancel", "cancel at any time: CANCELLED or done", cancel, .needs = BK_F_NODES,
	 .own = BK_F_CANCEL},
	{"timeout-short", "a time-out of 1 ns: TIMEOUT or done", timeout_short, .needs = BK_F_NODES,
	 .own = BK_F_TIMEOUT, .flags = BK_CASE_THREADS},
	{"timeout-of-lock", "a call that waits for another's transaction ends in time",
	 timeout_of_lock, .needs = BK_F_NODES, .own = BK_F_TIMEOUT | BK_F_TXN,
	 .flags = BK_CASE_THREADS},
	{.name = NULL},
};

const struct bk_group bk_group_threads_more = {"threads", cases};
