/*
 * group_node_many.c - get_many, put_many and append: several nodes, or a part of one.
 *
 * The one invariant: these hold for the backend's own calls and for the loops that bakeoff puts in
 * their place; only what is promised by BATCH_ATOMIC needs the backend's own.
 */
#include "conform/nodes.h"

#define VIEWS_MOST (UINT64_C(8) << 20)

static struct bk_node *several(struct bk_box *b, const char *prefix, size_t n)
{
	struct bk_node *nodes = bk_arena_alloc(&b->arena, n * sizeof(*nodes));
	size_t i;

	for (i = 0; i < n; i++) {
		nodes[i] = bk_node_named(b, "%s%zu", prefix, i);
		nodes[i].doc = bk_test_printf(&b->arena, "document %s %zu", prefix, i);
		if (i % 3 == 0)
			bk_node_link(b, &nodes[i], "r>hub s>hub");
	}
	return nodes;
}

static struct bk_slice *ids_of(struct bk_box *b, const struct bk_node *nodes, size_t n)
{
	struct bk_slice *ids = bk_arena_alloc(&b->arena, n * sizeof(*ids));
	size_t i;

	for (i = 0; i < n; i++)
		ids[i] = nodes[i].id;
	return ids;
}

/* ---- get_many ------------------------------------------------------------------------------- */

static void get_many_order(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 300), got[300];
	struct bk_slice *ids = ids_of(b, nodes, 300);
	struct bk_rng rng;
	uint32_t fields;
	size_t i, k;

	for (i = 0; i < 300; i++)
		CREATE(b, &nodes[i]);
	bk_rng_init(&rng, t->seed);
	bk_rng_shuffle(&rng, ids, 300, sizeof(*ids));
	for (fields = 0; fields <= BK_WANT_ALL; fields++) {
		GET_MANY(b, got, ids, 300, fields);
		for (i = 0; i < 300; i++) {
			for (k = 0; !bk_slice_eq(nodes[k].id, ids[i]); k++)
				;
			bk_t_equal(b, AT, &nodes[k], &got[i], fields);
		}
	}
}

static void get_many_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 50), got[50];
	size_t i;

	for (i = 0; i < 50; i += 2)
		CREATE(b, &nodes[i]);
	GET_MANY(b, got, ids_of(b, nodes, 50), 50, BK_WANT_ALL);
	for (i = 0; i < 50; i++) {
		if (i % 2 == 0)
			bk_t_equal(b, AT, &nodes[i], &got[i], BK_WANT_ALL);
		else
			CHECK(t, got[i].id.len == 0, "id %zu is not there and comes back", i);
	}
}

static void get_many_none(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 5), got[5];
	size_t i;

	GET_MANY(b, got, ids_of(b, nodes, 5), 5, BK_WANT_ALL);
	for (i = 0; i < 5; i++)
		CHECK(t, got[i].id.len == 0, "nothing is there and id %zu comes back", i);
	GET_MANY(b, got, &nodes[0].id, 1, BK_WANT_ALL);
	CHECK(t, got[0].id.len == 0, "nothing is there and a single id comes back");
}

static void get_many_twice(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 2), got[6];
	struct bk_slice ids[6] = {nodes[0].id, nodes[0].id, nodes[1].id,
				  nodes[0].id, nodes[1].id, nodes[1].id};
	size_t i;

	CREATE(b, &nodes[0]);
	CREATE(b, &nodes[1]);
	GET_MANY(b, got, ids, 6, BK_WANT_ALL);
	for (i = 0; i < 6; i++)
		bk_t_equal(b, AT, bk_slice_eq(ids[i], nodes[0].id) ? &nodes[0] : &nodes[1], &got[i],
			   BK_WANT_ALL);
}

static void get_many_thousand(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 1000), got[1000];
	size_t i;

	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 1000, BK_PUT_CREATE);
	GET_MANY(b, got, ids_of(b, nodes, 1000), 1000, BK_WANT_DOC);
	for (i = 0; i < 1000; i++)
		bk_t_equal(b, AT, &nodes[i], &got[i], BK_WANT_DOC);
}

/* More than 8 MiB of documents come in more than one answer. */
static void get_many_prefix(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node nodes[24], got[24];
	size_t n = 24, from = 0, done, i, size = 1u << 19;
	uint64_t bytes;
	struct bk_slice *ids;

	if (t->limits.doc_max < size)
		bk_test_skip(t, "limits.doc_max is below 512 KiB");
	for (i = 0; i < n; i++) {
		nodes[i] = bk_node_named(b, "n%zu", i);
		nodes[i].doc = bk_test_bytes(&b->arena, i, size);
		CREATE(b, &nodes[i]);
	}
	ids = ids_of(b, nodes, n);
	for (from = 0; from < n; from += done) {
		done = 0;
		WANT(t, BK_OK,
		     b->ops->node.get_many(got, &done, b->s, ids + from, n - from, BK_WANT_DOC, E));
		CHECK(t, done >= 1 && done <= n - from, "*done is %zu of %zu", done, n - from);
		for (i = 0, bytes = 0; i < done; i++) {
			bk_t_equal(b, AT, &nodes[from + i], &got[i], BK_WANT_DOC);
			bytes += got[i].doc.len;
		}
		CHECK(t, bytes <= VIEWS_MOST || done == 1, "one answer holds %llu bytes of views",
		      (unsigned long long)bytes);
	}
}

/* ---- put_many ----------------------------------------------------------------------------------
 */

static void put_many_create(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 500), hub = bk_node_named(b, "hub");
	struct bk_step in = bk_in("r");
	struct bk_hits hits;
	size_t i;

	CREATE(b, &hub);
	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 500, BK_PUT_CREATE);
	for (i = 0; i < 500; i++)
		SAME(b, &nodes[i]);
	WALK(b, &hits, hub.id, &in, 1, 0, 100);
	CHECK(t, hits.count == 167, "%zu nodes link to the hub, should be 167", hits.count);
}

static void put_many_parent_before(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 40);
	size_t i;

	for (i = 1; i < 40; i++)
		nodes[i].parent = nodes[(i - 1) / 3].id;
	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 40, BK_PUT_CREATE);
	for (i = 0; i < 40; i++)
		SAME(b, &nodes[i]);
	REACHES(b, nodes[2].id, bk_children(), "n7 n8 n9");
}

/* Nodes from `item` on are not there; the ones before may be, or must not be. */
static void stored_before(struct bk_box *b, struct bk_at at, const struct bk_node *nodes, size_t n,
			  size_t item)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct bk_node got;
		struct bk_slice id;
		bk_status st;

		ANY(b->t, st, b->ops->node.get(&got, b->s, nodes[i].id, 0, E));
		if (st == BK_NOT_FOUND) {
			bk_t_find(b, at, BK_NOT_FOUND, &id, nodes[i].path);
			continue;
		}
		if (i >= item)
			bk_test_fail(b->t, at, "node %zu is stored, though err->item is %zu", i,
				     item);
		if (b->t->own & BK_F_BATCH_ATOMIC)
			bk_test_fail(b->t, at, "node %zu is stored, though batches are atomic", i);
		bk_t_same(b, at, &nodes[i]);
	}
}

static void put_many_parent_after(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 10);

	nodes[6].parent = nodes[8].id;
	PUT_MANY(b, BK_NOT_FOUND, 6, nodes, 10, BK_PUT_CREATE);
	stored_before(b, AT, nodes, 10, 6);
}

static void put_many_exists(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 10), taken = bk_node_named(b, "n4");

	CREATE(b, &taken);
	PUT_MANY(b, BK_EXISTS, 4, nodes, 10, BK_PUT_CREATE);
	SAME(b, &taken);
	REMOVE(b, BK_OK, taken.id);
	stored_before(b, AT, nodes, 10, 4);
}

static void put_many_exists_first(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 3), taken = bk_node_named(b, "n0");

	CREATE(b, &taken);
	PUT_MANY(b, BK_EXISTS, 0, nodes, 3, BK_PUT_CREATE);
	SAME(b, &taken);
	GONE(b, &nodes[1]);
	GONE(b, &nodes[2]);
}

static void put_many_exists_last(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 30), taken = bk_node_named(b, "n29");

	CREATE(b, &taken);
	PUT_MANY(b, BK_EXISTS, 29, nodes, 30, BK_PUT_CREATE);
	SAME(b, &taken);
	REMOVE(b, BK_OK, taken.id);
	stored_before(b, AT, nodes, 30, 29);
}

static void put_many_same_id(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 8);

	nodes[5].id = nodes[2].id;
	PUT_MANY(b, BK_EXISTS, 5, nodes, 8, BK_PUT_CREATE);
	stored_before(b, AT, nodes, 5, 5);
	stored_before(b, AT, nodes + 6, 2, 0);
}

static void put_many_same_path(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 8), got;

	nodes[5].path = nodes[2].path;
	PUT_MANY(b, BK_EXISTS, 5, nodes, 8, BK_PUT_CREATE);
	GET(b, BK_NOT_FOUND, &got, nodes[5].id, 0);
	stored_before(b, AT, nodes, 5, 5);
	stored_before(b, AT, nodes + 6, 2, 0);
}

static void put_many_replace(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 60);
	size_t i;

	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 60, BK_PUT_CREATE);
	for (i = 0; i < 60; i++) {
		nodes[i].doc = bk_test_bytes(&b->arena, i, i * 11);
		bk_node_link(b, &nodes[i], i % 2 ? "x>y" : "");
	}
	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 60, BK_PUT_REPLACE);
	for (i = 0; i < 60; i++)
		SAME(b, &nodes[i]);
}

static void put_many_replace_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 6), before;

	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 4, BK_PUT_CREATE);
	before = nodes[0];
	nodes[0].doc = bk_slice_str("new");
	PUT_MANY(b, BK_NOT_FOUND, 4, nodes, 6, BK_PUT_REPLACE);
	GONE(b, &nodes[4]);
	GONE(b, &nodes[5]);
	if (t->own & BK_F_BATCH_ATOMIC)
		SAME(b, &before);
}

static void put_many_upsert(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 30);
	size_t i;

	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 15, BK_PUT_UPSERT);
	nodes[3].doc = bk_slice_str("another");
	bk_node_link(b, &nodes[3], "x>y");
	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 30, BK_PUT_UPSERT);
	for (i = 0; i < 30; i++)
		SAME(b, &nodes[i]);
}

/* In order: the last one stays. */
static void put_many_upsert_twice(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 5);

	TARGETS(b, "link");
	nodes[4].id = nodes[1].id;
	nodes[4].path = nodes[1].path;
	bk_node_link(b, &nodes[1], "first>link");
	bk_node_link(b, &nodes[4], "second>link");
	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 5, BK_PUT_UPSERT);
	SAME(b, &nodes[4]);
	SAME(b, &nodes[2]);
	REACHES(b, bk_id_named(b, "link"), bk_in(NULL), "second>n1");
}

static void put_many_large(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node *nodes = several(b, "n", 20);
	size_t i, size = t->limits.doc_max < (1u << 20) ? (size_t)t->limits.doc_max : 1u << 20;

	for (i = 0; i < 20; i++)
		nodes[i].doc = bk_test_bytes(&b->arena, i, i % 2 ? size : 10);
	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, 20, BK_PUT_CREATE);
	for (i = 0; i < 20; i++)
		SAME(b, &nodes[i]);
}

/* ---- append
 * --------------------------------------------------------------------------------------- */

static void append_tail(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node root = bk_node_named(b, "root"), node = bk_node_named(b, "n"), more;

	node.parent = root.id;
	node.doc = bk_slice_str("begin");
	bk_node_link(b, &node, "r>one");
	bk_node_link(b, &root, "r>two s>one r>one r>two");
	more = root;
	bk_node_link(b, &root, "");
	TARGETS(b, "one two");
	CREATE(b, &root);
	CREATE(b, &node);
	APPEND(b, BK_OK, node.id, bk_slice_str(" and end"), more.links, more.link_count);
	node.doc = bk_slice_str("begin and end");
	bk_node_link(b, &node, "r>one r>two s>one");
	SAME(b, &node);
	REACHES(b, root.id, bk_children(), "n");
	REACHES(b, bk_id_named(b, "two"), bk_in(NULL), "r>n");
}

static void append_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n"), links = node;

	bk_node_link(b, &links, "r>x");
	TARGETS(b, "x");
	APPEND(b, BK_NOT_FOUND, node.id, bk_slice_str("tail"), links.links, 1);
	GONE(b, &node);
	CREATE(b, &node);
	SAME(b, &node);
	REACHES(b, bk_id_named(b, "x"), bk_in(NULL), "");
}

static void append_nothing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n");

	node.doc = bk_slice_str("as it was");
	bk_node_link(b, &node, "r>x");
	CREATE(b, &node);
	APPEND(b, BK_OK, node.id, bk_slice_of(NULL, 0), NULL, 0);
	SAME(b, &node);
	APPEND(b, BK_OK, node.id, bk_slice_of(NULL, 0), node.links, 1);
	SAME(b, &node);
}

static void append_often(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n"), link = node;
	struct bk_slice all = bk_test_bytes(&b->arena, 7, 40000);
	size_t at = 0, n;
	char links[8000] = "";
	int i;

	CREATE(b, &node);
	for (i = 0; i < 300; i++) {
		n = (size_t)(i * 31 % 257);
		snprintf(links + strlen(links), 24, " r%d>t%d", i % 3, i);
		bk_node_link(b, &link, strrchr(links, ' '));
		APPEND(b, BK_OK, node.id, bk_slice_of((const char *)all.data + at, n), link.links,
		       1);
		at += n;
	}
	CHECK(t, at <= all.len, "the case needs more bytes");
	node.doc = bk_slice_of(all.data, at);
	bk_node_link(b, &node, links);
	SAME(b, &node);
	node.doc = bk_slice_str("replaced");
	bk_node_link(b, &node, "r>x");
	PUT(b, BK_OK, &node, BK_PUT_REPLACE);
	APPEND(b, BK_OK, node.id, bk_slice_str("!"), NULL, 0);
	node.doc = bk_slice_str("replaced!");
	SAME(b, &node);
}

static void append_any_bytes(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n");
	struct bk_slice all = bk_test_bytes(&b->arena, 9, 100000);

	node.doc = bk_slice_of(all.data, 1000);
	CREATE(b, &node);
	APPEND(b, BK_OK, node.id, bk_slice_of((const char *)all.data + 1000, 1), NULL, 0);
	APPEND(b, BK_OK, node.id, bk_slice_of((const char *)all.data + 1001, 98999), NULL, 0);
	node.doc = all;
	SAME(b, &node);
}

static void append_version(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n"), got;
	uint64_t version;

	CREATE(b, &node);
	GET(b, BK_OK, &got, node.id, 0);
	version = got.version;
	APPEND(b, BK_OK, node.id, bk_slice_str("x"), NULL, 0);
	GET(b, BK_OK, &got, node.id, 0);
	CHECK(t, got.version != version, "append left the version at %llu",
	      (unsigned long long)version);
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}

static const struct bk_case cases[] = {
	CASE("get-many-order", get_many_order, "get_many answers in the order asked"),
	CASE("get-many-missing", get_many_missing,
	     "a missing id leaves an empty node in its place"),
	CASE("get-many-none", get_many_none, "nothing but missing ids is no error"),
	CASE("get-many-twice", get_many_twice, "an id asked twice comes twice"),
	CASE("get-many-thousand", get_many_thousand, "1000 ids, some of it in each answer"),
	CASE("get-many-prefix", get_many_prefix, "an answer holds at most 8 MiB of views"),
	CASE("put-many-create", put_many_create, "500 nodes in one call"),
	CASE("put-many-parent-before", put_many_parent_before,
	     "a parent may stand earlier in the call"),
	CASE("put-many-parent-after", put_many_parent_after,
	     "a parent later in the call: NOT_FOUND, err->item"),
	CASE("put-many-exists", put_many_exists, "a taken id: EXISTS, err->item, none after it"),
	CASE("put-many-exists-first", put_many_exists_first, "the first one fails: none stored"),
	CASE("put-many-exists-last", put_many_exists_last, "the last one fails: err->item"),
	CASE("put-many-same-id", put_many_same_id, "an id twice in one create: EXISTS",
	     .flags = BK_CASE_FREE_ID),
	CASE("put-many-same-path", put_many_same_path, "a path twice in one create: EXISTS",
	     .flags = BK_CASE_FREE_ID),
	CASE("put-many-replace", put_many_replace, "60 replacements in one call"),
	CASE("put-many-replace-missing", put_many_replace_missing,
	     "replace of one that is not there: NOT_FOUND, err->item"),
	CASE("put-many-upsert", put_many_upsert, "upsert of some old and some new"),
	CASE("put-many-upsert-twice", put_many_upsert_twice, "an id twice in one upsert: the last"),
	CASE("put-many-large", put_many_large, "10 documents of 1 MiB in one call"),
	CASE("append-tail", append_tail, "append adds to the document and to the links"),
	CASE("append-missing", append_missing, "append to what is not there: NOT_FOUND"),
	CASE("append-nothing", append_nothing, "an empty append, a link that is there already"),
	CASE("append-often", append_often, "300 appends, then a replacement, then one more"),
	CASE("append-any-bytes", append_any_bytes, "tails of any bytes and sizes"),
	CASE("append-version", append_version, "append changes the version", .own = BK_F_CAS),
	{.name = NULL},
};

const struct bk_group bk_group_node_many = {"node", cases};
