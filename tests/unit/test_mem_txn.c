/*
 * Transactions of the oracle that meet others: what commits, what conflicts, and that a store on
 * which many threads have worked is whole.
 */
#include "unit.h"

#include "layer/open.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdlib.h>

static struct bk_error err;
static struct bk_plugin *plugin;
static struct bk_options *options;
static struct bk_layered *io;
static const struct bk_tables *t;

static struct bk_session *session(void)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_error e = bk_error_init();
	struct bk_session *s = NULL;

	if (t->session.open(&s, io->store, &config, &e))
		fail_msg("%s", e.message);
	return s;
}

static int setup(void **state)
{
	err = bk_error_init();
	if (bk_plugin_find(&plugin, "mem", &err) || bk_options_new(&options, &plugin->desc, &err) ||
	    bk_open(&io, plugin, options, NULL, NULL, 0, BK_OPEN_CHECK, &err))
		fail_msg("%s", err.message);
	t = &io->tables;
	return t->store.make(io->store, &err);
}

static int teardown(void **state)
{
	bk_close(io);
	bk_options_free(options);
	bk_plugin_free(plugin);
	return 0;
}

static bk_status put(struct bk_session *s, const char *id, const char *parent, uint32_t mode)
{
	struct bk_node n = {.id = bk_slice_str(id),
			    .path = bk_slice_str(id),
			    .parent = bk_slice_str(parent),
			    .doc = bk_slice_str("doc")};

	return t->node.put(s, &n, mode, &err);
}

static bk_status begin(struct bk_session *s, uint32_t isolation)
{
	return t->txn.begin(s, &isolation, 0, &err);
}

static bk_status get(struct bk_session *s, const char *id)
{
	struct bk_node n;

	return t->node.get(&n, s, bk_slice_str(id), 0, &err);
}

static bk_status append(struct bk_session *s, const char *id, const char *tail)
{
	return t->node.append(s, bk_slice_str(id), bk_slice_str(tail), NULL, 0, &err);
}

static bk_status drop(struct bk_session *s, const char *id)
{
	return t->node.remove(s, bk_slice_str(id), &err);
}

/* Each: what stands before, what a transaction does, what another session does before it commits,
 * how the commit ends. */
static void what_conflicts(void **state)
{
	enum act { NOTHING, PUT_C, REPLACE_A, APPEND_A, DROP_A, PUT_C_UNDER_A, PUT_AND_DROP_C };
	static const struct {
		enum act mine, theirs;
		bk_status commit;
	} cases[] = {
		{PUT_C, NOTHING, BK_OK},
		{PUT_C, PUT_C, BK_CONFLICT}, /* the id is taken */
		{REPLACE_A, REPLACE_A, BK_CONFLICT},
		{REPLACE_A, APPEND_A, BK_CONFLICT},
		{REPLACE_A, DROP_A, BK_CONFLICT},
		{APPEND_A, APPEND_A, BK_OK}, /* both are kept */
		{APPEND_A, REPLACE_A, BK_OK},
		{APPEND_A, DROP_A, BK_CONFLICT},
		{DROP_A, APPEND_A, BK_CONFLICT},
		{DROP_A, DROP_A, BK_CONFLICT},
		{DROP_A, PUT_C_UNDER_A, BK_CONFLICT}, /* it has children now */
		{PUT_C_UNDER_A, DROP_A, BK_CONFLICT}, /* its parent has gone */
		{PUT_C_UNDER_A, REPLACE_A, BK_OK},
		{PUT_AND_DROP_C, NOTHING, BK_OK},
		{NOTHING, DROP_A, BK_OK},
	};
	struct bk_session *s[2] = {session(), session()};
	size_t i;
	int who;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(t->store.clear(io->store, &err), BK_OK);
		assert_int_equal(put(s[0], "a", "", BK_PUT_CREATE), BK_OK);
		assert_int_equal(begin(s[0], 0), BK_OK);
		for (who = 0; who < 2; who++) {
			bk_status st = BK_OK;

			switch (who ? cases[i].theirs : cases[i].mine) {
			case NOTHING:
				break;
			case PUT_C:
				st = put(s[who], "c", "", BK_PUT_CREATE);
				break;
			case REPLACE_A:
				st = put(s[who], "a", "", BK_PUT_REPLACE);
				break;
			case APPEND_A:
				st = append(s[who], "a", who ? "theirs" : "mine");
				break;
			case DROP_A:
				st = drop(s[who], "a");
				break;
			case PUT_C_UNDER_A:
				st = put(s[who], "c", "a", BK_PUT_CREATE);
				break;
			case PUT_AND_DROP_C:
				st = put(s[who], "c", "", BK_PUT_CREATE);
				if (!st)
					st = drop(s[who], "c");
			}
			assert_int_equal(st, BK_OK);
		}
		err.item = 99;
		if (t->txn.commit(s[0], &err) != cases[i].commit)
			fail_msg("case %zu: commit ends otherwise", i);
		if (cases[i].commit == BK_CONFLICT) {
			assert_int_equal(err.item, 0);
			assert_true(err.flags & BK_ERR_RETRY);
		}
	}
	t->session.close(s[0]);
	t->session.close(s[1]);
}

static void a_lost_transaction_leaves_nothing(void **state)
{
	struct bk_session *mine = session(), *theirs = session();

	assert_int_equal(put(mine, "a", "", BK_PUT_CREATE), BK_OK);
	assert_int_equal(begin(mine, 0), BK_OK);
	assert_int_equal(put(mine, "b", "", BK_PUT_CREATE), BK_OK);
	assert_int_equal(put(mine, "a", "", BK_PUT_REPLACE), BK_OK);
	assert_int_equal(append(theirs, "a", "x"), BK_OK);
	assert_int_equal(t->txn.commit(mine, &err), BK_CONFLICT);
	assert_int_equal(err.item, 1);
	assert_int_equal(get(mine, "b"), BK_NOT_FOUND);
	assert_int_equal(t->txn.rollback(mine, &err), BK_STATE); /* commit has ended it */
	t->session.close(mine);
	t->session.close(theirs);
}

static void nobody_sees_what_is_not_committed(void **state)
{
	struct bk_session *mine = session(), *theirs = session();

	assert_int_equal(begin(mine, 0), BK_OK);
	assert_int_equal(put(mine, "a", "", BK_PUT_CREATE), BK_OK);
	assert_int_equal(get(mine, "a"), BK_OK);
	assert_int_equal(get(theirs, "a"), BK_NOT_FOUND);
	assert_int_equal(t->txn.commit(mine, &err), BK_OK);
	assert_int_equal(get(theirs, "a"), BK_OK);
	t->session.close(mine);
	t->session.close(theirs);
}

static void serializable_is_as_if_alone(void **state)
{
	struct bk_session *mine = session(), *theirs = session();

	assert_int_equal(put(mine, "a", "", BK_PUT_CREATE), BK_OK);
	assert_int_equal(begin(mine, BK_ISO_SNAPSHOT), BK_OK);
	assert_int_equal(get(mine, "a"), BK_OK);
	assert_int_equal(get(theirs, "a"), BK_OK); /* reading disturbs nobody */
	assert_int_equal(get(mine, "a"), BK_OK);
	assert_int_equal(put(theirs, "b", "", BK_PUT_CREATE), BK_OK);
	assert_int_equal(get(mine, "b"), BK_CONFLICT);
	assert_int_equal(t->txn.commit(mine, &err), BK_CONFLICT);
	t->session.close(mine);
	t->session.close(theirs);
}

static void wrong_order_is_state(void **state)
{
	const struct bk_step step = {{NULL, 0}, BK_CHILDREN, 0};
	struct bk_session *s = session();
	struct bk_cursor *c;
	uint32_t level = 0;

	assert_int_equal(t->txn.commit(s, &err), BK_STATE);
	assert_int_equal(t->txn.rollback(s, &err), BK_STATE);
	assert_int_equal(t->txn.flush(s, &err), BK_STATE);
	assert_int_equal(begin(s, 0), BK_OK);
	assert_int_equal(begin(s, 0), BK_STATE);
	assert_int_equal(t->node.walk_open(&c, s, bk_slice_str("a"), &step, 1, 0, &err), BK_OK);
	assert_int_equal(t->txn.commit(s, &err), BK_STATE);
	t->node.walk_close(c);
	assert_int_equal(t->txn.commit(s, &err), BK_STATE); /* it has ended all the same */
	assert_int_equal(t->txn.begin(s, &level, BK_TXN_READ_ONLY, &err), BK_OK);
	assert_int_equal(put(s, "a", "", BK_PUT_CREATE), BK_STATE);
	assert_int_equal(t->txn.rollback(s, &err), BK_OK);
	t->session.close(s);
}

/* ---- Many threads ---------------------------------------------------------- */

#define THREADS 3
#define ROUNDS  400
#define NODES   24

struct worker {
	pthread_t thread;
	int number;
	long committed, lost;
	bk_status odd; /* a status that should not come */
};

static bool expected(bk_status st)
{
	return st == BK_OK || st == BK_NOT_FOUND || st == BK_EXISTS || st == BK_CONFLICT ||
	       st == BK_IN_USE || st == BK_INVALID;
}

static bk_status one_change(struct bk_session *s, struct bk_rng *rng, struct bk_error *e)
{
	char id[16], parent[16], target[16];
	struct bk_link link = {bk_slice_str("r"), {target, 0}};
	struct bk_node n = {.links = &link, .link_count = 1, .doc = bk_slice_str("d")};
	int i = (int)bk_rng_below(rng, NODES);

	snprintf(id, sizeof(id), "n%d", i);
	snprintf(target, sizeof(target), "n%d", (int)bk_rng_below(rng, NODES));
	link.target.len = strlen(target);
	n.id = n.path = bk_slice_str(id);
	if (i) { /* a tree: the parent's number is lower, and always the same */
		snprintf(parent, sizeof(parent), "n%d", i / 2);
		n.parent = bk_slice_str(parent);
	}
	switch (bk_rng_below(rng, 4)) {
	case 0:
		return t->node.remove(s, n.id, e);
	case 1:
		return t->node.append(s, n.id, bk_slice_str("+"), &link, 1, e);
	default:
		return t->node.put(s, &n, BK_PUT_UPSERT, e);
	}
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	struct bk_error e = bk_error_init();
	struct bk_session *s = session();
	uint32_t isolation;
	struct bk_rng rng;
	bk_status st;
	int i, k;

	bk_rng_stream(&rng, 1, w->number % 2 ? "odd" : "even", NULL);
	for (i = 0; i < ROUNDS; i++) {
		isolation = i % 5 ? 0 : BK_ISO_SERIALIZABLE;
		if (i % 3 == 0) {
			st = one_change(s, &rng, &e);
			if (!expected(st))
				w->odd = st;
			continue;
		}
		t->txn.begin(s, &isolation, 0, &e);
		for (k = 0; k < 4; k++) {
			st = one_change(s, &rng, &e);
			if (!expected(st))
				w->odd = st;
		}
		st = i % 7 ? t->txn.commit(s, &e) : t->txn.rollback(s, &e);
		w->committed += st == BK_OK;
		w->lost += st == BK_CONFLICT;
		if (!expected(st))
			w->odd = st;
	}
	t->session.close(s);
	return NULL;
}

static size_t count_hits(struct bk_session *s, const char *id, uint32_t dir)
{
	const struct bk_step step = {{NULL, 0}, dir, 0};
	struct bk_cursor *c;
	struct bk_hit hits[8];
	size_t n, count = 0;

	assert_int_equal(t->node.walk_open(&c, s, bk_slice_str(id), &step, 1, 0, &err), BK_OK);
	while (t->node.walk_next(c, hits, 8, &n, &err) == BK_OK)
		count += n;
	t->node.walk_close(c);
	return count;
}

/* Every link is seen from both ends, every node is its parent's child, every parent is there. */
static void store_is_whole(struct bk_session *s)
{
	size_t out = 0, in = 0, children = 0, with_parent = 0;
	struct bk_node n;
	struct bk_slice id;
	char name[16], parent[16];
	int i;

	for (i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		out += count_hits(s, name, BK_OUT);
		in += count_hits(s, name, BK_IN);
		children += count_hits(s, name, BK_CHILDREN);
		if (t->node.get(&n, s, bk_slice_str(name), BK_WANT_PATH, &err)) {
			assert_int_equal(t->node.find(&id, s, bk_slice_str(name), &err),
					 BK_NOT_FOUND);
			continue;
		}
		with_parent += n.parent.len != 0;
		if (n.parent.len) {
			snprintf(parent, sizeof(parent), "%.*s", (int)n.parent.len,
				 (const char *)n.parent.data);
			assert_int_equal(get(s, parent), BK_OK);
		}
		assert_int_equal(t->node.find(&id, s, bk_slice_str(name), &err), BK_OK);
	}
	assert_int_equal(out, in);
	assert_int_equal(children, with_parent);
}

static void many_threads_leave_a_whole_store(void **state)
{
	struct worker w[THREADS];
	struct bk_session *s = session();
	long committed = 0, lost = 0;
	int i;

	memset(w, 0, sizeof(w));
	for (i = 0; i < THREADS; i++) {
		w[i].number = i;
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].odd, BK_OK);
		committed += w[i].committed;
		lost += w[i].lost;
	}
	print_message("%ld committed, %ld lost\n", committed, lost);
	assert_true(committed > 0);
	store_is_whole(s);
	t->session.close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_conflicts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lost_transaction_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_sees_what_is_not_committed, setup, teardown),
		cmocka_unit_test_setup_teardown(serializable_is_as_if_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_order_is_state, setup, teardown),
		cmocka_unit_test_setup_teardown(many_threads_leave_a_whole_store, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
