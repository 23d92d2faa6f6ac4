/*
 * group_txn.c - transactions of one session: what it sees, what stays, what goes.
 *
 * The one invariant: a second session looks only after commit or rollback here, so that a store
 * which makes others wait passes too.
 */
#include "conform/txns.h"

bool bk_t_begin_at(struct bk_box *b, struct bk_at at, uint32_t wanted, uint32_t flags)
{
	uint32_t isolation = wanted;
	struct bk_error err_;
	bk_status st;

	bk_test_arm(&err_);
	st = b->ops->txn.begin(b->s, &isolation, flags, E);
	bk_test_status(b->t, at, "begin", TWO(BK_OK, BK_UNSUPPORTED), st, UINT64_MAX, &err_);
	if (st == BK_UNSUPPORTED && isolation != wanted)
		bk_test_fail(b->t, at, "begin: failed and wrote *isolation");
	if (st == BK_OK && (isolation < wanted || isolation < BK_ISO_READ_COMMITTED ||
			    isolation > BK_ISO_SERIALIZABLE))
		bk_test_fail(b->t, at, "begin: isolation %u was wanted, %u is in force", wanted,
			     isolation);
	return st == BK_OK;
}

void bk_t_begin(struct bk_box *b, struct bk_at at, uint32_t flags)
{
	if (!bk_t_begin_at(b, at, 0, flags))
		bk_test_fail(b->t, at, "begin: UNSUPPORTED, as the store comes");
}

static struct bk_node sample(struct bk_box *b, const char *name)
{
	struct bk_node node = bk_node_named(b, "%s", name);

	node.doc = bk_test_printf(&b->arena, "the document of %s", name);
	bk_node_link(b, &node, "r>hub");
	return node;
}

static void txn_isolation(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	uint32_t wanted, offered = 0;

	for (wanted = 0; wanted <= BK_ISO_SERIALIZABLE; wanted++) {
		if (!bk_t_begin_at(b, AT, wanted, 0))
			continue;
		offered++;
		ROLLBACK(b);
	}
	CHECK(t, offered > 1, "no level of isolation is offered by name");
}

static void txn_read_your_writes(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node old = sample(b, "old"), fresh = sample(b, "fresh"), gone = sample(b, "gone");

	CREATE(b, &old);
	CREATE(b, &gone);
	BEGIN(b);
	CREATE(b, &fresh);
	SAME(b, &fresh);
	old.doc = bk_slice_str("replaced");
	bk_node_link(b, &old, "s>x");
	PUT(b, BK_OK, &old, BK_PUT_REPLACE);
	SAME(b, &old);
	REMOVE(b, BK_OK, gone.id);
	GONE(b, &gone);
	fresh.doc = bk_slice_str("and again");
	PUT(b, BK_OK, &fresh, BK_PUT_REPLACE);
	SAME(b, &fresh);
	COMMIT(b);
	SAME(b, &fresh);
	SAME(b, &old);
	GONE(b, &gone);
}

static void txn_commit_seen(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t), *other = bk_test_join(t, b->l, BK_DURABLE_NONE);
	struct bk_node nodes[20], root = sample(b, "root");
	size_t i;

	BEGIN(b);
	CREATE(b, &root);
	for (i = 0; i < 20; i++) {
		nodes[i] = bk_node_named(b, "n%zu", i);
		nodes[i].parent = root.id;
		CREATE(b, &nodes[i]);
	}
	COMMIT(b);
	SAME(other, &root);
	for (i = 0; i < 20; i++)
		SAME(other, &nodes[i]);
	REMOVE(other, BK_IN_USE, root.id);
}

static void txn_rollback(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node hub = bk_node_named(b, "hub"), old = sample(b, "old"), was,
		       fresh = sample(b, "fresh"), stays = sample(b, "stays");

	CREATE(b, &hub);
	CREATE(b, &old);
	CREATE(b, &stays);
	was = old;
	BEGIN(b);
	fresh.parent = old.id;
	CREATE(b, &fresh);
	old.doc = bk_slice_str("replaced");
	bk_node_link(b, &old, "q>hub");
	PUT(b, BK_OK, &old, BK_PUT_REPLACE);
	REMOVE(b, BK_OK, stays.id);
	ROLLBACK(b);
	GONE(b, &fresh);
	SAME(b, &was);
	SAME(b, &stays);
	REACHES(b, old.id, bk_children(), "");
	REACHES(b, hub.id, bk_in(NULL), "r>old r>stays");
	CREATE(b, &fresh); /* id and path are free */
	REMOVE(b, BK_IN_USE, old.id);
}

static void txn_many(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node;
	int i, round;

	for (round = 0; round < 2; round++) {
		BEGIN(b);
		for (i = 0; i < 1000; i++) {
			node = bk_node_named(b, "n%d", i);
			node.doc = bk_test_printf(&b->arena, "%d", i);
			CREATE(b, &node);
		}
		if (round)
			COMMIT(b);
		else
			ROLLBACK(b);
		for (i = 0; i < 1000; i += 37) {
			node = bk_node_named(b, "n%d", i);
			node.doc = bk_test_printf(&b->arena, "%d", i);
			if (round)
				SAME(b, &node);
			else
				GONE(b, &node);
		}
	}
}

/* Checks made within a transaction look at what it wrote. */
static void txn_own_checks(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node root = sample(b, "root"), kid = sample(b, "kid"), nobody = sample(b, "n");

	CREATE(b, &nobody);
	BEGIN(b);
	CREATE(b, &root);
	kid.parent = root.id; /* a parent that only this transaction knows */
	CREATE(b, &kid);
	REMOVE(b, BK_OK, kid.id);
	REMOVE(b, BK_OK, root.id);
	CREATE(b, &root); /* its id and path are free again */
	SAME(b, &root);
	COMMIT(b);
	SAME(b, &root);
	GONE(b, &kid);
}

static void txn_empty(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	int i;

	for (i = 0; i < 20; i++) {
		BEGIN(b);
		COMMIT(b);
		BEGIN(b);
		ROLLBACK(b);
	}
}

static void txn_batches(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node nodes[50], old = sample(b, "old");
	size_t i, round;

	CREATE(b, &old);
	for (i = 0; i < 50; i++)
		nodes[i] = sample(b, (const char *)bk_arena_printf(&b->arena, "n%zu", i));
	for (round = 0; round < 2; round++) {
		BEGIN(b);
		PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 50, BK_PUT_CREATE);
		APPEND(b, BK_OK, old.id, bk_slice_str("+"), nodes[0].links, 1);
		SAME(b, &nodes[49]);
		if (round == 0) {
			ROLLBACK(b);
			SAME(b, &old);
			GONE(b, &nodes[0]);
			GONE(b, &nodes[49]);
		}
	}
	COMMIT(b);
	for (i = 0; i < 50; i++)
		SAME(b, &nodes[i]);
	old.doc = bk_slice_str("the document of old+");
	SAME(b, &old);
}

static void txn_walk_own(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node hub = bk_node_named(b, "hub"), a = sample(b, "a"), c = sample(b, "c"),
		       kid = sample(b, "kid");

	CREATE(b, &hub);
	CREATE(b, &a);
	BEGIN(b);
	CREATE(b, &c);
	kid.parent = hub.id;
	CREATE(b, &kid);
	REACHES(b, hub.id, bk_in("r"), "r>a r>c r>kid");
	REACHES(b, hub.id, bk_children(), "kid");
	REMOVE(b, BK_OK, a.id);
	REACHES(b, hub.id, bk_in("r"), "r>c r>kid");
	bk_node_link(b, &c, "s>hub");
	PUT(b, BK_OK, &c, BK_PUT_REPLACE);
	REACHES(b, hub.id, bk_in(NULL), "s>c r>kid");
	REACHES(b, c.id, bk_out(NULL), "s>hub");
	ROLLBACK(b);
	REACHES(b, hub.id, bk_in(NULL), "r>a");
}

/* Without TXN_WALK a walk may miss the transaction's writes; after commit it must not. */
static void txn_walk_after(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node hub = bk_node_named(b, "hub"), a = sample(b, "a"), c = sample(b, "c");

	CREATE(b, &hub);
	CREATE(b, &a);
	BEGIN(b);
	CREATE(b, &c);
	REMOVE(b, BK_OK, a.id);
	COMMIT(b);
	REACHES(b, hub.id, bk_in("r"), "r>c");
	REACHES(b, a.id, bk_out(NULL), "");
}

/* ---- Order of calls -------------------------------------------------------------------------- */

static void txn_order(struct bk_test *t)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	struct bk_node node = sample(b, "n");
	uint32_t isolation = 0;

	WANT(t, BK_STATE, b->ops->txn.commit(b->s, E));
	WANT(t, BK_STATE, b->ops->txn.rollback(b->s, E));
	WANT(t, BK_STATE, b->ops->txn.flush(b->s, E));
	BEGIN(b);
	CREATE(b, &node);
	WANT(t, BK_STATE, b->ops->txn.begin(b->s, &isolation, 0, E));
	CHECK(t, isolation == 0, "begin failed and wrote *isolation");
	COMMIT(b); /* the first one goes on */
	SAME(b, &node);
	WANT(t, BK_STATE, b->ops->txn.commit(b->s, E));
}

/* Commit and rollback with a cursor open: STATE; and the transaction ends all the same, unkept. */
static void txn_cursor_open(struct bk_test *t)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	struct bk_node root = sample(b, "root"), node = sample(b, "n");
	struct bk_step step = bk_children();
	struct bk_cursor *c;
	int i;

	CREATE(b, &root);
	for (i = 0; i < 2; i++) {
		BEGIN(b);
		CREATE(b, &node);
		c = bk_t_walk_open(b, AT, root.id, &step, 1, 0);
		if (i == 0)
			WANT(t, BK_STATE, b->ops->txn.commit(b->s, E));
		else
			WANT(t, BK_STATE, b->ops->txn.rollback(b->s, E));
		b->ops->node.walk_close(c);
		GONE(b, &node);
		BEGIN(b);
		COMMIT(b);
	}
	SAME(b, &root);
}

static void txn_session_closed(struct bk_test *t)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	struct bk_layered *l = b->l;
	struct bk_node node = sample(b, "n"), old = sample(b, "old");

	CREATE(b, &old);
	BEGIN(b);
	CREATE(b, &node);
	REMOVE(b, BK_OK, old.id);
	bk_test_leave(b);
	b = bk_test_join(t, l, BK_DURABLE_NONE);
	node = sample(b, "n");
	old = sample(b, "old");
	GONE(b, &node);
	SAME(b, &old);
}

static void txn_read_only(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), other = sample(b, "other");
	bk_status st;

	CREATE(b, &node);
	bk_t_begin(b, AT, BK_TXN_READ_ONLY);
	SAME(b, &node);
	ANY(t, st, b->ops->node.put(b->s, &other, BK_PUT_CREATE, E));
	CHECK(t, st < 0, "a read-only transaction takes a write");
	ROLLBACK(b);
	GONE(b, &other);
	bk_t_begin(b, AT, BK_TXN_READ_ONLY);
	SAME(b, &node);
	COMMIT(b);
	CREATE(b, &other);
}

static void txn_failure_then_rollback(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), fresh = sample(b, "fresh");

	CREATE(b, &node);
	BEGIN(b);
	CREATE(b, &fresh);
	PUT(b, BK_EXISTS, &node, BK_PUT_CREATE);
	ROLLBACK(b);
	GONE(b, &fresh);
	SAME(b, &node);
	BEGIN(b);
	CREATE(b, &fresh);
	COMMIT(b);
	SAME(b, &fresh);
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .own = BK_F_TXN, .needs = BK_F_NODES                \
	}

static const struct bk_case cases[] = {
	CASE("isolation", txn_isolation, "each level: in force or better, or UNSUPPORTED"),
	CASE("read-your-writes", txn_read_your_writes, "get and find see what was written"),
	CASE("commit-seen", txn_commit_seen, "after commit others see all of it",
	     .flags = BK_CASE_TWO),
	CASE("rollback", txn_rollback, "rollback leaves nothing, neither node, link nor child"),
	CASE("many", txn_many, "1000 nodes in one transaction, rolled back and committed"),
	CASE("own-checks", txn_own_checks,
	     "parents, ids and paths of the transaction itself count"),
	CASE("empty", txn_empty, "transactions of nothing"),
	CASE("batches", txn_batches, "put_many and append take part"),
	{"walk-own", "a walk sees the transaction's own writes", txn_walk_own,
	 .own = BK_F_TXN | BK_F_TXN_WALK, .needs = BK_F_NODES},
	CASE("walk-after", txn_walk_after, "a walk after commit sees it all"),
	CASE("order", txn_order, "begin twice, commit or rollback or flush without begin: STATE"),
	CASE("cursor-open", txn_cursor_open,
	     "commit with a cursor open: STATE, and nothing is kept"),
	CASE("session-closed", txn_session_closed, "a session that closes takes its writes along"),
	CASE("read-only", txn_read_only, "a read-only transaction refuses writes"),
	CASE("failure-then-rollback", txn_failure_then_rollback,
	     "after a failed write rollback leaves nothing, and the session goes on"),
	{.name = NULL},
};

const struct bk_group bk_group_txn = {"txn", cases};
