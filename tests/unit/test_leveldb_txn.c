/*
 * The leveldb backend's transactions: who loses, and where err->item points.
 */
#include "leveldb.h"

static void begin(struct ldb_test *t, struct bk_session *s)
{
	uint32_t isolation = 0;

	OK(t->t->txn.begin(s, &isolation, 0, &t->err));
	assert_int_equal(isolation, BK_ISO_SNAPSHOT);
}

static void serializable_is_not_promised(void **state)
{
	struct ldb_test *t = *state;
	uint32_t isolation = BK_ISO_SERIALIZABLE;

	ldb_begin(t);
	GIVES(UNSUPPORTED, t->t->txn.begin(t->s, &isolation, 0, &t->err));
	assert_int_equal(isolation, BK_ISO_SERIALIZABLE);
	isolation = BK_ISO_REPEATABLE_READ;
	OK(t->t->txn.begin(t->s, &isolation, 0, &t->err));
	assert_int_equal(isolation, BK_ISO_SNAPSHOT);
}

static void first_committer_wins(void **state)
{
	struct ldb_test *t = *state;

	ldb_begin(t);
	OK(ldb_put(t, t->s, "a", NULL, "0", BK_PUT_CREATE));
	OK(ldb_put(t, t->s, "b", NULL, "0", BK_PUT_CREATE));
	begin(t, t->s);
	begin(t, t->other);
	OK(ldb_put(t, t->s, "b", NULL, "1", BK_PUT_REPLACE));
	OK(ldb_put(t, t->s, "a", NULL, "1", BK_PUT_REPLACE));
	OK(ldb_put(t, t->other, "a", NULL, "2", BK_PUT_REPLACE));
	OK(t->t->txn.commit(t->other, &t->err));
	GIVES(CONFLICT, t->t->txn.commit(t->s, &t->err));
	assert_int_equal(t->err.item, 1); /* the second write of the loser */
	ldb_has_doc(t, "a", "2");
	ldb_has_doc(t, "b", "0");
}

/* A put outside any transaction counts as a committer too. */
static void a_single_put_wins(void **state)
{
	struct ldb_test *t = *state;

	ldb_begin(t);
	OK(ldb_put(t, t->s, "a", NULL, "0", BK_PUT_CREATE));
	begin(t, t->s);
	OK(t->t->node.append(t->s, bk_slice_str("a"), bk_slice_str("1"), NULL, 0, &t->err));
	OK(ldb_put(t, t->other, "a", NULL, "2", BK_PUT_REPLACE));
	GIVES(CONFLICT, t->t->txn.commit(t->s, &t->err));
	ldb_has_doc(t, "a", "2");
}

/* What nobody else has touched commits, whatever else has been written meanwhile. */
static void strangers_do_not_meet(void **state)
{
	struct ldb_test *t = *state;
	char id[32];
	int i;

	ldb_begin(t);
	OK(ldb_put(t, t->s, "a", NULL, "0", BK_PUT_CREATE));
	begin(t, t->s);
	OK(ldb_put(t, t->s, "a", NULL, "1", BK_PUT_REPLACE));
	OK(ldb_put(t, t->s, "new", "a", "1", BK_PUT_CREATE));
	for (i = 0; i < 5000; i++) { /* more than there are stripes */
		snprintf(id, sizeof(id), "other-%d", i);
		OK(ldb_put(t, t->other, id, i % 2 ? "a" : NULL, "x", BK_PUT_CREATE));
	}
	OK(t->t->txn.commit(t->s, &t->err));
	ldb_has_doc(t, "a", "1");
	ldb_has_doc(t, "new", "1");
}

static void the_same_new_name(void **state)
{
	struct ldb_test *t = *state;
	struct bk_node node = ldb_node("mine", NULL);
	struct bk_slice id;

	ldb_begin(t);
	begin(t, t->s);
	OK(ldb_put(t, t->s, "x", NULL, "", BK_PUT_CREATE));
	node.path = bk_slice_str("/shared");
	OK(t->t->node.put(t->s, &node, BK_PUT_CREATE, &t->err));
	node.id = bk_slice_str("theirs");
	OK(t->t->node.put(t->other, &node, BK_PUT_CREATE, &t->err));
	GIVES(CONFLICT, t->t->txn.commit(t->s, &t->err));
	assert_int_equal(t->err.item, 1);
	assert_contains(t->err.message, "path '/shared'");
	OK(t->t->node.find(&id, t->s, node.path, &t->err));
	assert_true(bk_slice_eq(id, node.id));
	GIVES(NOT_FOUND, t->t->node.find(&id, t->s, bk_slice_str("x"), &t->err));
}

/* Each alone sees nothing wrong; both together would leave a child without its parent. */
static void no_orphans(void **state)
{
	struct ldb_test *t = *state;
	int who;

	ldb_begin(t);
	for (who = 0; who < 2; who++) {
		OK(ldb_put(t, t->s, "p", NULL, "", BK_PUT_CREATE));
		begin(t, t->s);
		begin(t, t->other);
		OK(ldb_put(t, t->s, "c", "p", "", BK_PUT_CREATE));
		OK(t->t->node.remove(t->other, bk_slice_str("p"), &t->err));
		if (who == 0) {
			OK(t->t->txn.commit(t->s, &t->err));
			GIVES(CONFLICT, t->t->txn.commit(t->other, &t->err));
			OK(t->t->node.remove(t->s, bk_slice_str("c"), &t->err));
			OK(t->t->node.remove(t->s, bk_slice_str("p"), &t->err));
		} else {
			OK(t->t->txn.commit(t->other, &t->err));
			GIVES(CONFLICT, t->t->txn.commit(t->s, &t->err));
			assert_contains(t->err.message, "parent 'p'");
			GIVES(NOT_FOUND, ldb_put(t, t->s, "c", NULL, "", BK_PUT_REPLACE));
		}
	}
}

/* put_many inside: none of a failing call stays, all of what stood before does. */
static void a_failing_batch_inside(void **state)
{
	struct ldb_test *t = *state;
	struct bk_node nodes[3] = {ldb_node("1", NULL), ldb_node("2", NULL), ldb_node("a", NULL)};
	struct bk_node got;

	ldb_begin(t);
	begin(t, t->s);
	OK(ldb_put(t, t->s, "a", NULL, "kept", BK_PUT_CREATE));
	nodes[0].doc = bk_slice_str("gone");
	GIVES(EXISTS, t->t->node.put_many(t->s, nodes, 3, BK_PUT_CREATE, &t->err));
	assert_int_equal(t->err.item, 2);
	nodes[2].doc = bk_slice_str("changed");
	nodes[1].parent = bk_slice_str("nobody");
	GIVES(NOT_FOUND, t->t->node.put_many(t->s, (struct bk_node[]){nodes[2], nodes[1]}, 2,
					     BK_PUT_UPSERT, &t->err));
	assert_int_equal(t->err.item, 1);
	OK(t->t->txn.commit(t->s, &t->err));
	ldb_has_doc(t, "a", "kept");
	GIVES(NOT_FOUND, t->t->node.get(&got, t->s, nodes[0].id, 0, &t->err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(serializable_is_not_promised, ldb_setup,
						ldb_teardown),
		cmocka_unit_test_setup_teardown(first_committer_wins, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(a_single_put_wins, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(strangers_do_not_meet, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(the_same_new_name, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(no_orphans, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(a_failing_batch_inside, ldb_setup, ldb_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
