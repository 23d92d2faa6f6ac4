/*
 * group_walk_pages.c - walks page by page, and what may happen between two pages.
 *
 * The one invariant: every hit that existed from open to END comes exactly once; of the others a
 * case only demands that they do not come twice.
 */
#include "conform/nodes.h"

#include <stdlib.h>

#define KIDS 300

static void family(struct bk_box *b, struct bk_node *top, size_t n)
{
	struct bk_node *kids = bk_arena_alloc(&b->arena, n * sizeof(*kids));
	bool one_by_one = b->l->looped == 0 && !(b->t->own & BK_F_PUT_MANY);
	size_t i;

	*top = bk_node_named(b, "top");
	CREATE(b, top);
	for (i = 0; i < n; i++) {
		kids[i] = bk_node_named(b, "kid%zu", i);
		kids[i].parent = top->id;
		kids[i].doc = bk_test_printf(&b->arena, "kid %zu", i);
		bk_node_link(b, &kids[i], "r>top");
	}
	for (i = 0; one_by_one && i < n; i++)
		CREATE(b, &kids[i]);
	if (!one_by_one)
		PUT_MANY(b, BK_OK, UINT64_MAX, kids, n, BK_PUT_CREATE);
}

static void pages_any_cap(struct bk_test *t)
{
	static const size_t caps[] = {1, 2, 7, 100, KIDS - 1, KIDS, KIDS + 1, 512};
	struct bk_box *b = bk_test_box(t);
	struct bk_step steps[2] = {bk_children(), bk_in("r")};
	struct bk_node top;
	struct bk_hits want, got;
	size_t i, k;

	family(b, &top, KIDS);
	for (k = 0; k < 2; k++) {
		memset(&want, 0, sizeof(want));
		for (i = 0; i < KIDS; i++) {
			struct bk_hit hit;

			memset(&hit, 0, sizeof(hit));
			hit.id = bk_id_named(b, "kid%zu", i);
			hit.path = bk_path_named(b, "kid%zu", i);
			if (k == 1)
				hit.rel = bk_slice_str("r");
			bk_hits_add(b, &want, hit);
		}
		for (i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
			WALK(b, &got, top.id, &steps[k], 1, BK_WANT_PATH, caps[i]);
			bk_t_hits(b, AT, &want, &got, BK_WANT_PATH);
		}
	}
}

static void pages_closed_early(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step step = bk_children();
	struct bk_cursor *c;
	struct bk_hits hits;
	struct bk_node top;
	int i;

	family(b, &top, 50);
	for (i = 0; i < 20; i++) {
		memset(&hits, 0, sizeof(hits));
		c = bk_t_walk_open(b, AT, top.id, &step, 1, 0);
		if (i % 2)
			bk_t_walk_next(b, AT, c, 3, &hits);
		b->ops->node.walk_close(c);
	}
	WALK(b, &hits, top.id, &step, 1, 0, 20);
	CHECK(t, hits.count == 50, "%zu hits after walks that were closed early", hits.count);
}

/* Each call that may come between two pages, between every two pages. */
static void pages_calls_between(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step step = bk_children();
	struct bk_node top, other = bk_node_named(b, "other"), got;
	struct bk_hits hits;
	struct bk_slice id;
	struct bk_cursor *c;
	size_t i;

	memset(&hits, 0, sizeof(hits));
	family(b, &top, 60);
	CREATE(b, &other);
	c = bk_t_walk_open(b, AT, top.id, &step, 1, 0);
	for (i = 0; bk_t_walk_next(b, AT, c, 5, &hits); i++) {
		GET(b, BK_OK, &got, hits.at[hits.count - 1].id, BK_WANT_ALL);
		CHECK(t, bk_slice_eq(got.parent, top.id), "a hit is not a child");
		FIND(b, BK_OK, &id, bk_test_copy(&b->arena, got.path));
		other.doc = bk_test_printf(&b->arena, "%zu", i);
		PUT(b, BK_OK, &other, BK_PUT_REPLACE);
		SAME(b, &other);
	}
	b->ops->node.walk_close(c);
	CHECK(t, hits.count == 60, "%zu hits with calls between the pages, should be 60",
	      hits.count);
}

/* A page's views last until the next call on the cursor, whatever the session does.  On the bare
 * stack: the check layer would hand out copies. */
static void pages_views_last(struct bk_test *t)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	struct bk_step step = bk_in("r");
	struct bk_hit page[20];
	struct bk_node top, got;
	struct bk_cursor *c;
	size_t n = 0, i;

	family(b, &top, 20);
	c = bk_t_walk_open(b, AT, top.id, &step, 1, BK_WANT_PATH);
	WANT(t, BK_OK, b->ops->node.walk_next(c, page, 20, &n, E));
	for (i = 0; i < n; i++) {
		struct bk_slice id = bk_test_copy(&b->arena, page[i].id);
		struct bk_slice path = bk_test_copy(&b->arena, page[i].path), found;
		struct bk_node other = bk_node_named(b, "other%zu", i);

		GET(b, BK_OK, &got, page[i].id, BK_WANT_ALL);
		CHECK(t, bk_slice_eq(got.path, page[i].path), "a view of a page changed");
		FIND(b, BK_OK, &found, page[i].path);
		CREATE(b, &other);
		CHECK(t,
		      bk_slice_eq(id, page[i].id) && bk_slice_eq(path, page[i].path) &&
			      bk_slice_eq(page[i].rel, bk_slice_str("r")),
		      "a view of a page changed by a call on the session");
	}
	b->ops->node.walk_close(c);
}

/* ---- Changes between the pages ------------------------------------------------------------------
 */

static int id_cmp(const void *pa, const void *pb)
{
	return bk_slice_cmp(((const struct bk_hit *)pa)->id, ((const struct bk_hit *)pb)->id);
}

/* Every kid from `first` on exactly once, nothing else twice. */
static void kids_once(struct bk_box *b, struct bk_at at, struct bk_hits *hits, size_t first,
		      size_t n)
{
	size_t i;

	if (hits->count)
		qsort(hits->at, hits->count, sizeof(*hits->at), id_cmp);
	for (i = 1; i < hits->count; i++) {
		if (bk_slice_eq(hits->at[i].id, hits->at[i - 1].id))
			bk_test_fail(b->t, at, "node %s comes twice",
				     bk_test_show(&b->arena, hits->at[i].id));
	}
	for (i = first; i < n; i++) {
		struct bk_hit key;

		memset(&key, 0, sizeof(key));
		key.id = bk_id_named(b, "kid%zu", i);
		if (!hits->count ||
		    !bsearch(&key, hits->at, hits->count, sizeof(*hits->at), id_cmp))
			bk_test_fail(b->t, at,
				     "node %s was there from open to END and did not come",
				     bk_test_show(&b->arena, key.id));
	}
}

/* Kids below `doomed` are removed on the way, others are replaced, new ones come. */
static void stir(struct bk_box *b, const struct bk_node *top, size_t round, size_t doomed)
{
	struct bk_node kid = bk_node_named(b, "new%zu", round);

	kid.parent = top->id;
	bk_node_link(b, &kid, "r>top");
	CREATE(b, &kid);
	kid = bk_node_named(b, "kid%zu", doomed + round);
	kid.parent = top->id;
	kid.doc = bk_test_bytes(&b->arena, round, 300);
	bk_node_link(b, &kid, "r>top x>y");
	PUT(b, BK_OK, &kid, BK_PUT_REPLACE);
	if (round < doomed)
		REMOVE(b, BK_OK, bk_id_named(b, "kid%zu", round));
}

static void stirred(struct bk_box *reader, struct bk_box *writer, struct bk_step step)
{
	struct bk_hits hits;
	struct bk_cursor *c;
	struct bk_node top;
	size_t round;

	memset(&hits, 0, sizeof(hits));
	family(reader, &top, KIDS);
	c = bk_t_walk_open(reader, AT, top.id, &step, 1, 0);
	for (round = 0; bk_t_walk_next(reader, AT, c, 7, &hits); round++) {
		if (round < 100)
			stir(writer, &top, round, 40);
		CHECK(reader->t, hits.count < 3 * KIDS, "the walk does not end");
	}
	reader->ops->node.walk_close(c);
	kids_once(reader, AT, &hits, 40, KIDS);
}

static void pages_own_writes(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	stirred(b, b, bk_children());
}

static void pages_own_writes_in(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	stirred(b, b, bk_in("r"));
}

static void pages_others_write(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	stirred(b, bk_test_join(t, b->l, BK_DURABLE_NONE), bk_children());
}

static void pages_others_write_in(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	stirred(b, bk_test_join(t, b->l, BK_DURABLE_NONE), bk_in("r"));
}

/* Two sessions walk at once, each with a cursor of its own. */
static void pages_two_cursors(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t), *other = bk_test_join(t, b->l, BK_DURABLE_NONE);
	struct bk_step steps[2] = {bk_children(), bk_in("r")};
	struct bk_cursor *c1, *c2;
	struct bk_hits h1, h2;
	struct bk_node top;
	bool more1 = true, more2 = true;

	memset(&h1, 0, sizeof(h1));
	memset(&h2, 0, sizeof(h2));
	family(b, &top, 100);
	c1 = bk_t_walk_open(b, AT, top.id, &steps[0], 1, 0);
	c2 = bk_t_walk_open(other, AT, top.id, &steps[1], 1, 0);
	while (more1 || more2) {
		more1 = more1 && bk_t_walk_next(b, AT, c1, 3, &h1);
		more2 = more2 && bk_t_walk_next(other, AT, c2, 5, &h2);
	}
	b->ops->node.walk_close(c1);
	other->ops->node.walk_close(c2);
	kids_once(b, AT, &h1, 0, 100);
	kids_once(other, AT, &h2, 0, 100);
	CHECK(t, h1.count == 100 && h2.count == 100, "%zu and %zu hits, should be 100 each",
	      h1.count, h2.count);
}

static void pages_five_thousand(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step step = bk_children();
	struct bk_hits hits;
	struct bk_node top;

	family(b, &top, 5000);
	WALK(b, &hits, top.id, &step, 1, 0, 512);
	kids_once(b, AT, &hits, 0, 5000);
	CHECK(t, hits.count == 5000, "%zu hits, should be 5000", hits.count);
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}

static const struct bk_case cases[] = {
	CASE("any-cap", pages_any_cap, "the same hits by pages of 1, 2, 7, ... and all at once"),
	CASE("closed-early", pages_closed_early, "a cursor may be closed before its end"),
	CASE("calls-between", pages_calls_between, "get, find and put between two pages"),
	CASE("views-last", pages_views_last, "a page's views outlast other calls on the session"),
	CASE("own-writes", pages_own_writes, "children while the same session writes: each once"),
	CASE("own-writes-in", pages_own_writes_in, "in-links while the same session writes"),
	CASE("others-write", pages_others_write, "children while another session writes",
	     .flags = BK_CASE_TWO),
	CASE("others-write-in", pages_others_write_in, "in-links while another session writes",
	     .flags = BK_CASE_TWO),
	CASE("two-cursors", pages_two_cursors, "two sessions walk at once", .flags = BK_CASE_TWO),
	CASE("five-thousand", pages_five_thousand, "5000 children, each once"),
	{.name = NULL},
};

const struct bk_group bk_group_walk_pages = {"walk", cases};
