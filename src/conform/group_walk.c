/*
 * group_walk.c - walks: one hit for every way, none for what is not there.
 *
 * The one invariant: expected hits are written down by hand here; the model group computes them.
 */
#include "conform/nodes.h"

/* A small world:  a -r-> b -r-> d,  a -r-> c -r-> d,  a -s-> c,  d -r-> a,  children of a: k1 k2;
 * k1 -r-> d,  k2 -r-> d,  k2 -r-> nowhere. */
static void world(struct bk_box *b)
{
	static const char *const nodes[][3] = {
		{"a", "", "r>b r>c s>c"}, {"b", "", "r>d"},   {"c", "", "r>d"},
		{"d", "", "r>a"},         {"k1", "a", "r>d"}, {"k2", "a", "r>d r>nowhere"},
	};
	size_t i;

	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		struct bk_node node = bk_node_named(b, "%s", nodes[i][0]);

		if (nodes[i][1][0])
			node.parent = bk_id_named(b, "%s", nodes[i][1]);
		bk_node_link(b, &node, nodes[i][2]);
		CREATE(b, &node);
	}
}

static void walk_children(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step step = bk_children();

	world(b);
	REACHES(b, bk_id_named(b, "a"), step, "k1 k2");
	REACHES(b, bk_id_named(b, "k1"), step, "");
	step.rel = bk_slice_str("unused"); /* with children the relation means nothing */
	REACHES(b, bk_id_named(b, "a"), step, "k1 k2");
}

static void walk_out_in(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	world(b);
	REACHES(b, bk_id_named(b, "a"), bk_out("r"), "r>b r>c");
	REACHES(b, bk_id_named(b, "a"), bk_out("s"), "s>c");
	REACHES(b, bk_id_named(b, "a"), bk_out(NULL), "r>b r>c s>c");
	REACHES(b, bk_id_named(b, "a"), bk_out("q"), "");
	REACHES(b, bk_id_named(b, "k2"), bk_out(NULL), "r>d");
	REACHES(b, bk_id_named(b, "d"), bk_in("r"), "r>b r>c r>k1 r>k2");
	REACHES(b, bk_id_named(b, "c"), bk_in(NULL), "r>a s>a");
}

static void walk_start_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	world(b);
	REACHES(b, bk_id_named(b, "stranger"), bk_children(), "");
	REACHES(b, bk_id_named(b, "stranger"), bk_out(NULL), "");
	REACHES(b, bk_id_named(b, "stranger"), bk_in(NULL), "");
	REACHES(b, bk_id_named(b, "nowhere"), bk_in(NULL), ""); /* linked to, but not there */
}

static void walk_rel_exact(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node n = bk_node_named(b, "n"), m = bk_node_named(b, "m");

	bk_node_link(b, &n, "ab>m a>m abc>m b>m");
	CREATE(b, &n);
	CREATE(b, &m);
	REACHES(b, n.id, bk_out("ab"), "ab>m");
	REACHES(b, n.id, bk_out("a"), "a>m");
	REACHES(b, m.id, bk_in("ab"), "ab>n");
	REACHES(b, m.id, bk_in("c"), "");
}

/* An id that begins another one, in children, out-links and in-links. */
static void walk_id_prefix(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node p = bk_node_named(b, "p"), pp = bk_node_named(b, "pp"),
		       x = bk_node_named(b, "x"), y = bk_node_named(b, "y");

	x.parent = p.id;
	y.parent = pp.id;
	bk_node_link(b, &p, "r>x");
	bk_node_link(b, &pp, "r>y");
	bk_node_link(b, &x, "q>p");
	bk_node_link(b, &y, "q>pp");
	CREATE(b, &p);
	CREATE(b, &pp);
	CREATE(b, &x);
	CREATE(b, &y);
	REACHES(b, p.id, bk_children(), "x");
	REACHES(b, p.id, bk_out(NULL), "r>x");
	REACHES(b, p.id, bk_in(NULL), "q>x");
	REACHES(b, pp.id, bk_children(), "y");
	REACHES(b, pp.id, bk_out(NULL), "r>y");
}

static void walk_paths(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step steps[3] = {bk_children(), bk_out(NULL), bk_in(NULL)};
	struct bk_slice start[3] = {bk_id_named(b, "a"), bk_id_named(b, "a"), bk_id_named(b, "d")};
	struct bk_hits hits;
	size_t i, k, pass;

	world(b);
	for (i = 0; i < 3; i++) {
		for (pass = 0; pass < 2; pass++) {
			WALK(b, &hits, start[i], &steps[i], 1, pass ? BK_WANT_PATH : 0, 2);
			CHECK(t, hits.count >= 2, "a walk gives %zu hits", hits.count);
			for (k = 0; k < hits.count; k++) {
				struct bk_slice id;

				if (!pass) {
					CHECK(t, hits.at[k].path.len == 0,
					      "a path that was not wanted: %s",
					      bk_test_show(&b->arena, hits.at[k].path));
					continue;
				}
				FIND(b, BK_OK, &id, hits.at[k].path);
				CHECK(t, bk_slice_eq(id, hits.at[k].id),
				      "the path of a hit belongs to another node");
			}
		}
	}
}

/* ---- Several steps ------------------------------------------------------------------------- */

static void steps_reach(struct bk_box *b, struct bk_at at, const char *start,
			const struct bk_step *steps, size_t n, const char *names)
{
	static const size_t caps[] = {1, 2, 3, 100};
	struct bk_hits hits;
	size_t i;

	for (i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		bk_t_walk(b, at, &hits, bk_id_named(b, "%s", start), steps, n, 0, caps[i]);
		bk_t_hits_named(b, at, &hits, names);
	}
}

static void walk_multiplicity(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step rr[2] = {bk_out("r"), bk_out("r")}, any[2] = {bk_out(NULL), bk_out(NULL)},
		       kids[2] = {bk_children(), bk_out("r")};

	world(b);
	steps_reach(b, AT, "a", rr, 2, "r>d r>d");
	steps_reach(b, AT, "a", any, 2, "r>d r>d r>d");
	steps_reach(b, AT, "a", kids, 2, "r>d r>d");
}

static void walk_cycle(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step steps[6];
	size_t i;

	for (i = 0; i < 6; i++)
		steps[i] = bk_out("r");
	world(b);
	steps_reach(b, AT, "a", steps, 3, "r>a r>a");
	steps_reach(b, AT, "a", steps, 4, "r>b r>c r>b r>c");
	steps_reach(b, AT, "d", steps, 4, "r>a r>a");
	steps_reach(b, AT, "a", steps, 6, "r>a r>a r>a r>a");
}

static void walk_mixed(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step up_down[3] = {bk_out("r"), bk_in("r"), bk_children()};
	struct bk_step back[2] = {bk_out("s"), bk_in(NULL)};
	struct bk_step kids[3] = {bk_in("r"), bk_children(), bk_out("r")};
	struct bk_step to_kids[2] = {bk_out("r"), bk_children()};

	world(b);
	/* d -r-> a <-r- d has no children; b <- a has two */
	steps_reach(b, AT, "a", up_down, 3, "k1 k2 k1 k2");
	steps_reach(b, AT, "a", back, 2, "r>a s>a");
	steps_reach(b, AT, "b", kids, 3, "r>d r>d");
	steps_reach(b, AT, "d", to_kids, 2, "k1 k2");
}

static void walk_dangling_between(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node x = bk_node_named(b, "x"), z = bk_node_named(b, "z"),
		       y = bk_node_named(b, "y");
	struct bk_step steps[2] = {bk_out("r"), bk_in("q")};

	bk_node_link(b, &x, "r>y");
	bk_node_link(b, &z, "q>y");
	CREATE(b, &x);
	CREATE(b, &z);
	steps_reach(b, AT, "x", steps, 2, ""); /* there is no y to pass through */
	steps_reach(b, AT, "y", steps + 1, 1, "");
	CREATE(b, &y);
	steps_reach(b, AT, "x", steps, 2, "q>z");
}

static void walk_steps_start_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_step steps[2] = {bk_in(NULL), bk_children()};

	world(b);
	steps_reach(b, AT, "nowhere", steps, 2, "");
	steps_reach(b, AT, "stranger", steps, 2, "");
}

static void walk_members(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node top = bk_node_named(b, "top"), nodes[2];
	struct bk_step steps[2] = {bk_children(), bk_out("for")};
	struct bk_hits want, got;
	size_t i;

	memset(&want, 0, sizeof(want));
	CREATE(b, &top);
	for (i = 0; i < 400; i++) {
		char link[32];
		struct bk_hit hit;

		nodes[0] = bk_node_named(b, "member%zu", i / 2);
		nodes[1] = bk_node_named(b, "proxy%zu", i);
		nodes[1].parent = top.id;
		snprintf(link, sizeof(link), "for>member%zu", i / 2);
		bk_node_link(b, &nodes[1], link);
		PUT_MANY(b, BK_OK, UINT64_MAX, nodes + i % 2, 2 - i % 2, BK_PUT_CREATE);
		memset(&hit, 0, sizeof(hit));
		hit.id = nodes[0].id;
		hit.path = nodes[0].path;
		hit.rel = bk_slice_str("for");
		bk_hits_add(b, &want, hit);
	}
	WALK(b, &got, top.id, steps, 2, BK_WANT_PATH, 33);
	bk_t_hits(b, AT, &want, &got, BK_WANT_PATH);
	WALK(b, &got, top.id, steps, 2, BK_WANT_PATH, 512);
	bk_t_hits(b, AT, &want, &got, BK_WANT_PATH);
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}
#define STEPS(name, func, ...)                                                                     \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES | BK_F_WALK                     \
	}

static const struct bk_case cases[] = {
	CASE("children", walk_children, "children and nothing else"),
	CASE("out-in", walk_out_in, "out-links and in-links by relation and by any"),
	CASE("start-missing", walk_start_missing, "from a node that is not there: no hit"),
	CASE("rel-exact", walk_rel_exact, "a relation that begins another is not it"),
	CASE("id-prefix", walk_id_prefix, "an id that begins another is not it"),
	CASE("paths", walk_paths, "paths come when wanted and are empty when not"),
	STEPS("multiplicity", walk_multiplicity, "one hit for every way of reaching a node"),
	STEPS("cycle", walk_cycle, "steps around a cycle"),
	STEPS("mixed", walk_mixed, "children, out and in within one walk"),
	STEPS("dangling-between", walk_dangling_between, "a missing node is no way through"),
	STEPS("steps-start-missing", walk_steps_start_missing,
	      "several steps from nowhere: no hit"),
	STEPS("members", walk_members, "400 proxies to 200 members, by pages of any size"),
	{.name = NULL},
};

const struct bk_group bk_group_walk = {"walk", cases};
