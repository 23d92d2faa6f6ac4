/*
 * group_node.c - put, get, find and remove of single nodes.
 *
 * The one invariant: what a case says of a node it says of the stored one, read back by id and by
 * path (SAME), never of what a call answered alone.
 */
#include "conform/nodes.h"

static struct bk_node sample(struct bk_box *b, const char *name)
{
	struct bk_node node = bk_node_named(b, "%s", name);

	node.doc = bk_test_printf(&b->arena, "the document of %s", name);
	bk_node_link(b, &node, "likes>one likes>two knows>one");
	return node;
}

static void node_round_trip(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n");

	CREATE(b, &node);
	SAME(b, &node);
}

static void node_get_fields(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node root = bk_node_named(b, "root"), node = sample(b, "n"), got;
	uint32_t fields;

	node.parent = root.id;
	CREATE(b, &root);
	CREATE(b, &node);
	for (fields = 0; fields <= BK_WANT_ALL; fields++) {
		GET(b, BK_OK, &got, node.id, fields);
		bk_t_equal(b, AT, &node, &got, fields);
	}
}

static void node_get_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), other = bk_node_named(b, "m");

	GONE(b, &other);
	CREATE(b, &node);
	GONE(b, &other);
}

/* What is not kept is 0; what is kept is not. */
static void node_version_kept(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), got;

	CREATE(b, &node);
	GET(b, BK_OK, &got, node.id, 0);
	if (bk_test_has(t, BK_F_CAS))
		CHECK(t, got.version != 0, "versions are kept (CAS) and this one is 0");
	else
		CHECK(t, got.version == 0, "no versions are kept and this one is %llu",
		      (unsigned long long)got.version);
}

static void node_create_taken_id(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), again = sample(b, "other");

	CREATE(b, &node);
	again.id = node.id;
	PUT(b, BK_EXISTS, &again, BK_PUT_CREATE);
	SAME(b, &node);
	FIND(b, BK_NOT_FOUND, &again.id, again.path);
}

static void node_create_taken_path(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), again = sample(b, "other"), got;

	TARGETS(b, "four");
	bk_node_link(b, &again, "likes>four");
	CREATE(b, &node);
	again.path = node.path;
	PUT(b, BK_EXISTS, &again, BK_PUT_CREATE);
	SAME(b, &node);
	GET(b, BK_NOT_FOUND, &got, again.id, 0);
	REACHES(b, bk_id_named(b, "four"), bk_in(NULL), "");
}

static void node_create_twice(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n");

	CREATE(b, &node);
	PUT(b, BK_EXISTS, &node, BK_PUT_CREATE);
	SAME(b, &node);
}

static void node_parent_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n");

	node.parent = bk_id_named(b, "nobody");
	PUT(b, BK_NOT_FOUND, &node, BK_PUT_CREATE);
	GONE(b, &node);
	PUT(b, BK_NOT_FOUND, &node, BK_PUT_UPSERT);
	GONE(b, &node);
	node.parent = bk_slice_of(NULL, 0);
	CREATE(b, &node);
	SAME(b, &node);
}

static void node_parent_itself(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n");

	node.parent = node.id;
	PUT(b, BK_NOT_FOUND, &node, BK_PUT_CREATE);
	GONE(b, &node);
}

/* The backend stores paths, it does not build them from the parent's. */
static void node_path_not_derived(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node top = sample(b, "a/b/c"), child = sample(b, "elsewhere");

	child.parent = top.id;
	CREATE(b, &top);
	CREATE(b, &child);
	SAME(b, &child);
	REACHES(b, top.id, bk_children(), "elsewhere");
}

static void node_deep(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "d0"), next;
	int i;

	CREATE(b, &node);
	for (i = 1; i < 60; i++) {
		next = bk_node_named(b, "d%d", i);
		next.parent = node.id;
		CREATE(b, &next);
		node = next;
	}
	SAME(b, &node);
	REACHES(b, bk_id_named(b, "d58"), bk_children(), "d59");
}

/* ---- Replace and upsert ------------------------------------------------------------------ */

static void node_replace(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node root = bk_node_named(b, "root"), node = sample(b, "n");

	node.parent = root.id;
	TARGETS(b, "one two three");
	CREATE(b, &root);
	CREATE(b, &node);
	REACHES(b, bk_id_named(b, "one"), bk_in(NULL), "likes>n knows>n");
	node.doc = bk_slice_str("another");
	bk_node_link(b, &node, "likes>two hates>three");
	PUT(b, BK_OK, &node, BK_PUT_REPLACE);
	SAME(b, &node);
	REACHES(b, bk_id_named(b, "one"), bk_in(NULL), "");
	REACHES(b, bk_id_named(b, "three"), bk_in(NULL), "hates>n");
	REACHES(b, root.id, bk_children(), "n");
	node.doc = bk_slice_of(NULL, 0);
	bk_node_link(b, &node, "");
	PUT(b, BK_OK, &node, BK_PUT_REPLACE);
	SAME(b, &node);
	REACHES(b, bk_id_named(b, "two"), bk_in(NULL), "");
	REACHES(b, bk_id_named(b, "three"), bk_in(NULL), "");
}

static void node_replace_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n");

	PUT(b, BK_NOT_FOUND, &node, BK_PUT_REPLACE);
	GONE(b, &node);
}

static void moved(struct bk_test *t, uint32_t mode)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	struct bk_node root = bk_node_named(b, "root"), node = sample(b, "n"), other;

	node.parent = root.id;
	CREATE(b, &root);
	CREATE(b, &node);
	other = node;
	other.doc = bk_slice_str("not to be seen");
	other.path = bk_path_named(b, "moved");
	PUT(b, BK_INVALID, &other, mode);
	SAME(b, &node);
	FIND(b, BK_NOT_FOUND, &other.id, other.path);
	other = node;
	other.doc = bk_slice_str("not to be seen");
	other.parent = bk_slice_of(NULL, 0);
	PUT(b, BK_INVALID, &other, mode);
	SAME(b, &node);
	REACHES(b, root.id, bk_children(), "n");
}

static void node_replace_moved(struct bk_test *t)
{
	moved(t, BK_PUT_REPLACE);
}

static void node_upsert_moved(struct bk_test *t)
{
	moved(t, BK_PUT_UPSERT);
}

static void node_upsert(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node root = bk_node_named(b, "root"), node = sample(b, "n");

	CREATE(b, &root);
	node.parent = root.id;
	PUT(b, BK_OK, &node, BK_PUT_UPSERT);
	SAME(b, &node);
	node.doc = bk_slice_str("another");
	bk_node_link(b, &node, "likes>three");
	PUT(b, BK_OK, &node, BK_PUT_UPSERT);
	SAME(b, &node);
	REACHES(b, root.id, bk_children(), "n");
}

static void node_upsert_taken_path(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), other = sample(b, "m"), got;

	CREATE(b, &node);
	other.path = node.path;
	PUT(b, BK_EXISTS, &other, BK_PUT_UPSERT);
	SAME(b, &node);
	GET(b, BK_NOT_FOUND, &got, other.id, 0);
}

static void node_replace_often(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = bk_node_named(b, "n");
	int i;

	TARGETS(b, "odd even both");
	CREATE(b, &node);
	for (i = 0; i < 300; i++) {
		node.doc = bk_test_bytes(&b->arena, (uint64_t)i, (size_t)(i * 37 % 900));
		bk_node_link(b, &node, i % 2 ? "r>odd s>both" : "r>even s>both");
		PUT(b, BK_OK, &node, BK_PUT_REPLACE);
	}
	SAME(b, &node);
	REACHES(b, bk_id_named(b, "even"), bk_in(NULL), "");
	REACHES(b, bk_id_named(b, "both"), bk_in(NULL), "s>n");
}

/* ---- Versions ------------------------------------------------------------------------------ */

static void node_cas_changes(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), got;
	uint64_t version;
	int i;

	CREATE(b, &node);
	GET(b, BK_OK, &got, node.id, 0);
	for (i = 0; i < 5; i++) {
		version = got.version;
		node.version = i % 2 ? version : 0;
		node.doc = bk_test_printf(&b->arena, "%d", i);
		PUT(b, BK_OK, &node, BK_PUT_REPLACE);
		GET(b, BK_OK, &got, node.id, BK_WANT_DOC);
		CHECK(t, got.version != version && got.version != 0,
		      "the version after a replacement is the one before: %llu",
		      (unsigned long long)version);
		CHECK(t, bk_slice_eq(got.doc, node.doc), "the document was not replaced");
	}
}

static void node_cas_stale(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), old, got;

	CREATE(b, &node);
	GET(b, BK_OK, &got, node.id, 0);
	old = node;
	old.version = got.version;
	node.doc = bk_slice_str("second");
	PUT(b, BK_OK, &node, BK_PUT_REPLACE);
	old.doc = bk_slice_str("stale");
	PUT(b, BK_CONFLICT, &old, BK_PUT_REPLACE);
	SAME(b, &node);
	old.version += 1000;
	PUT(b, BK_CONFLICT, &old, BK_PUT_REPLACE);
	SAME(b, &node);
}

/* ---- Remove ---------------------------------------------------------------------------------- */

static void node_remove(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node root = bk_node_named(b, "root"), node = sample(b, "n"),
		       one = bk_node_named(b, "one");

	node.parent = root.id;
	CREATE(b, &root);
	CREATE(b, &one);
	CREATE(b, &node);
	REMOVE(b, BK_OK, node.id);
	GONE(b, &node);
	REACHES(b, root.id, bk_children(), "");
	REACHES(b, one.id, bk_in(NULL), "");
	REACHES(b, node.id, bk_out(NULL), "");
	SAME(b, &root);
	SAME(b, &one);
}

static void node_remove_missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n");

	REMOVE(b, BK_NOT_FOUND, node.id);
	CREATE(b, &node);
	REMOVE(b, BK_OK, node.id);
	REMOVE(b, BK_NOT_FOUND, node.id);
}

static void node_remove_parent(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node root = sample(b, "root"), kid = sample(b, "kid"), kid2 = sample(b, "kid2");

	kid.parent = kid2.parent = root.id;
	CREATE(b, &root);
	CREATE(b, &kid);
	CREATE(b, &kid2);
	REMOVE(b, BK_IN_USE, root.id);
	SAME(b, &root);
	SAME(b, &kid);
	REMOVE(b, BK_OK, kid.id);
	REMOVE(b, BK_IN_USE, root.id);
	REMOVE(b, BK_OK, kid2.id);
	REMOVE(b, BK_OK, root.id);
	GONE(b, &root);
}

static void node_remove_and_create(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node first = sample(b, "first"), second = sample(b, "second");

	TARGETS(b, "one two three");
	CREATE(b, &first);
	REMOVE(b, BK_OK, first.id);
	if (!(t->own & BK_F_ID_IS_PATH))
		second.path = first.path; /* the path is free again, for another id */
	bk_node_link(b, &second, "");
	second.doc = bk_slice_of(NULL, 0);
	CREATE(b, &second);
	SAME(b, &second);
	bk_node_link(b, &first, "likes>three");
	first.doc = bk_slice_str("born again");
	first.path = t->own & BK_F_ID_IS_PATH ? first.path : bk_path_named(b, "free");
	CREATE(b, &first);
	SAME(b, &first);
	REACHES(b, bk_id_named(b, "one"), bk_in(NULL), "");
	REACHES(b, bk_id_named(b, "three"), bk_in(NULL), "likes>first");
}

static void node_remove_keeps_in_links(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node from = bk_node_named(b, "from"), to = bk_node_named(b, "to");

	bk_node_link(b, &from, "r>to s>to");
	CREATE(b, &to);
	CREATE(b, &from);
	REMOVE(b, BK_OK, to.id);
	SAME(b, &from);
	REACHES(b, from.id, bk_out(NULL), "");
	CREATE(b, &to);
	REACHES(b, from.id, bk_out(NULL), "r>to s>to");
	REACHES(b, to.id, bk_in(NULL), "r>from s>from");
}

/* ---- Borrowed bytes ----------------------------------------------------------------------------
 */

/* The caller's buffers may change as soon as put() has returned. */
static void node_put_copies(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node = sample(b, "n"), copy = bk_node_copy(b, &node);
	size_t i;

	CREATE(b, &copy);
	memset((void *)(uintptr_t)copy.id.data, '#', copy.id.len);
	memset((void *)(uintptr_t)copy.path.data, '#', copy.path.len);
	memset((void *)(uintptr_t)copy.doc.data, '#', copy.doc.len);
	for (i = 0; i < copy.link_count; i++)
		memset((void *)(uintptr_t)copy.links[i].target.data, '#', copy.links[i].target.len);
	SAME(b, &node);
}

/* A view ends with the next call on its own session, not with a call on another.  On the bare
 * stack: the check layer would hand out copies. */
static void node_view_outlives_others(struct bk_test *t)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE),
		      *other = bk_test_join(t, b->l, BK_DURABLE_NONE);
	struct bk_node node = sample(b, "n"), before = node, got;
	struct bk_slice id;

	CREATE(b, &node);
	GET(b, BK_OK, &got, node.id, BK_WANT_ALL);
	node.doc = bk_test_bytes(&b->arena, 1, 5000);
	bk_node_link(b, &node, "new>link");
	PUT(other, BK_OK, &node, BK_PUT_REPLACE);
	SAME(other, &node);
	bk_t_equal(b, AT, &before, &got, BK_WANT_ALL);
	FIND(b, BK_OK, &id, node.path);
	REMOVE(other, BK_OK, node.id);
	CHECK(t, bk_slice_eq(id, before.id), "a view changed by a call on another session");
}

static void node_seen_by_others(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t), *other = bk_test_join(t, b->l, BK_DURABLE_NONE);
	struct bk_node node = sample(b, "n");
	int i;

	for (i = 0; i < 20; i++) {
		CREATE(b, &node);
		SAME(other, &node);
		node.doc = bk_test_printf(&b->arena, "%d", i);
		PUT(other, BK_OK, &node, BK_PUT_REPLACE);
		SAME(b, &node);
		REMOVE(b, BK_OK, node.id);
		GONE(other, &node);
	}
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}

static const struct bk_case cases[] = {
	CASE("round-trip", node_round_trip, "a node comes back as it was put"),
	CASE("get-fields", node_get_fields, "get fills the fields wanted, leaves the others empty"),
	CASE("get-missing", node_get_missing, "get and find of what is not there: NOT_FOUND"),
	CASE("version-kept", node_version_kept, "the version is 0 exactly when none is kept"),
	CASE("create-taken-id", node_create_taken_id, "create with a taken id: EXISTS",
	     .flags = BK_CASE_FREE_ID),
	CASE("create-taken-path", node_create_taken_path, "create with a taken path: EXISTS",
	     .flags = BK_CASE_FREE_ID),
	CASE("create-twice", node_create_twice, "the same create again: EXISTS"),
	CASE("parent-missing", node_parent_missing, "a parent that is not there: NOT_FOUND"),
	CASE("parent-itself", node_parent_itself, "a new node cannot be its own parent"),
	CASE("path-not-derived", node_path_not_derived, "a path need not continue the parent's"),
	CASE("deep", node_deep, "sixty generations"),
	CASE("replace", node_replace, "replace changes document and links, keeps path and parent"),
	CASE("replace-missing", node_replace_missing, "replace of what is not there: NOT_FOUND"),
	CASE("replace-moved", node_replace_moved, "replace with another path or parent: INVALID",
	     .flags = BK_CASE_FREE_ID),
	CASE("upsert", node_upsert, "upsert creates, then replaces"),
	CASE("upsert-moved", node_upsert_moved, "upsert with another path or parent: INVALID",
	     .flags = BK_CASE_FREE_ID),
	CASE("upsert-taken-path", node_upsert_taken_path, "upsert on another's path: EXISTS",
	     .flags = BK_CASE_FREE_ID),
	CASE("replace-often", node_replace_often, "300 replacements leave the last one only"),
	CASE("cas-changes", node_cas_changes, "every replacement changes the version",
	     .own = BK_F_CAS),
	CASE("cas-stale", node_cas_stale, "a version that differs: CONFLICT, nothing changed",
	     .own = BK_F_CAS),
	CASE("remove", node_remove, "remove takes the node, its out-links and its place"),
	CASE("remove-missing", node_remove_missing, "remove of what is not there: NOT_FOUND"),
	CASE("remove-parent", node_remove_parent, "remove of a node with children: IN_USE"),
	CASE("remove-and-create", node_remove_and_create, "id and path are free after remove"),
	CASE("remove-keeps-in-links", node_remove_keeps_in_links,
	     "links at a removed node stay and lead to it when it is back"),
	CASE("put-copies", node_put_copies, "put keeps nothing of the caller's buffers"),
	CASE("view-outlives-others", node_view_outlives_others,
	     "a view is not changed by another session", .flags = BK_CASE_TWO),
	CASE("seen-by-others", node_seen_by_others, "another session sees each change at once",
	     .flags = BK_CASE_TWO),
	{.name = NULL},
};

const struct bk_group bk_group_node = {"node", cases};
