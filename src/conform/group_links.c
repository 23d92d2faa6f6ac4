/*
 * group_links.c - links as a set of (relation, target), seen from both ends.
 *
 * The one invariant: whatever a case does to the links of a node, the links read with the node,
 * the out-walk and the in-walk must tell the same story.
 */
#include "conform/nodes.h"

static void links_set(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n"), a = bk_node_named(b, "a"), got;

	CREATE(b, &a);
	bk_node_link(b, &node, "r>a r>a s>a r>a s>a");
	CREATE(b, &node);
	SAME(b, &node);
	GET(b, BK_OK, &got, node.id, BK_WANT_LINKS);
	CHECK(t, got.link_count == 2, "%zu links come back, should be 2", got.link_count);
	REACHES(b, node.id, bk_out(NULL), "r>a s>a");
	REACHES(b, a.id, bk_in(NULL), "r>n s>n");
}

static void links_both_ends(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node x = bk_node_named(b, "x"), y = bk_node_named(b, "y"),
		       z = bk_node_named(b, "z");

	bk_node_link(b, &x, "r>y r>z s>z");
	bk_node_link(b, &y, "r>x s>z");
	CREATE(b, &x);
	CREATE(b, &y);
	CREATE(b, &z);
	REACHES(b, x.id, bk_out(NULL), "r>y r>z s>z");
	REACHES(b, x.id, bk_out("r"), "r>y r>z");
	REACHES(b, z.id, bk_in(NULL), "r>x s>x s>y");
	REACHES(b, z.id, bk_in("s"), "s>x s>y");
	REACHES(b, x.id, bk_in("r"), "r>y");
	REACHES(b, z.id, bk_out(NULL), "");
}

static void links_to_itself(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n");

	bk_node_link(b, &n, "self>n other>n");
	CREATE(b, &n);
	SAME(b, &n);
	REACHES(b, n.id, bk_out(NULL), "self>n other>n");
	REACHES(b, n.id, bk_in("self"), "self>n");
	REMOVE(b, BK_OK, n.id);
	bk_node_link(b, &n, "");
	CREATE(b, &n);
	REACHES(b, n.id, bk_in(NULL), "");
}

static void links_dangling(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n"), later = bk_node_named(b, "later");

	bk_node_link(b, &n, "r>later r>never");
	CREATE(b, &n);
	SAME(b, &n);
	REACHES(b, n.id, bk_out(NULL), "");
	CREATE(b, &later);
	REACHES(b, n.id, bk_out(NULL), "r>later");
	REACHES(b, later.id, bk_in(NULL), "r>n");
	REMOVE(b, BK_OK, later.id);
	REACHES(b, n.id, bk_out(NULL), "");
	SAME(b, &n);
}

static void links_replaced_whole(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n"), a = bk_node_named(b, "a"),
		       c = bk_node_named(b, "c");

	CREATE(b, &a);
	CREATE(b, &c);
	bk_node_link(b, &n, "r>a s>a r>c");
	CREATE(b, &n);
	bk_node_link(b, &n, "r>c q>c");
	PUT(b, BK_OK, &n, BK_PUT_REPLACE);
	SAME(b, &n);
	REACHES(b, n.id, bk_out(NULL), "r>c q>c");
	REACHES(b, a.id, bk_in(NULL), "");
	REACHES(b, c.id, bk_in(NULL), "r>n q>n");
	bk_node_link(b, &n, "");
	PUT(b, BK_OK, &n, BK_PUT_UPSERT);
	SAME(b, &n);
	REACHES(b, c.id, bk_in(NULL), "");
}

/* ---- Bytes -------------------------------------------------------------------------------- */

#define LIT(s)                                                                                     \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

static const struct bk_slice rels[] = {
	LIT("a"),
	LIT("ab"),
	LIT("A"),
	LIT("a "),
	LIT("a\0"),
	LIT("\0"),
	LIT("\xff"),
	LIT("'"),
	LIT("%"),
	LIT("_"),
	LIT("\n"),
	LIT("\\"),
	LIT("http://e/r#x"),
	LIT("http://e/r"),
	LIT("\xc3\xa9"),
	LIT("\x01"),
};
#define RELS (sizeof(rels) / sizeof(rels[0]))

static void links_rel_any_bytes(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n"), a = bk_node_named(b, "a");
	struct bk_link links[RELS];
	struct bk_step step = bk_out(NULL);
	struct bk_hits hits;
	size_t i;

	for (i = 0; i < RELS; i++) {
		links[i].rel = rels[i];
		links[i].target = a.id;
	}
	n.links = links;
	n.link_count = RELS;
	CREATE(b, &n);
	CREATE(b, &a);
	SAME(b, &n);
	for (i = 0; i < RELS; i++) {
		step.rel = rels[i];
		step.dir = i % 2 ? BK_IN : BK_OUT;
		WALK(b, &hits, i % 2 ? a.id : n.id, &step, 1, 0, 10);
		CHECK(t, hits.count == 1 && bk_slice_eq(hits.at[0].rel, rels[i]),
		      "a walk along relation %s gives %zu hits, should be 1",
		      bk_test_show(&b->arena, rels[i]), hits.count);
	}
}

/* Pairs that a careless encoding of relation and target takes for one another. */
static void links_no_mix_up(struct bk_test *t)
{
	static const struct bk_link links[] = {
		{LIT("a"), LIT("b\0c")},
		{LIT("a\0b"), LIT("c")},
		{LIT("ab"), LIT("c")},
		{LIT("a"), LIT("bc")},
		{LIT("a\xff"), LIT("b")},
		{LIT("a"), LIT("\xff"
			       "b")},
		{LIT("a\0"), LIT("b")},
		{LIT("a"), LIT("\0b")},
		{LIT("a\x01"), LIT("b")},
		{LIT("a"), LIT("\x01"
			       "b")},
		{LIT("a/b"), LIT("c")},
		{LIT("a"), LIT("b/c")},
		{LIT("a:b"), LIT("c")},
		{LIT("a"), LIT("b:c")},
	};
	size_t count = sizeof(links) / sizeof(links[0]), i;
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n"), target;
	struct bk_step step = bk_out(NULL);
	struct bk_hits hits;

	n.links = links;
	n.link_count = count;
	CREATE(b, &n);
	SAME(b, &n);
	for (i = 0; i < count; i++) {
		struct bk_slice known;
		struct bk_error err = bk_error_init();

		target = bk_node_named(b, "t%zu", i);
		target.id = links[i].target;
		if (b->ops->node.get(&target, b->s, target.id, 0, &err) == BK_NOT_FOUND) {
			target = bk_node_named(b, "t%zu", i);
			target.id = links[i].target;
			CREATE(b, &target);
			FIND(b, BK_OK, &known, target.path);
		}
	}
	for (i = 0; i < count; i++) {
		size_t k, want = 0;

		for (k = 0; k < count; k++)
			want += bk_slice_eq(links[k].rel, links[i].rel);
		step.rel = links[i].rel;
		WALK(b, &hits, n.id, &step, 1, 0, 3);
		CHECK(t, hits.count == want, "relation %s leads to %zu nodes, should be %zu",
		      bk_test_show(&b->arena, step.rel), hits.count, want);
	}
}

static void links_longest(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n"), a = bk_node_named(b, "a");
	size_t len = t->limits.rel_max < 4096 ? (size_t)t->limits.rel_max : 4096;
	struct bk_link links[2];
	struct bk_step step = bk_out(NULL);
	struct bk_hits hits;
	char *rel = bk_arena_alloc(&b->arena, len);

	CHECK(t, len >= 2, "limits.rel_max is %llu", (unsigned long long)t->limits.rel_max);
	memset(rel, 'r', len);
	links[0].rel = bk_slice_of(rel, len);
	links[1].rel = bk_slice_of(rel, len - 1);
	links[0].target = links[1].target = a.id;
	n.links = links;
	n.link_count = 2;
	CREATE(b, &n);
	CREATE(b, &a);
	SAME(b, &n);
	step.rel = links[1].rel;
	WALK(b, &hits, n.id, &step, 1, 0, 10);
	CHECK(t, hits.count == 1, "a relation of %zu bytes gives %zu hits", len - 1, hits.count);
}

static void links_too_long(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n");
	struct bk_link link;
	char *bytes;

	if (t->limits.rel_max >= (64u << 20))
		bk_test_skip(t, "limits.rel_max is too far to reach");
	bytes = bk_arena_alloc(&b->arena, (size_t)t->limits.rel_max + 1);
	memset(bytes, 'x', (size_t)t->limits.rel_max + 1);
	link.rel = bk_slice_of(bytes, (size_t)t->limits.rel_max + 1);
	link.target = bk_id_named(b, "a");
	n.links = &link;
	n.link_count = 1;
	PUT(b, BK_TOO_LARGE, &n, BK_PUT_CREATE);
	GONE(b, &n);
	if (t->limits.id_max >= (64u << 20))
		return;
	bytes = bk_arena_alloc(&b->arena, (size_t)t->limits.id_max + 1);
	memset(bytes, 'x', (size_t)t->limits.id_max + 1);
	link.rel = bk_slice_str("r");
	link.target = bk_slice_of(bytes, (size_t)t->limits.id_max + 1);
	PUT(b, BK_TOO_LARGE, &n, BK_PUT_CREATE);
	GONE(b, &n);
}

/* ---- Many ----------------------------------------------------------------------------------- */

static void links_many_out(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n");
	struct bk_link *links = bk_arena_alloc(&b->arena, 2000 * sizeof(*links));
	size_t i;

	for (i = 0; i < 2000; i++) {
		links[i].rel = bk_test_printf(&b->arena, "r%zu", i % 7);
		links[i].target = bk_id_named(b, "t%zu", i / 2);
	}
	n.links = links;
	n.link_count = 2000;
	CREATE(b, &n);
	SAME(b, &n);
	n.links = links + 500;
	n.link_count = 1000;
	PUT(b, BK_OK, &n, BK_PUT_REPLACE);
	SAME(b, &n);
}

static void links_many_in(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node hub = bk_node_named(b, "hub"), n[200];
	struct bk_step in = bk_in(NULL);
	struct bk_hits want, got;
	size_t k, i;

	memset(&want, 0, sizeof(want));
	CREATE(b, &hub);
	for (k = 0; k < 10; k++) {
		for (i = 0; i < 200; i++) {
			struct bk_hit hit;

			n[i] = bk_node_named(b, "n%zu-%zu", k, i);
			bk_node_link(b, &n[i], "r>hub");
			memset(&hit, 0, sizeof(hit));
			hit.id = n[i].id;
			hit.path = n[i].path;
			hit.rel = bk_slice_str("r");
			bk_hits_add(b, &want, hit);
		}
		PUT_MANY(b, BK_OK, UINT64_MAX, n, 200, BK_PUT_CREATE);
	}
	WALK(b, &got, hub.id, &in, 1, BK_WANT_PATH, 64);
	bk_t_hits(b, AT, &want, &got, BK_WANT_PATH);
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}

static const struct bk_case cases[] = {
	CASE("set", links_set, "a link put twice is there once"),
	CASE("both-ends", links_both_ends, "links are found from either end, by relation or any"),
	CASE("to-itself", links_to_itself, "a node may link to itself; the link goes with it"),
	CASE("dangling", links_dangling, "targets may be missing, come and go"),
	CASE("replaced-whole", links_replaced_whole, "replace replaces the whole set"),
	CASE("rel-any-bytes", links_rel_any_bytes, "relations with any bytes, matched exactly"),
	CASE("no-mix-up", links_no_mix_up, "relation and target never run into each other",
	     .flags = BK_CASE_FREE_ID),
	CASE("longest", links_longest, "relations as long as the limit allows"),
	CASE("too-long", links_too_long, "a relation or target over the limit: TOO_LARGE"),
	CASE("many-out", links_many_out, "2000 links from one node"),
	CASE("many-in", links_many_in, "2000 links to one node"),
	{.name = NULL},
};

const struct bk_group bk_group_links = {"links", cases};
