/*
 * group_node_bytes.c - ids, paths and documents of every kind and size.
 *
 * The one invariant: awkward values are all in the store at the same time, so that two which the
 * store takes for one are caught.
 */
#include "conform/nodes.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define LIT(s)                                                                                     \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}
#define LONG_MOST 65536u

static const struct bk_slice awkward_ids[] = {
	LIT("\0"),
	LIT("\0\0"),
	LIT("a"),
	LIT("a\0"),
	LIT("a\0b"),
	LIT("\0a"),
	LIT("A"),
	LIT("a "),
	LIT(" a"),
	LIT("\xff"),
	LIT("\xff\xff"),
	LIT("\xff\0"),
	LIT("a\xff"),
	LIT("a\x01"),
	LIT("\x01"),
	LIT("\x80"),
	LIT("'"),
	LIT("''"),
	LIT("\""),
	LIT("\\"),
	LIT("\\000"),
	LIT("\\x61"),
	LIT("%"),
	LIT("%61"),
	LIT("_"),
	LIT("a%"),
	LIT("\n"),
	LIT("\r\n"),
	LIT("\t"),
	LIT("."),
	LIT(".."),
	LIT("/"),
	LIT("a/b"),
	LIT("../../etc/passwd"),
	LIT("-"),
	LIT("--"),
	LIT("*"),
	LIT("?"),
	LIT("$(id)"),
	LIT(";"),
	LIT("'; drop table node; --"),
	LIT("\xc3\xa9"),
	LIT("e\xcc\x81"),
	LIT("\xe2\x82\xac"),
	LIT("\xf0\x9f\x8d\xb0"),
	LIT("NULL"),
	LIT("null"),
	LIT("0"),
	LIT("00"),
};

static const struct bk_slice awkward_paths[] = {
	LIT("a"),
	LIT("A"),
	LIT("a "),
	LIT(" a"),
	LIT("/"),
	LIT("//"),
	LIT("/a"),
	LIT("/a/"),
	LIT("/a//b"),
	LIT("/a/b"),
	LIT("/a/./b"),
	LIT("/a/../b"),
	LIT("."),
	LIT(".."),
	LIT("'"),
	LIT("''"),
	LIT("\""),
	LIT("\\"),
	LIT("%"),
	LIT("%2F"),
	LIT("_"),
	LIT("/a%"),
	LIT("/a_"),
	LIT("\n"),
	LIT("\x01"),
	LIT("\x7f"),
	LIT("a\nb"),
	LIT(";"),
	LIT("'; drop table node; --"),
	LIT("/\xc3\xa9"),
	LIT("/e\xcc\x81"),
	LIT("/\xc3\x89"),
	LIT("/\xc3\x9f"),
	LIT("/ss"),
	LIT("/\xe2\x82\xac"),
	LIT("/\xf0\x9f\x8d\xb0"),
	LIT("/\xef\xbf\xbf"),
};

static void all_at_once(struct bk_box *b, struct bk_node *nodes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		CREATE(b, &nodes[i]);
	for (i = 0; i < n; i++)
		SAME(b, &nodes[i]);
	for (i = 0; i < n; i += 2)
		REMOVE(b, BK_OK, nodes[i].id);
	for (i = 0; i < n; i++) {
		if (i % 2)
			SAME(b, &nodes[i]);
		else
			GONE(b, &nodes[i]);
	}
}

static void node_id_any_bytes(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node nodes[LEN(awkward_ids)];
	size_t i;

	for (i = 0; i < LEN(awkward_ids); i++) {
		nodes[i] = bk_node_named(b, "p%zu", i);
		nodes[i].id = awkward_ids[i];
		nodes[i].doc = bk_test_printf(&b->arena, "%zu", i);
	}
	all_at_once(b, nodes, LEN(awkward_ids));
}

static void node_id_each_byte(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node nodes[256];
	char bytes[256][3];
	size_t i;

	for (i = 0; i < 256; i++) {
		bytes[i][0] = 'x';
		bytes[i][1] = (char)i;
		bytes[i][2] = 'y';
		nodes[i] = bk_node_named(b, "p%zu", i);
		nodes[i].id = bk_slice_of(bytes[i], 3);
		nodes[i].doc = bk_test_printf(&b->arena, "%zu", i);
	}
	all_at_once(b, nodes, 256);
}

static void node_path_awkward(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node nodes[LEN(awkward_paths)];
	size_t i;

	for (i = 0; i < LEN(awkward_paths); i++) {
		nodes[i] = bk_node_named(b, "n%zu", i);
		nodes[i].path = awkward_paths[i];
		if (t->own & BK_F_ID_IS_PATH)
			nodes[i].id = nodes[i].path;
		nodes[i].doc = bk_test_printf(&b->arena, "%zu", i);
	}
	all_at_once(b, nodes, LEN(awkward_paths));
}

/* ---- Lengths ------------------------------------------------------------------------------- */

static struct bk_slice repeated(struct bk_box *b, char c, size_t len)
{
	char *p = bk_arena_alloc(&b->arena, len);

	memset(p, c, len);
	return bk_slice_of(p, len);
}

static size_t capped(uint64_t limit, size_t cap)
{
	return limit < cap ? (size_t)limit : cap;
}

/* Two ids of the greatest length that differ in the last byte, and one a byte shorter. */
static void node_id_longest(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	size_t len = capped(t->limits.id_max, LONG_MOST), i;
	struct bk_node nodes[3];

	CHECK(t, len >= 2, "limits.id_max is %llu", (unsigned long long)t->limits.id_max);
	for (i = 0; i < 3; i++) {
		nodes[i] = bk_node_named(b, "n%zu", i);
		nodes[i].id = repeated(b, 'i', i == 2 ? len - 1 : len);
		nodes[i].doc = bk_test_printf(&b->arena, "%zu", i);
	}
	((char *)(uintptr_t)nodes[1].id.data)[len - 1] = 'j';
	bk_node_link(b, &nodes[0], "r>x");
	((struct bk_link *)(uintptr_t)nodes[0].links)[0].target = nodes[1].id;
	all_at_once(b, nodes, 3);
	CREATE(b, &nodes[0]);
	nodes[2].parent = nodes[0].id; /* a long id in every place that an id can have */
	CREATE(b, &nodes[2]);
	SAME(b, &nodes[2]);
}

static void node_path_longest(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	size_t len = capped(t->limits.path_max, LONG_MOST), i;
	struct bk_node nodes[3];

	CHECK(t, len >= 2, "limits.path_max is %llu", (unsigned long long)t->limits.path_max);
	if (t->own & BK_F_ID_IS_PATH)
		len = capped(t->limits.id_max, len);
	for (i = 0; i < 3; i++) {
		nodes[i] = bk_node_named(b, "n%zu", i);
		nodes[i].path = repeated(b, 'p', i == 2 ? len - 1 : len);
		if (i == 1)
			((char *)(uintptr_t)nodes[1].path.data)[len - 1] = 'q';
		if (t->own & BK_F_ID_IS_PATH)
			nodes[i].id = nodes[i].path;
		nodes[i].doc = bk_test_printf(&b->arena, "%zu", i);
	}
	all_at_once(b, nodes, 3);
}

static void too_long(struct bk_test *t, uint64_t limit, const char *what)
{
	if (limit >= (64u << 20))
		bk_test_skip(t, "limits.%s is too far to reach", what);
}

static void node_id_too_long(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n");

	too_long(t, t->limits.id_max, "id_max");
	node.id = repeated(b, 'i', (size_t)t->limits.id_max + 1);
	PUT(b, BK_TOO_LARGE, &node, BK_PUT_CREATE);
	FIND(b, BK_NOT_FOUND, &node.id, node.path);
}

static void node_path_too_long(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n"), got;

	too_long(t, t->limits.path_max, "path_max");
	node.path = repeated(b, 'p', (size_t)t->limits.path_max + 1);
	if (t->own & BK_F_ID_IS_PATH)
		node.id = node.path;
	PUT(b, BK_TOO_LARGE, &node, BK_PUT_CREATE);
	if (!(t->own & BK_F_ID_IS_PATH))
		GET(b, BK_NOT_FOUND, &got, node.id, 0);
}

static void node_doc_too_long(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n");

	too_long(t, t->limits.doc_max, "doc_max");
	node.doc = repeated(b, 'd', (size_t)t->limits.doc_max + 1);
	PUT(b, BK_TOO_LARGE, &node, BK_PUT_CREATE);
	GONE(b, &node);
}

/* ---- Documents ---------------------------------------------------------------------------------
 */

static void node_doc_sizes(struct bk_test *t)
{
	static const size_t sizes[] = {0,     1,     2,     127,   128,    255,
				       256,   511,   512,   4095,  4096,   4097,
				       16383, 16384, 65535, 65536, 100000, 1u << 20};
	struct bk_box *b = bk_test_box(t);
	struct bk_node nodes[LEN(sizes)];
	size_t i;

	for (i = 0; i < LEN(sizes); i++) {
		nodes[i] = bk_node_named(b, "n%zu", i);
		nodes[i].doc = bk_test_bytes(&b->arena, i, capped(t->limits.doc_max, sizes[i]));
		CREATE(b, &nodes[i]);
	}
	for (i = 0; i < LEN(sizes); i++)
		SAME(b, &nodes[i]);
	for (i = 0; i < LEN(sizes); i++) { /* shrink the large, grow the small */
		struct bk_node *node = &nodes[i];

		node->doc = nodes[LEN(sizes) - 1 - i].doc;
		PUT(b, BK_OK, node, BK_PUT_REPLACE);
		SAME(b, node);
	}
}

static void node_doc_any_bytes(struct bk_test *t)
{
	static const struct bk_slice docs[] = {
		LIT("\0"), LIT("\0\0\0"),       LIT("a\0b"),       LIT("\xff\xfe"), LIT("\\x41"),
		LIT("'"),  LIT("\\N"),          LIT("line\nline"), LIT("\r\n"),     LIT("\x1a"),
		LIT("{}"), LIT("\xef\xbb\xbf"), LIT(" "),          LIT("%s%n"),
	};
	struct bk_box *b = bk_test_box(t);
	struct bk_node node;
	unsigned char all[512];
	size_t i;

	for (i = 0; i < LEN(docs); i++) {
		node = bk_node_named(b, "n%zu", i);
		node.doc = docs[i];
		CREATE(b, &node);
		SAME(b, &node);
	}
	for (i = 0; i < sizeof(all); i++)
		all[i] = (unsigned char)i;
	node = bk_node_named(b, "all");
	node.doc = bk_slice_of(all, sizeof(all));
	CREATE(b, &node);
	SAME(b, &node);
}

/* An empty slice may point anywhere, or nowhere. */
static void node_empty_slices(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "null"), other = bk_node_named(b, "other");

	other.doc = bk_slice_of("never read", 0);
	other.parent = bk_slice_of("never read", 0);
	CREATE(b, &node);
	CREATE(b, &other);
	SAME(b, &node);
	SAME(b, &other);
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}

static const struct bk_case cases[] = {
	CASE("id-any-bytes", node_id_any_bytes, "ids with zero bytes, quotes, %, line ends, dots",
	     .flags = BK_CASE_FREE_ID),
	CASE("id-each-byte", node_id_each_byte, "every byte value within an id",
	     .flags = BK_CASE_FREE_ID),
	CASE("id-longest", node_id_longest, "ids as long as the limit allows",
	     .flags = BK_CASE_FREE_ID),
	CASE("id-too-long", node_id_too_long, "an id over limits.id_max: TOO_LARGE",
	     .flags = BK_CASE_FREE_ID),
	CASE("path-awkward", node_path_awkward, "paths that differ in case, accents, spaces, dots"),
	CASE("path-longest", node_path_longest, "paths as long as the limit allows"),
	CASE("path-too-long", node_path_too_long, "a path over limits.path_max: TOO_LARGE"),
	CASE("doc-sizes", node_doc_sizes, "documents from nothing to 1 MiB, grown and shrunk"),
	CASE("doc-any-bytes", node_doc_any_bytes, "documents with any bytes"),
	CASE("doc-too-long", node_doc_too_long, "a document over limits.doc_max: TOO_LARGE"),
	CASE("empty-slices", node_empty_slices, "an empty slice with or without a pointer"),
	{.name = NULL},
};

const struct bk_group bk_group_node_bytes = {"node", cases};
