/*
 * group_txn_more.c - deferred writes, binaries in transactions, two sessions at once.
 *
 * The one invariant: what another session does while a transaction is open is done by a thread of
 * its own, since the store may make it wait.
 */
#include "conform/binaries.h"
#include "conform/txns.h"
#include "conform/workers.h"

#include <stdlib.h>

static struct bk_node sample(struct bk_box *b, const char *name)
{
	struct bk_node node = bk_node_named(b, "%s", name);

	node.doc = bk_test_printf(&b->arena, "the document of %s", name);
	return node;
}

/* ---- Deferred ------------------------------------------------------------------------------- */

static void defer_plain(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node;
	int i;

	bk_t_begin(b, AT, BK_TXN_DEFER);
	for (i = 0; i < 200; i++) {
		node = sample(b, bk_arena_printf(&b->arena, "n%d", i));
		CREATE(b, &node);
		if (i % 50 == 49)
			WANT(t, BK_OK, b->ops->txn.flush(b->s, E));
		if (i % 70 == 69)
			SAME(b, &node); /* a read waits for the writes before it */
	}
	COMMIT(b);
	for (i = 0; i < 200; i += 7) {
		node = sample(b, bk_arena_printf(&b->arena, "n%d", i));
		SAME(b, &node);
	}
}

enum defer_end { BY_FLUSH, BY_COMMIT, BY_GET };

/* Writes 0 to 9, of which 4 fails.  It may say so at once, or at the call that waits. */
static bk_status defer_writes(struct bk_box *b, struct bk_error *err, bool *at_once)
{
	struct bk_node node;
	bk_status st;
	int i;

	for (i = 0; i < 10; i++) {
		node = sample(b, bk_arena_printf(&b->arena, "%s%d", i == 4 ? "taken" : "n", i));
		bk_test_arm(err);
		st = b->ops->node.put(b->s, &node, BK_PUT_CREATE, err);
		if (st != BK_OK) {
			*at_once = i == 4;
			return st;
		}
	}
	*at_once = false;
	return BK_OK;
}

static void defer_failure(struct bk_test *t, enum defer_end how)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	struct bk_node taken = sample(b, "taken4"), first = sample(b, "n0"), got;
	struct bk_error err;
	bool at_once;
	bk_status st;

	taken.doc = bk_slice_str("was here before");
	CREATE(b, &taken);
	bk_t_begin(b, AT, BK_TXN_DEFER);
	st = defer_writes(b, &err, &at_once);
	if (st == BK_OK) {
		bk_test_arm(&err);
		if (how == BY_FLUSH)
			st = b->ops->txn.flush(b->s, &err);
		else if (how == BY_COMMIT)
			st = b->ops->txn.commit(b->s, &err);
		else
			st = b->ops->node.get(&got, b->s, first.id, 0, &err);
		bk_test_status(t, AT, "the call that waits", ONE(BK_EXISTS), st, 4, &err);
		WANT(t, BK_STATE, b->ops->txn.rollback(b->s, E)); /* it has ended */
	} else if (at_once) {
		bk_test_status(t, AT, "put", ONE(BK_EXISTS), st, BK_ITEM_ANY, &err);
		ROLLBACK(b);
	} else { /* at a later write: that is a call which had to wait */
		bk_test_status(t, AT, "a later put", ONE(BK_EXISTS), st, 4, &err);
		WANT(t, BK_STATE, b->ops->txn.rollback(b->s, E));
	}
	GONE(b, &first);
	SAME(b, &taken);
	BEGIN(b);
	CREATE(b, &first);
	COMMIT(b);
	SAME(b, &first);
}

static void defer_fails_at_flush(struct bk_test *t)
{
	defer_failure(t, BY_FLUSH);
}

static void defer_fails_at_commit(struct bk_test *t)
{
	defer_failure(t, BY_COMMIT);
}

static void defer_fails_at_get(struct bk_test *t)
{
	defer_failure(t, BY_GET);
}

static void flush_plain(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n");

	BEGIN(b);
	WANT(t, BK_OK, b->ops->txn.flush(b->s, E));
	CREATE(b, &node);
	WANT(t, BK_OK, b->ops->txn.flush(b->s, E));
	ROLLBACK(b);
	GONE(b, &node);
}

/* ---- Binaries ---------------------------------------------------------------------------------
 */

static void binaries_take_part(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice old = bk_slice_str("old"), fresh = bk_slice_str("fresh"),
			gone = bk_slice_str("gone");

	STORE(b, old, 1, 1000);
	STORE(b, gone, 2, 10);
	BEGIN(b);
	STORE(b, fresh, 3, 70000);
	STORE(b, old, 4, 2000);
	bk_t_binary_remove(b, AT, gone, BK_OK);
	BINARY(b, fresh, 3, 70000);
	ROLLBACK(b);
	NO_BINARY(b, fresh);
	BINARY(b, old, 1, 1000);
	BINARY(b, gone, 2, 10);
	BEGIN(b);
	STORE(b, fresh, 3, 70000);
	STORE(b, old, 4, 2000);
	bk_t_binary_remove(b, AT, gone, BK_OK);
	COMMIT(b);
	BINARY(b, fresh, 3, 70000);
	BINARY(b, old, 4, 2000);
	NO_BINARY(b, gone);
}

/* ---- Two sessions -------------------------------------------------------------------------------
 */

/* What an open transaction wrote is not seen: the other one waits, or sees what was before. */
static void look_for_dirt(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct bk_node dirty = sample(b, "dirty"), got;
	struct bk_slice old = bk_id_named(b, "old");
	bk_status st;

	ANY(b->t, st, b->ops->node.get(&got, b->s, dirty.id, 0, E));
	CHECK(b->t, st == BK_NOT_FOUND || st == BK_CONFLICT || st == BK_TIMEOUT,
	      "a node of an open transaction is seen by others: %s", bk_test_status_name(st));
	ANY(b->t, st, b->ops->node.get(&got, b->s, old, BK_WANT_DOC, E));
	CHECK(b->t, st != BK_OK || bk_slice_eq(got.doc, bk_slice_str("the document of old")),
	      "a document of an open transaction is seen by others");
}

static void no_dirty_read(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node old = sample(b, "old"), dirty = sample(b, "dirty");
	struct bk_aside *aside;
	int i;

	CREATE(b, &old);
	BEGIN(b);
	CREATE(b, &dirty);
	old.doc = bk_slice_str("dirty");
	PUT(b, BK_OK, &old, BK_PUT_REPLACE);
	aside = bk_test_aside(t, b->l, 0, look_for_dirt, NULL);
	for (i = 0; i < 100 && !bk_test_aside_done(aside); i++)
		bk_test_sleep_ms(5);
	ROLLBACK(b);
	bk_test_aside_join(aside);
	GONE(b, &dirty);
}

static void replace_old(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct bk_node old = sample(b, "old");
	bk_status st;

	old.doc = bk_slice_str("changed meanwhile");
	ANY(b->t, st, b->ops->node.put(b->s, &old, BK_PUT_REPLACE, E));
	CHECK(b->t, st == BK_OK || st == BK_CONFLICT || st == BK_TIMEOUT, "put: %s",
	      bk_test_status_name(st));
}

static void repeatable_read(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node old = sample(b, "old"), got;
	struct bk_aside *aside;
	bk_status st;
	int i;

	CREATE(b, &old);
	if (!bk_t_begin_at(b, AT, BK_ISO_REPEATABLE_READ, 0))
		bk_test_skip(t, "does not offer isolation repeatable read");
	SAME(b, &old);
	aside = bk_test_aside(t, b->l, 0, replace_old, NULL);
	for (i = 0; i < 60 && !bk_test_aside_done(aside); i++)
		bk_test_sleep_ms(5);
	ANY(t, st, b->ops->node.get(&got, b->s, old.id, BK_WANT_DOC, E));
	CHECK(t, st == BK_OK || st == BK_CONFLICT, "the second read: %s", bk_test_status_name(st));
	CHECK(t, st != BK_OK || bk_slice_eq(got.doc, old.doc),
	      "a second read in one transaction gives another document");
	ANY(t, st, b->ops->txn.rollback(b->s, E));
	bk_test_aside_join(aside);
}

#define ROUNDS 12

struct tally {
	uint32_t isolation;
};

static bk_status read_number(struct bk_box *b, long *out, struct bk_error *err)
{
	struct bk_node got;
	bk_status st = b->ops->node.get(&got, b->s, bk_id_named(b, "counter"), BK_WANT_DOC, err);

	if (st == BK_OK)
		*out = atol(bk_arena_printf(&b->arena, "%.*s", (int)got.doc.len,
					    (const char *)got.doc.data));
	return st;
}

static bk_status write_number(struct bk_box *b, long number, struct bk_error *err)
{
	struct bk_node node = bk_node_named(b, "counter");

	node.doc = bk_test_printf(&b->arena, "%ld", number);
	return b->ops->node.put(b->s, &node, BK_PUT_REPLACE, err);
}

/* Ends the transaction either way; OK when it was committed. */
static bk_status conclude(struct bk_box *b, bk_status st, struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();

	if (st == BK_OK)
		return b->ops->txn.commit(b->s, err);
	b->ops->txn.rollback(b->s, &ignored);
	return st;
}

/* Reads a number, writes it plus one, in a transaction; again until it was not disturbed. */
static void count_up(struct bk_worker *w)
{
	struct tally *tally = w->shared;
	struct bk_box *b = &w->box;
	uint64_t tries = 0;
	int round = 0;

	while (round < ROUNDS) {
		struct bk_error err = bk_error_init();
		uint32_t isolation = tally->isolation;
		long number = 0;
		bk_status st;

		CHECK(b->t, ++tries < 20000, "no progress: every transaction ends in CONFLICT");
		st = b->ops->txn.begin(b->s, &isolation, 0, &err);
		if (st == BK_OK)
			st = read_number(b, &number, &err);
		if (st == BK_OK)
			st = write_number(b, number + 1, &err);
		st = conclude(b, st, &err);
		CHECK(b->t, st == BK_OK || st == BK_CONFLICT, "%s: %s", bk_test_status_name(st),
		      err.message);
		round += st == BK_OK;
		if (st == BK_CONFLICT)
			bk_test_sleep_ms(w->index);
	}
}

/* The other one's whole transaction, while ours has read and not yet written. */
static void count_once(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct bk_error err = bk_error_init();
	bk_status *result = w->shared, st;
	uint32_t isolation = BK_ISO_SERIALIZABLE;
	long number = 0;

	st = b->ops->txn.begin(b->s, &isolation, 0, &err);
	if (st == BK_OK)
		st = read_number(b, &number, &err);
	if (st == BK_OK)
		st = write_number(b, number + 1, &err);
	*result = conclude(b, st, &err);
}

static void interleaved(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_error err = bk_error_init();
	long expected = 0, number = 0;
	int round, i;

	TARGETS(b, "counter");
	WANT(t, BK_OK, write_number(b, 0, E));
	for (round = 0; round < 3; round++) {
		struct bk_aside *aside;
		bk_status ours, theirs = BK_OK;

		if (!bk_t_begin_at(b, AT, BK_ISO_SERIALIZABLE, 0))
			bk_test_skip(t, "does not offer isolation serializable");
		ours = read_number(b, &number, &err);
		aside = bk_test_aside(t, b->l, 0, count_once, &theirs);
		for (i = 0; i < 80 && !bk_test_aside_done(aside); i++)
			bk_test_sleep_ms(5); /* it may have to wait for us */
		if (ours == BK_OK)
			ours = write_number(b, number + 1, &err);
		ours = conclude(b, ours, &err);
		bk_test_aside_join(aside);
		CHECK(t, ours == BK_OK || ours == BK_CONFLICT, "ours: %s: %s",
		      bk_test_status_name(ours), err.message);
		CHECK(t, theirs == BK_OK || theirs == BK_CONFLICT, "theirs: %s",
		      bk_test_status_name(theirs));
		expected += (ours == BK_OK) + (theirs == BK_OK);
		WANT(t, BK_OK, read_number(b, &number, E));
		CHECK(t, number == expected,
		      "%ld serializable increments were committed, %ld count", expected, number);
	}
}

static void no_lost_update(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "counter"), got;
	struct tally tally = {BK_ISO_SERIALIZABLE};
	unsigned n = bk_test_worker_count(t, 4);
	char text[32];

	if (!bk_t_begin_at(b, AT, BK_ISO_SERIALIZABLE, 0))
		bk_test_skip(t, "does not offer isolation serializable");
	ROLLBACK(b);
	node.doc = bk_slice_str("0");
	CREATE(b, &node);
	bk_test_workers(t, b->l, n, count_up, &tally);
	snprintf(text, sizeof(text), "%u", n * ROUNDS);
	GET(b, BK_OK, &got, node.id, BK_WANT_DOC);
	CHECK(t, bk_slice_eq(got.doc, bk_slice_str(text)), "%u serializable increments gave %s",
	      n * ROUNDS, bk_test_show(&b->arena, got.doc));
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .own = BK_F_TXN, .needs = BK_F_NODES                \
	}

static const struct bk_case cases[] = {
	CASE("defer", defer_plain, "deferred writes, flushed, read and committed"),
	CASE("defer-fails-at-flush", defer_fails_at_flush,
	     "a deferred failure comes out at flush, with err->item; the transaction is over"),
	CASE("defer-fails-at-commit", defer_fails_at_commit,
	     "a deferred failure comes out at commit, with err->item"),
	CASE("defer-fails-at-get", defer_fails_at_get,
	     "a deferred failure comes out at a read, with err->item"),
	CASE("flush", flush_plain, "flush without anything deferred"),
	{"binaries", "binaries take part in transactions", binaries_take_part,
	 .own = BK_F_TXN | BK_F_TXN_BINARIES},
	CASE("no-dirty-read", no_dirty_read, "what is not committed is not seen",
	     .flags = BK_CASE_THREADS),
	CASE("repeatable-read", repeatable_read, "a second read gives the same",
	     .flags = BK_CASE_THREADS),
	CASE("interleaved", interleaved, "two that read, then write the same: one of them loses",
	     .flags = BK_CASE_THREADS),
	CASE("no-lost-update", no_lost_update, "serializable increments by 4 sessions all count",
	     .flags = BK_CASE_THREADS),
	{.name = NULL},
};

const struct bk_group bk_group_txn_more = {"txn", cases};
