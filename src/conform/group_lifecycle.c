/*
 * group_lifecycle.c - make, clear, unmake, reopen; stores that never meet.
 *
 * The one invariant: a case that needs data to outlast the store handle asks for durability
 * `process` and is skipped where that is not offered.
 */
#include "conform/contents.h"
#include "conform/folder.h"

static void make(struct bk_test *t, struct bk_layered *l)
{
	WANT(t, BK_OK, l->tables.store.make(l->store, E));
}

static void open_changes_nothing(struct bk_test *t)
{
	const char *before = bk_folder_picture(t, t->folder), *after;
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);

	bk_test_shut(t, l);
	after = bk_folder_picture(t, t->folder);
	CHECK(t, strcmp(before, after) == 0, "open and close left something in the folder: %s",
	      after);
}

static void make_twice(struct bk_test *t)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
	struct bk_box *b;

	make(t, l);
	make(t, l);
	b = bk_test_join(t, l, BK_DURABLE_NONE);
	bk_fill(b, "n");
	bk_test_leave(b);
	make(t, l);
	b = bk_test_join(t, l, BK_DURABLE_NONE);
	bk_filled(b, AT, "n");
}

static void clear_empties(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_layered *l = b->l;
	int i;

	for (i = 0; i < 3; i++) {
		bk_fill(b, "n");
		bk_filled(b, AT, "n");
		bk_test_leave(b);
		WANT(t, BK_OK, l->tables.store.clear(l->store, E));
		b = bk_test_join(t, l, BK_DURABLE_NONE);
		bk_empty(b, AT, "n");
	}
	bk_fill(b, "m"); /* still made */
	bk_filled(b, AT, "m");
}

static void clear_empty(struct bk_test *t)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
	struct bk_box *b;

	make(t, l);
	WANT(t, BK_OK, l->tables.store.clear(l->store, E));
	WANT(t, BK_OK, l->tables.store.clear(l->store, E));
	b = bk_test_join(t, l, BK_DURABLE_NONE);
	bk_fill(b, "n");
	bk_filled(b, AT, "n");
}

static void unmake_and_make(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_layered *l = b->l;

	bk_fill(b, "n");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	make(t, l);
	b = bk_test_join(t, l, BK_DURABLE_NONE);
	bk_empty(b, AT, "n");
	bk_fill(b, "n");
	bk_filled(b, AT, "n");
}

static void unmake_twice(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_layered *l = b->l;
	bk_status st;

	bk_fill(b, "n");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	WANT_IN(t, TWO(BK_OK, BK_NOT_FOUND), UINT64_MAX, st, l->tables.store.unmake(l->store, E));
}

static void unmake_leaves_nothing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_layered *l = b->l;

	bk_fill(b, "n");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	bk_test_shut(t, l);
	CHECK(t, bk_folder_entries(t, t->folder) == 0, "unmake left in the folder: %s",
	      bk_folder_picture(t, t->folder));
}

static void reopen_keeps(struct bk_test *t)
{
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	int i;

	bk_fill(b, "n");
	for (i = 0; i < 5; i++) {
		b = bk_test_reopen(b, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
		bk_filled(b, AT, "n");
	}
}

static void reopen_after_clear(struct bk_test *t)
{
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	struct bk_layered *l = b->l;

	bk_fill(b, "n");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.clear(l->store, E));
	b = bk_test_join(t, l, BK_DURABLE_PROCESS);
	bk_empty(b, AT, "n");
	b = bk_test_reopen(b, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	bk_empty(b, AT, "n");
	bk_fill(b, "m");
	b = bk_test_reopen(b, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	bk_filled(b, AT, "m");
}

static void reopen_changes(struct bk_test *t)
{
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	struct bk_node node = bk_node_named(b, "n"), gone = bk_node_named(b, "gone");
	int i;

	CREATE(b, &node);
	CREATE(b, &gone);
	REMOVE(b, BK_OK, gone.id);
	for (i = 0; i < 6; i++) {
		node = bk_node_named(b, "n");
		node.doc = bk_test_bytes(&b->arena, (uint64_t)i, (size_t)i * 700);
		bk_node_link(b, &node, i % 2 ? "odd>gone" : "even>gone");
		PUT(b, BK_OK, &node, BK_PUT_REPLACE);
		b = bk_test_reopen(b, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
		node = bk_node_named(b, "n");
		node.doc = bk_test_bytes(&b->arena, (uint64_t)i, (size_t)i * 700);
		bk_node_link(b, &node, i % 2 ? "odd>gone" : "even>gone");
		gone = bk_node_named(b, "gone");
		SAME(b, &node);
		GONE(b, &gone);
	}
}

/* ---- Two stores ------------------------------------------------------------------------------ */

/* Clearing and unmaking the one leaves the other alone. */
static void apart(struct bk_test *t, enum bk_test_space first, enum bk_test_space second)
{
	struct bk_box *a = bk_test_box_at(t, first, BK_DURABLE_NONE, BK_OPEN_CHECK),
		      *b = bk_test_box_at(t, second, BK_DURABLE_NONE, BK_OPEN_CHECK);
	struct bk_layered *la = a->l;

	bk_fill(b, "n");
	bk_empty(a, AT, "n");
	bk_fill(a, "n");
	bk_filled(b, AT, "n");
	bk_test_leave(a);
	WANT(t, BK_OK, la->tables.store.clear(la->store, E));
	bk_filled(b, AT, "n");
	a = bk_test_join(t, la, BK_DURABLE_NONE);
	bk_empty(a, AT, "n");
	bk_fill(a, "n");
	bk_test_leave(a);
	WANT(t, BK_OK, la->tables.store.unmake(la->store, E));
	bk_filled(b, AT, "n");
	make(t, la);
	a = bk_test_join(t, la, BK_DURABLE_NONE);
	bk_empty(a, AT, "n");
	bk_filled(b, AT, "n");
}

static void spaces_apart(struct bk_test *t)
{
	apart(t, BK_SPACE_A, BK_SPACE_B);
}

static void spaces_prefix(struct bk_test *t)
{
	apart(t, BK_SPACE_A, BK_SPACE_PREFIXED);
}

static void spaces_like(struct bk_test *t)
{
	apart(t, BK_SPACE_A, BK_SPACE_LIKE);
}

/* What a store keeps in memory may hide that two share their files. */
static void spaces_reopened(struct bk_test *t)
{
	struct bk_box *b[2];
	int i, round;

	for (i = 0; i < 2; i++) {
		struct bk_box *box = bk_test_durable(t, BK_DURABLE_PROCESS, BK_OPEN_CHECK);

		if (i == 0)
			bk_fill(box, "a");
		bk_test_shut_box(box);
		b[i] = bk_test_box_at(t, BK_SPACE_B, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
		if (i == 0) {
			bk_empty(b[i], AT, "a");
			bk_fill(b[i], "b");
		}
		bk_test_shut_box(b[i]);
	}
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 2; i++)
			b[i] = bk_test_box_at(t, i ? BK_SPACE_B : BK_SPACE_A, BK_DURABLE_PROCESS,
					      BK_OPEN_CHECK);
		bk_filled(b[0], AT, "a");
		bk_filled(b[1], AT, "b");
		bk_test_shut_box(b[0]);
		bk_test_shut_box(b[1]);
	}
}

static void spaces_links(struct bk_test *t)
{
	struct bk_box *a = bk_test_box(t),
		      *b = bk_test_box_at(t, BK_SPACE_B, BK_DURABLE_NONE, BK_OPEN_CHECK);
	struct bk_node hub = bk_node_named(a, "hub"), node = bk_node_named(a, "n"),
		       kid = bk_node_named(a, "kid");

	CREATE(a, &hub);
	CREATE(b, &hub);
	bk_node_link(a, &node, "r>hub");
	kid.parent = hub.id;
	CREATE(a, &node);
	CREATE(a, &kid);
	REACHES(a, hub.id, bk_in(NULL), "r>n");
	REACHES(b, hub.id, bk_in(NULL), "");
	REACHES(b, hub.id, bk_children(), "");
	REMOVE(b, BK_OK, hub.id);
	REMOVE(a, BK_IN_USE, hub.id);
	REACHES(a, node.id, bk_out(NULL), "r>hub");
}

#define NODE_CASE(name, what, func)                                                                \
	{                                                                                          \
		name, what, func, .needs = BK_F_NODES                                              \
	}

static const struct bk_case cases[] = {
	{"open-changes-nothing", "open and close leave the folder as it was", open_changes_nothing,
	 .flags = BK_CASE_FOLDER},
	{"make-twice", "make where it is made already: fine, and the data stays", make_twice},
	{"clear-empties", "clear empties the store and leaves it made", clear_empties},
	{"clear-empty", "clear of an empty store", clear_empty},
	{"unmake-and-make", "unmake, then make: empty and usable", unmake_and_make},
	{"unmake-twice", "unmake where nothing is left", unmake_twice},
	{"unmake-leaves-nothing", "unmake removes all that make made", unmake_leaves_nothing,
	 .flags = BK_CASE_FOLDER},
	{"reopen-keeps", "what was put is there after close and open", reopen_keeps},
	{"reopen-after-clear", "what was cleared stays away after close and open",
	 reopen_after_clear},
	NODE_CASE("reopen-changes", "changes last over close and open, six times", reopen_changes),
	{"spaces-apart", "two stores at once, cleared and unmade apart", spaces_apart},
	{"spaces-prefix", "a space whose name begins another's", spaces_prefix},
	{"spaces-like", "a space whose name matches another's as a pattern", spaces_like},
	{"spaces-reopened", "two stores filled in turn and opened again", spaces_reopened},
	NODE_CASE("spaces-links", "links and children do not cross from store to store",
		  spaces_links),
	{.name = NULL},
};

const struct bk_group bk_group_lifecycle = {"lifecycle", cases};
