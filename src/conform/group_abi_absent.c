/*
 * group_abi_absent.c - what a backend does not offer answers UNSUPPORTED, and nothing else.
 *
 * The one invariant: these run on the bare stack, without the loops that would fill the gaps.
 */
#include "conform/nodes.h"

static struct bk_box *bare(struct bk_test *t)
{
	return bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
}

static void absent_txn(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	uint32_t isolation = BK_ISO_READ_COMMITTED;

	WANT(t, BK_UNSUPPORTED, b->ops->txn.begin(b->s, &isolation, 0, E));
	CHECK(t, isolation == BK_ISO_READ_COMMITTED, "begin failed and wrote *isolation");
	WANT(t, BK_UNSUPPORTED, b->ops->txn.flush(b->s, E));
	WANT(t, BK_UNSUPPORTED, b->ops->txn.commit(b->s, E));
	WANT(t, BK_UNSUPPORTED, b->ops->txn.rollback(b->s, E));
}

static void absent_nodes(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n"), got;
	struct bk_step step = bk_children();
	struct bk_cursor *c = NULL;
	struct bk_slice id;

	PUT(b, BK_UNSUPPORTED, &node, BK_PUT_CREATE);
	GET(b, BK_UNSUPPORTED, &got, node.id, 0);
	FIND(b, BK_UNSUPPORTED, &id, node.path);
	REMOVE(b, BK_UNSUPPORTED, node.id);
	WANT(t, BK_UNSUPPORTED, b->ops->node.walk_open(&c, b->s, node.id, &step, 1, 0, E));
	CHECK(t, !c, "walk_open failed and wrote *out");
}

static void absent_get_many(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n"), got;
	size_t done = 77;

	memset(&got, 0x5a, sizeof(got));
	CREATE(b, &node);
	WANT(t, BK_UNSUPPORTED, b->ops->node.get_many(&got, &done, b->s, &node.id, 1, 0, E));
	CHECK(t, done == 77, "get_many failed and wrote *done");
}

static void absent_put_many(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n");
	bk_status st;

	WANT_IN(t, ONE(BK_UNSUPPORTED), BK_ITEM_ANY, st,
		b->ops->node.put_many(b->s, &node, 1, BK_PUT_CREATE, E));
	GONE(b, &node);
}

static void absent_append(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n");

	CREATE(b, &node);
	APPEND(b, BK_UNSUPPORTED, node.id, bk_slice_str("tail"), NULL, 0);
	SAME(b, &node);
}

static void absent_walk(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n");
	struct bk_step steps[2] = {bk_children(), bk_children()};
	struct bk_cursor *c = NULL;

	CREATE(b, &node);
	WANT(t, BK_UNSUPPORTED, b->ops->node.walk_open(&c, b->s, node.id, steps, 2, 0, E));
	CHECK(t, !c, "walk_open failed and wrote *out");
	REACHES(b, node.id, steps[0], "");
}

static void absent_binaries(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_slice key = bk_slice_str("key");
	struct bk_binary_info info = {.struct_size = sizeof(info), .size_bytes = 77};
	struct bk_writer *w = NULL;
	struct bk_reader *r = NULL;
	struct bk_cursor *c = NULL;

	WANT(t, BK_UNSUPPORTED, b->ops->binary.write_open(&w, b->s, key, 1, BK_PUT_UPSERT, E));
	WANT(t, BK_UNSUPPORTED, b->ops->binary.read_open(&r, b->s, key, 0, 1, &info, E));
	WANT(t, BK_UNSUPPORTED, b->ops->binary.stat(b->s, key, &info, E));
	WANT(t, BK_UNSUPPORTED, b->ops->binary.remove(b->s, key, E));
	WANT(t, BK_UNSUPPORTED, b->ops->binary.list_open(&c, b->s, E));
	CHECK(t, !w && !r && !c && info.size_bytes == 77, "a call failed and wrote to an argument");
}

static void absent_binary_create(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_slice key = bk_slice_str("key");
	struct bk_writer *w = NULL;
	bk_status st;

	WANT_IN(t, TWO(BK_UNSUPPORTED, BK_OK), UINT64_MAX, st,
		b->ops->binary.write_open(&w, b->s, key, 1, BK_PUT_CREATE, E));
	if (st == BK_OK) {
		b->ops->binary.abort(w);
		FAIL(t, "it takes BK_PUT_CREATE without offering binary-create");
	}
	CHECK(t, !w, "write_open failed and wrote *out");
}

static void absent_places(struct bk_test *t)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	struct bk_slice name = bk_slice_str("place"), mark = bk_slice_str("mark"),
			none = bk_slice_of(NULL, 0);
	struct bk_place place;
	size_t n = 77;

	/* The calls are there, and the store answers what its server answers. */
	if ((t->desc->native | t->desc->emulated) & BK_F_PLACES)
		bk_test_skip(t, "only this account may not make places");
	WANT(t, BK_UNSUPPORTED, l->tables.place.create(l->store, name, mark, none, none, none, E));
	WANT(t, BK_UNSUPPORTED, l->tables.place.drop(l->store, name, mark, E));
	WANT(t, BK_UNSUPPORTED, l->tables.place.list(l->store, &place, 1, &n, E));
	CHECK(t, n == 77, "place.list failed and wrote *n");
}

static void absent_settle(struct bk_test *t)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);

	WANT(t, BK_UNSUPPORTED, l->tables.store.settle(l->store, 1000000, E));
}

static void absent_chill(struct bk_test *t)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	uint32_t reached = 77;

	WANT(t, BK_UNSUPPORTED, l->tables.store.chill(l->store, &reached, E));
	CHECK(t, reached == 77, "chill failed and wrote *reached");
}

/* What is absent without a stub: a second session on a SINGLE backend is not asked for at all. */
static const struct bk_case cases[] = {
	{"absent-txn", "no transactions: UNSUPPORTED", absent_txn, .lacks = BK_F_TXN},
	{"absent-nodes", "no nodes: UNSUPPORTED", absent_nodes, .lacks = BK_F_NODES},
	{"absent-get-many", "no get_many: UNSUPPORTED", absent_get_many, .needs = BK_F_NODES,
	 .lacks = BK_F_GET_MANY},
	{"absent-put-many", "no put_many: UNSUPPORTED", absent_put_many, .needs = BK_F_NODES,
	 .lacks = BK_F_PUT_MANY},
	{"absent-append", "no append: UNSUPPORTED", absent_append, .needs = BK_F_NODES,
	 .lacks = BK_F_APPEND},
	{"absent-walk", "one step only: a second is UNSUPPORTED", absent_walk, .needs = BK_F_NODES,
	 .lacks = BK_F_WALK},
	{"absent-binaries", "no binaries: UNSUPPORTED", absent_binaries, .lacks = BK_F_BINARIES},
	{"absent-binary-create", "no atomic create of binaries: UNSUPPORTED", absent_binary_create,
	 .needs = BK_F_BINARIES, .lacks = BK_F_BINARY_CREATE},
	{"absent-places", "no places: UNSUPPORTED", absent_places, .lacks = BK_F_PLACES},
	{"absent-settle", "no settle: UNSUPPORTED", absent_settle, .lacks = BK_F_SETTLE},
	{"absent-chill", "no chill: UNSUPPORTED", absent_chill, .lacks = BK_F_CHILL},
	{.name = NULL},
};

const struct bk_group bk_group_abi_absent = {"abi", cases};
