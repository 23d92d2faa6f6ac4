/*
 * The loop layer: what it makes of single calls answers as the calls that it stands in for.  `mem`
 * with those features masked off is compared with `mem` as it is.
 */
#include "unit.h"

#include "layer/open.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdlib.h>

#define LOOPED   (BK_F_GET_MANY | BK_F_PUT_MANY | BK_F_APPEND | BK_F_WALK)
#define CHILDREN 600 /* more than one page of the layer */

struct fixture {
	struct bk_plugin *plugin;
	struct bk_options *options;
	struct bk_layered *io[2]; /* native, looped */
	struct bk_session *s[2];
};

static struct bk_error err;

static struct bk_layered *open_masked(struct fixture *f, uint64_t mask)
{
	struct bk_layered *io;
	bk_status st;

	st = bk_open(&io, f->plugin, f->options, NULL, NULL, BK_DURABLE_NONE, BK_OPEN_RAW, &err);
	if (st)
		fail_msg("%s", err.message);
	io->native &= ~mask;
	assert_int_equal(bk_layer_loop(io, &err), BK_OK);
	assert_int_equal(bk_layer_check(io, &err), BK_OK);
	assert_int_equal(io->looped, mask);
	assert_int_equal(io->tables.store.make(io->store, &err), BK_OK);
	return io;
}

static struct bk_session *session(struct bk_layered *io)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_session *s = NULL;

	if (io->tables.session.open(&s, io->store, &config, &err))
		fail_msg("%s", err.message);
	return s;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int i;

	err = bk_error_init();
	if (bk_plugin_find(&f->plugin, "mem", &err) ||
	    bk_options_new(&f->options, &f->plugin->desc, &err))
		fail_msg("%s", err.message);
	for (i = 0; i < 2; i++) {
		f->io[i] = open_masked(f, i ? LOOPED : 0);
		f->s[i] = session(f->io[i]);
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int i;

	for (i = 0; i < 2; i++) {
		f->io[i]->tables.session.close(f->s[i]);
		bk_close(f->io[i]);
	}
	bk_options_free(f->options);
	bk_plugin_free(f->plugin);
	free(f);
	return 0;
}

static struct bk_node node_of(const char *id, const char *parent, const char *path)
{
	struct bk_node n = {.id = bk_slice_str(id),
			    .parent = bk_slice_str(parent),
			    .path = bk_slice_str(path),
			    .doc = bk_slice_str("doc")};

	return n;
}

static void put(struct fixture *f, int i, const char *id, const char *parent, const char *rel,
		const char *target)
{
	struct bk_node n = node_of(id, parent, id);
	struct bk_link link = {bk_slice_str(rel), bk_slice_str(target)};

	if (*rel) {
		n.links = &link;
		n.link_count = 1;
	}
	if (f->io[i]->tables.node.put(f->s[i], &n, BK_PUT_CREATE, &err))
		fail_msg("%s: %s", id, err.message);
}

/* root with children, each with a link to a target; targets 2 and 3 are dangling */
static void fill(struct fixture *f)
{
	char id[32], target[32];
	int i, k;

	for (i = 0; i < 2; i++) {
		put(f, i, "root", "", "", "");
		put(f, i, "t0", "", "", "");
		put(f, i, "t1", "", "next", "t0");
		for (k = 0; k < CHILDREN; k++) {
			snprintf(id, sizeof(id), "child%d", k);
			snprintf(target, sizeof(target), "t%d", k % 4);
			put(f, i, id, "root", "has", target);
		}
	}
}

static void get_many_is_the_same(void **state)
{
	struct fixture *f = *state;
	const struct bk_slice ids[] = {bk_slice_str("child1"), bk_slice_str("nobody"),
				       bk_slice_str("root"), bk_slice_str("child1")};
	struct bk_node out[2][4];
	size_t done[2];
	int i, k;

	fill(f);
	for (i = 0; i < 2; i++)
		assert_int_equal(f->io[i]->tables.node.get_many(
					 out[i], &done[i], f->s[i], ids, 4,
					 BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, &err),
				 BK_OK);
	assert_int_equal(done[0], 4);
	assert_int_equal(done[1], 4);
	for (k = 0; k < 4; k++) {
		assert_true(bk_slice_eq(out[0][k].id, out[1][k].id));
		assert_true(bk_slice_eq(out[0][k].parent, out[1][k].parent));
		assert_true(bk_slice_eq(out[0][k].path, out[1][k].path));
		assert_true(bk_slice_eq(out[0][k].doc, out[1][k].doc));
		assert_int_equal(out[0][k].link_count, out[1][k].link_count);
	}
	assert_int_equal(out[1][1].id.len, 0);
	assert_true(bk_slice_eq(out[1][3].links[0].target, bk_slice_str("t1")));
}

/* 8 MiB of views is the limit of one call; what is left is asked for again. */
static void get_many_answers_a_prefix(void **state)
{
	struct fixture *f = *state;
	size_t big = (size_t)3 << 20, done;
	char *doc = calloc(1, big), name[3][4] = {"a", "b", "c"};
	struct bk_slice ids[3];
	struct bk_node n, out[3];
	int i, k;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < 3; k++) {
			ids[k] = bk_slice_str(name[k]);
			n = node_of(name[k], "", name[k]);
			n.doc = bk_slice_of(doc, big);
			assert_int_equal(
				f->io[i]->tables.node.put(f->s[i], &n, BK_PUT_CREATE, &err), BK_OK);
		}
		assert_int_equal(f->io[i]->tables.node.get_many(out, &done, f->s[i], ids, 3,
								BK_WANT_DOC, &err),
				 BK_OK);
		assert_int_equal(done, 2);
	}
	free(doc);
}

static void put_many_names_the_failing_node(void **state)
{
	struct fixture *f = *state;
	struct bk_node n[3];
	struct bk_slice id;
	int i;

	fill(f);
	n[0] = node_of("new", "root", "new");
	n[1] = node_of("newer", "new", "newer"); /* its parent stands before it */
	n[2] = node_of("newest", "nobody", "newest");
	for (i = 0; i < 2; i++) {
		assert_int_equal(f->io[i]->tables.node.put_many(f->s[i], n, 3, BK_PUT_CREATE, &err),
				 BK_NOT_FOUND);
		assert_int_equal(err.item, 2);
	}
	/* only the native one is atomic */
	assert_int_equal(f->io[0]->tables.node.find(&id, f->s[0], bk_slice_str("new"), &err),
			 BK_NOT_FOUND);
	assert_int_equal(f->io[1]->tables.node.find(&id, f->s[1], bk_slice_str("newer"), &err),
			 BK_OK);
}

static void append_is_the_same(void **state)
{
	struct fixture *f = *state;
	const struct bk_link links[] = {{bk_slice_str("has"), bk_slice_str("t1")},
					{bk_slice_str("has"), bk_slice_str("x")}};
	struct bk_node out;
	int i;

	fill(f);
	for (i = 0; i < 2; i++) {
		const struct bk_node_ops *node = &f->io[i]->tables.node;

		assert_int_equal(node->append(f->s[i], bk_slice_str("child1"),
					      bk_slice_str(" and more"), links, 2, &err),
				 BK_OK);
		assert_int_equal(node->append(f->s[i], bk_slice_str("child1"), bk_slice_of(NULL, 0),
					      links, 1, &err),
				 BK_OK);
		assert_int_equal(node->append(f->s[i], bk_slice_str("nobody"), bk_slice_str("x"),
					      NULL, 0, &err),
				 BK_NOT_FOUND);
		assert_int_equal(node->get(&out, f->s[i], bk_slice_str("child1"),
					   BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, &err),
				 BK_OK);
		assert_true(bk_slice_eq(out.doc, bk_slice_str("doc and more")));
		assert_true(bk_slice_eq(out.parent, bk_slice_str("root")));
		assert_int_equal(out.link_count, 2);
	}
}

struct appender {
	struct bk_layered *io;
	pthread_t thread;
	char mark;
};

static void *append_often(void *ctx)
{
	struct appender *a = ctx;
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_error e = bk_error_init();
	struct bk_session *s;
	int i;

	if (a->io->tables.session.open(&s, a->io->store, &config, &e))
		return NULL;
	for (i = 0; i < 200; i++) {
		if (a->io->tables.node.append(s, bk_slice_str("root"), bk_slice_of(&a->mark, 1),
					      NULL, 0, &e))
			break;
	}
	a->io->tables.session.close(s);
	return NULL;
}

/* With versions no append of another thread is lost. */
static void concurrent_appends_add_up(void **state)
{
	struct fixture *f = *state;
	struct appender a[3];
	struct bk_node out;
	int i;

	fill(f);
	for (i = 0; i < 3; i++) {
		a[i].io = f->io[1];
		a[i].mark = (char)('a' + i);
		pthread_create(&a[i].thread, NULL, append_often, &a[i]);
	}
	for (i = 0; i < 3; i++)
		pthread_join(a[i].thread, NULL);
	assert_int_equal(
		f->io[1]->tables.node.get(&out, f->s[1], bk_slice_str("root"), BK_WANT_DOC, &err),
		BK_OK);
	assert_int_equal(out.doc.len, 3 + 3 * 200);
}

/* In a transaction the version cannot change by waiting: no endless loop. */
static void append_in_a_lost_transaction_ends(void **state)
{
	struct fixture *f = *state;
	struct bk_session *other = session(f->io[1]);
	const struct bk_tables *t = &f->io[1]->tables;
	uint32_t isolation = BK_ISO_SERIALIZABLE;
	bk_status st;

	fill(f);
	assert_int_equal(t->txn.begin(f->s[1], &isolation, 0, &err), BK_OK);
	assert_int_equal(
		t->node.append(other, bk_slice_str("root"), bk_slice_str("x"), NULL, 0, &err),
		BK_OK);
	st = t->node.append(f->s[1], bk_slice_str("root"), bk_slice_str("y"), NULL, 0, &err);
	assert_int_equal(st, BK_CONFLICT);
	assert_int_equal(t->txn.rollback(f->s[1], &err), BK_OK);
	t->session.close(other);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All hits as sorted lines "id path rel". */
static size_t walk(char **lines, size_t max, struct fixture *f, int i, const char *start,
		   const struct bk_step *steps, size_t n_steps)
{
	const struct bk_node_ops *node = &f->io[i]->tables.node;
	struct bk_cursor *c;
	struct bk_hit hits[7];
	size_t n, k, count = 0;
	bk_status st;

	if (node->walk_open(&c, f->s[i], bk_slice_str(start), steps, n_steps, BK_WANT_PATH, &err))
		fail_msg("%s", err.message);
	while ((st = node->walk_next(c, hits, 7, &n, &err)) == BK_OK) {
		for (k = 0; k < n; k++) {
			assert_true(count < max);
			lines[count] = malloc(200);
			snprintf(lines[count++], 200, "%.*s %.*s %.*s", (int)hits[k].id.len,
				 (const char *)hits[k].id.data, (int)hits[k].path.len,
				 (const char *)hits[k].path.data, (int)hits[k].rel.len,
				 hits[k].rel.len ? (const char *)hits[k].rel.data : "");
		}
	}
	assert_int_equal(st, BK_END);
	node->walk_close(c);
	qsort(lines, count, sizeof(*lines), by_text);
	return count;
}

static void walks_are_the_same(void **state)
{
	struct fixture *f = *state;
	const struct bk_slice any = {NULL, 0};
	const struct {
		const char *start;
		size_t n, hits;
		struct bk_step steps[3];
	} cases[] = {
		{"root", 1, CHILDREN, {{any, BK_CHILDREN, 0}}},
		{"root", 2, CHILDREN / 2, {{any, BK_CHILDREN, 0}, {any, BK_OUT, 0}}},
		{"root", 2, 0, {{any, BK_CHILDREN, 0}, {bk_slice_str("next"), BK_OUT, 0}}},
		{"root",
		 3,
		 CHILDREN / 4,
		 {{any, BK_CHILDREN, 0}, {any, BK_OUT, 0}, {bk_slice_str("next"), BK_OUT, 0}}},
		{"t0", 1, CHILDREN / 4 + 1, {{any, BK_IN, 0}}},
		{"t0", 2, CHILDREN / 4, {{bk_slice_str("next"), BK_IN, 0}, {any, BK_IN, 0}}},
		{"t2", 1, 0, {{any, BK_IN, 0}}}, /* dangling: not there, so not reached */
		{"nobody", 2, 0, {{any, BK_CHILDREN, 0}, {any, BK_OUT, 0}}},
	};
	static char *lines[2][2 * CHILDREN];
	size_t c, k, n[2];
	int i;

	fill(f);
	for (c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		for (i = 0; i < 2; i++)
			n[i] = walk(lines[i], 2 * CHILDREN, f, i, cases[c].start, cases[c].steps,
				    cases[c].n);
		assert_int_equal(n[0], cases[c].hits);
		assert_int_equal(n[1], cases[c].hits);
		for (k = 0; k < n[0]; k++) {
			assert_string_equal(lines[0][k], lines[1][k]);
			free(lines[0][k]);
			free(lines[1][k]);
		}
	}
}

static void a_walk_can_be_left_early(void **state)
{
	struct fixture *f = *state;
	const struct bk_node_ops *node = &f->io[1]->tables.node;
	const struct bk_step steps[2] = {{{NULL, 0}, BK_CHILDREN, 0}, {{NULL, 0}, BK_OUT, 0}};
	struct bk_cursor *c;
	struct bk_hit hit;
	size_t n;
	int i;

	fill(f);
	for (i = 0; i < 3; i++) {
		assert_int_equal(
			node->walk_open(&c, f->s[1], bk_slice_str("root"), steps, 2, 0, &err),
			BK_OK);
		assert_int_equal(node->walk_next(c, &hit, 1, &n, &err), BK_OK);
		node->walk_close(c);
	}
}

static void nothing_missing_no_layer(void **state)
{
	struct fixture *f = *state;
	struct bk_layered *io;
	struct bk_store *before;

	assert_int_equal(bk_open(&io, f->plugin, f->options, NULL, NULL, 0, BK_OPEN_RAW, &err),
			 BK_OK);
	before = io->store;
	assert_int_equal(bk_layer_loop(io, &err), BK_OK);
	assert_ptr_equal(io->store, before);
	assert_int_equal(io->looped, 0);
	bk_close(io);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(get_many_is_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(get_many_answers_a_prefix, setup, teardown),
		cmocka_unit_test_setup_teardown(put_many_names_the_failing_node, setup, teardown),
		cmocka_unit_test_setup_teardown(append_is_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(concurrent_appends_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(append_in_a_lost_transaction_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(walks_are_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(a_walk_can_be_left_early, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_missing_no_layer, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
