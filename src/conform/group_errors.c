/*
 * group_errors.c - arguments that break the contract, and sessions that go on after errors.
 *
 * The one invariant: these run on the bare stack; the check layer would end the process over a
 * harness that calls like this.
 */
#include "conform/contents.h"
#include "conform/txns.h"

static struct bk_box *bare(struct bk_test *t)
{
	return bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
}

static void bad_nodes(struct bk_test *t)
{
	static const uint32_t modes[] = {0, 4, 99, UINT32_MAX};
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n"), bad = node;
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		PUT(b, BK_INVALID, &node, modes[i]);
	GONE(b, &node);
	bad.id.len = 0;
	PUT(b, BK_INVALID, &bad, BK_PUT_CREATE);
	PUT(b, BK_INVALID, &bad, BK_PUT_UPSERT);
	bad = node;
	bad.path.len = 0;
	PUT(b, BK_INVALID, &bad, BK_PUT_CREATE);
	GONE(b, &node);
	CREATE(b, &node);
	SAME(b, &node);
}

static void bad_links(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n");
	struct bk_link links[2] = {{bk_slice_str("r"), bk_id_named(b, "x")},
				   {bk_slice_of(NULL, 0), bk_id_named(b, "x")}};

	node.links = links;
	node.link_count = 2;
	PUT(b, BK_INVALID, &node, BK_PUT_CREATE);
	GONE(b, &node);
	links[1].rel = bk_slice_str("r");
	links[1].target = bk_slice_of(NULL, 0);
	PUT(b, BK_INVALID, &node, BK_PUT_CREATE);
	GONE(b, &node);
}

/* A name that cannot be, so it is not there; either way of saying it will do. */
static void bad_lookups(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_slice none = bk_slice_of(NULL, 0), id = none;
	struct bk_node got;
	bk_status st;

	memset(&got, 0, sizeof(got));
	WANT_IN(t, TWO(BK_INVALID, BK_NOT_FOUND), UINT64_MAX, st,
		b->ops->node.get(&got, b->s, none, BK_WANT_ALL, E));
	CHECK(t, !got.id.data, "get failed and wrote *out");
	WANT_IN(t, TWO(BK_INVALID, BK_NOT_FOUND), UINT64_MAX, st,
		b->ops->node.find(&id, b->s, none, E));
	CHECK(t, !id.data, "find failed and wrote *id_out");
	WANT_IN(t, TWO(BK_INVALID, BK_NOT_FOUND), UINT64_MAX, st,
		b->ops->node.remove(b->s, none, E));
}

static void bad_walks(struct bk_test *t)
{
	static const uint32_t dirs[] = {0, 4, 99};
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n");
	struct bk_step step = bk_children();
	struct bk_cursor *c = NULL;
	size_t i;

	CREATE(b, &node);
	WANT(t, BK_INVALID, b->ops->node.walk_open(&c, b->s, node.id, &step, 0, 0, E));
	for (i = 0; i < 3; i++) {
		step.dir = dirs[i];
		WANT(t, BK_INVALID, b->ops->node.walk_open(&c, b->s, node.id, &step, 1, 0, E));
	}
	CHECK(t, !c, "walk_open failed and wrote *out");
	REACHES(b, node.id, bk_children(), "");
}

/* Refused, or kept byte for byte; never cut short or changed. */
static void odd_path(struct bk_box *b, struct bk_slice path)
{
	struct bk_node node = bk_node_named(b, "n"), cut = bk_node_named(b, "cut");
	bk_status st;

	cut.path = bk_slice_of(path.data, strlen(path.data));
	node.path = path;
	if (b->t->own & BK_F_ID_IS_PATH) {
		node.id = node.path;
		cut.id = cut.path;
	}
	WANT_IN(b->t, TWO(BK_OK, BK_INVALID), UINT64_MAX, st,
		b->ops->node.put(b->s, &node, BK_PUT_CREATE, E));
	if (st == BK_OK) {
		SAME(b, &node);
		REMOVE(b, BK_OK, node.id);
	} else if (!(b->t->own & BK_F_ID_IS_PATH)) {
		struct bk_node got;

		GET(b, BK_NOT_FOUND, &got, node.id, 0);
	}
	CREATE(b, &cut);
	SAME(b, &cut);
	REMOVE(b, BK_OK, cut.id);
}

static void path_with_nul(struct bk_test *t)
{
	odd_path(bare(t), bk_slice_of("/a\0b", 4));
}

static void path_not_utf8(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n");
	bk_status st;

	node.path = bk_slice_str("/\xff\xfe\xc3");
	if (t->own & BK_F_ID_IS_PATH)
		node.id = node.path;
	WANT_IN(t, TWO(BK_OK, BK_INVALID), UINT64_MAX, st,
		b->ops->node.put(b->s, &node, BK_PUT_CREATE, E));
	if (st == BK_OK)
		SAME(b, &node);
}

static void bad_binaries(struct bk_test *t)
{
	static const uint32_t modes[] = {0, BK_PUT_REPLACE, 99};
	struct bk_box *b = bare(t);
	struct bk_slice key = bk_slice_str("key"), none = bk_slice_of(NULL, 0);
	struct bk_binary_info info = {.struct_size = sizeof(info), .size_bytes = 77};
	struct bk_writer *w = NULL;
	struct bk_reader *r = NULL;
	bk_status st;
	size_t i;

	for (i = 0; i < 3; i++)
		WANT(t, BK_INVALID, b->ops->binary.write_open(&w, b->s, key, 1, modes[i], E));
	WANT(t, BK_INVALID, b->ops->binary.write_open(&w, b->s, none, 1, BK_PUT_UPSERT, E));
	WANT_IN(t, TWO(BK_INVALID, BK_NOT_FOUND), UINT64_MAX, st,
		b->ops->binary.read_open(&r, b->s, none, 0, 1, &info, E));
	WANT_IN(t, TWO(BK_INVALID, BK_NOT_FOUND), UINT64_MAX, st,
		b->ops->binary.stat(b->s, none, &info, E));
	WANT_IN(t, TWO(BK_INVALID, BK_NOT_FOUND), UINT64_MAX, st,
		b->ops->binary.remove(b->s, none, E));
	CHECK(t, !w && !r && info.size_bytes == 77, "a call failed and wrote to an argument");
	NO_BINARY(b, key);
	bk_t_list(b, AT, NULL, NULL, 0, 10);
}

static void key_with_nul(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_slice key = bk_slice_of("a\0b", 3);
	struct bk_writer *w = NULL;
	bk_status st;

	WANT_IN(t, TWO(BK_OK, BK_INVALID), UINT64_MAX, st,
		b->ops->binary.write_open(&w, b->s, key, 3, BK_PUT_UPSERT, E));
	if (st == BK_OK) {
		WRITE(b, w, 1, 0, 3);
		FINISH(b, w, BK_OK, 3);
		BINARY(b, key, 1, 3);
	}
	NO_BINARY(b, bk_slice_str("a"));
}

static void bad_isolation(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	uint32_t isolation = 99;
	bk_status st;

	WANT_IN(t, TWO(BK_INVALID, BK_UNSUPPORTED), UINT64_MAX, st,
		b->ops->txn.begin(b->s, &isolation, 0, E));
	CHECK(t, isolation == 99, "begin failed and wrote *isolation");
	BEGIN(b);
	ROLLBACK(b);
}

/* ---- One handle of a kind ----------------------------------------------------------------------
 */

static void second_cursor(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_node node = bk_node_named(b, "n"), kid = bk_node_named(b, "kid");
	struct bk_step step = bk_children();
	struct bk_cursor *c, *second = NULL;
	struct bk_hits hits;

	memset(&hits, 0, sizeof(hits));
	kid.parent = node.id;
	CREATE(b, &node);
	CREATE(b, &kid);
	c = bk_t_walk_open(b, AT, node.id, &step, 1, 0);
	WANT(t, BK_STATE, b->ops->node.walk_open(&second, b->s, node.id, &step, 1, 0, E));
	CHECK(t, !second, "walk_open failed and wrote *out");
	while (bk_t_walk_next(b, AT, c, 10, &hits))
		;
	b->ops->node.walk_close(c);
	HITS(b, &hits, "kid");
	REACHES(b, node.id, step, "kid");
}

static void second_stream(struct bk_test *t)
{
	struct bk_box *b = bare(t);
	struct bk_slice key = bk_slice_str("key"), other = bk_slice_str("other");
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w = WRITE_OPEN(b, key, 1000, BK_PUT_UPSERT), *w2 = NULL;
	struct bk_reader *r = NULL, *r2 = NULL;

	WRITE(b, w, 1, 0, 500);
	WANT(t, BK_STATE, b->ops->binary.write_open(&w2, b->s, other, 1, BK_PUT_UPSERT, E));
	WRITE(b, w, 1, 500, 500);
	FINISH(b, w, BK_OK, 1000);
	NO_BINARY(b, other);
	WANT(t, BK_OK, b->ops->binary.read_open(&r, b->s, key, 0, 10, &info, E));
	WANT(t, BK_STATE, b->ops->binary.read_open(&r2, b->s, key, 0, 10, &info, E));
	b->ops->binary.read_close(r);
	CHECK(t, !w2 && !r2, "a call failed and wrote *out");
	BINARY(b, key, 1, 1000);
}

/* ---- Afterwards
 * ------------------------------------------------------------------------------------ */

static void session_goes_on(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n"), kid = bk_node_named(b, "kid"), got,
		       other = bk_node_named(b, "other");
	int i;

	node.doc = bk_slice_str("steady");
	kid.parent = node.id;
	CREATE(b, &node);
	CREATE(b, &kid);
	for (i = 0; i < 50; i++) {
		PUT(b, BK_EXISTS, &node, BK_PUT_CREATE);
		PUT(b, BK_NOT_FOUND, &other, BK_PUT_REPLACE);
		other.parent = bk_id_named(b, "nobody");
		PUT(b, BK_NOT_FOUND, &other, BK_PUT_CREATE);
		other.parent = bk_slice_of(NULL, 0);
		REMOVE(b, BK_IN_USE, node.id);
		REMOVE(b, BK_NOT_FOUND, other.id);
		GET(b, BK_NOT_FOUND, &got, other.id, BK_WANT_ALL);
		SAME(b, &node);
		SAME(b, &kid);
	}
	CREATE(b, &other);
	SAME(b, &other);
}

static void streams_go_on(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key"), none = bk_slice_str("none");
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_reader *r = NULL;
	int i;

	STORE(b, key, 1, 100000);
	for (i = 0; i < 20; i++) {
		bk_t_store(b, AT, key, 2, 50, 51, BK_PUT_UPSERT, BK_INVALID);
		NO_BINARY(b, none);
		bk_t_binary_remove(b, AT, none, BK_NOT_FOUND);
		WANT(t, BK_INVALID, b->ops->binary.read_open(&r, b->s, key, 100001, 1, &info, E));
		BINARY(b, key, 1, 100000);
	}
}

#define NODE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}
#define BINARY_CASE(name, func, ...)                                                               \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_BINARIES                              \
	}

static const struct bk_case cases[] = {
	NODE("bad-nodes", bad_nodes, "an unknown mode, an empty id or path: INVALID"),
	NODE("bad-links", bad_links, "an empty relation or target: INVALID"),
	NODE("bad-lookups", bad_lookups, "get, find and remove of an empty name"),
	NODE("bad-walks", bad_walks, "no steps, or a direction that is none: INVALID"),
	NODE("path-with-nul", path_with_nul, "a path with NUL is refused or kept, never cut"),
	NODE("path-not-utf8", path_not_utf8, "a path that is not UTF-8 is refused or kept"),
	BINARY_CASE("bad-binaries", bad_binaries, "an unknown mode, an empty key: INVALID"),
	BINARY_CASE("key-with-nul", key_with_nul, "a key with NUL is refused or kept, never cut"),
	{"bad-isolation", "an isolation that is none is refused", bad_isolation,
	 .needs = BK_F_NODES, .own = BK_F_TXN},
	NODE("second-cursor", second_cursor, "a second cursor in a session: STATE"),
	BINARY_CASE("second-stream", second_stream, "a second writer or reader: STATE"),
	NODE("session-goes-on", session_goes_on, "300 errors, and the session works"),
	BINARY_CASE("streams-go-on", streams_go_on, "80 errors, and the session works"),
	{.name = NULL},
};

const struct bk_group bk_group_errors = {"errors", cases};
