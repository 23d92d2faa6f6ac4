/*
 * test_bulk.c - put_many as arrays, as COPY and deferred: the same answers, the first node in the
 * way, all or none.
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 1500 /* by COPY */
#define FEW  60   /* as arrays */

static char ids[MANY][32];
static struct bk_node nodes[MANY];
static struct bk_link links[MANY][2];

/* A root, and everybody else beneath the one before; every link given twice. */
static void fresh(size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(ids[i], sizeof(ids[i]), "node-%zu", i);
		links[i][0] = links[i][1] =
			(struct bk_link){bk_slice_str("next"), bk_slice_str(ids[i / 2])};
		nodes[i] = (struct bk_node){.id = bk_slice_str(ids[i]),
					    .parent = bk_slice_str(i ? ids[i - 1] : ""),
					    .path = bk_slice_str(ids[i]),
					    .doc = bk_slice_str("doc"),
					    .links = links[i],
					    .link_count = 2};
	}
}

struct scene {
	struct bk_layered *l;
	struct bk_session *s;
};

static void scene_open(struct scene *x, const char *layout)
{
	const char *sets[] = {layout, NULL};

	x->l = pg_store("bulk", sets, BK_DURABLE_NONE);
	ok(x->l->tables.store.unmake(x->l->store, E));
	ok(x->l->tables.store.make(x->l->store, E));
	x->s = session(x->l, 0);
	put(x->l, x->s, "there", "", "1");
}

static void scene_close(struct scene *x)
{
	x->l->tables.session.close(x->s);
	ok(x->l->tables.store.unmake(x->l->store, E));
	pg_store_close(x->l);
}

static bk_status put_many(struct scene *x, size_t n)
{
	return x->l->tables.node.put_many(x->s, nodes, n, BK_PUT_CREATE, E);
}

static void is_empty(struct scene *x)
{
	struct bk_node node;

	wants(BK_NOT_FOUND,
	      x->l->tables.node.get(&node, x->s, bk_slice_str("node-0"), BK_WANT_DOC, E));
	ok(x->l->tables.node.get(&node, x->s, bk_slice_str("there"), BK_WANT_DOC, E));
}

/* What is wrong with one node of the batch, and what the answer to it is. */
static bk_status spoil(size_t kind, size_t at, size_t n)
{
	switch (kind) {
	case 0: /* the id is stored */
		nodes[at].id = bk_slice_str("there");
		return BK_EXISTS;
	case 1: /* the path is stored */
		nodes[at].path = bk_slice_str("there");
		return BK_EXISTS;
	case 2: /* the id stands earlier in the batch */
		nodes[at].id = nodes[0].id;
		return BK_EXISTS;
	case 3: /* so does the path */
		nodes[at].path = nodes[at - 1].path;
		return BK_EXISTS;
	case 4: /* no such parent */
		nodes[at].parent = bk_slice_str("nobody");
		return BK_NOT_FOUND;
	case 5: /* the parent comes later */
		nodes[at].parent = nodes[n - 1].id;
		return BK_NOT_FOUND;
	default: /* its own parent */
		nodes[at].parent = nodes[at].id;
		return BK_NOT_FOUND;
	}
}
#define KINDS 7

static void one_in_the_way(struct scene *x, size_t n)
{
	size_t kind, at[2] = {n / 3, n - 2}, i;

	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < 2; i++) {
			bk_status want;

			fresh(n);
			want = spoil(kind, at[i], n);
			last_err.item = 0;
			wants(want, put_many(x, n));
			if (last_err.item != at[i])
				fail_msg("kind %zu: item %llu instead of %zu", kind,
					 (unsigned long long)last_err.item, at[i]);
			is_empty(x);
		}
	}
}

static void then_all_is_well(struct scene *x, size_t n)
{
	struct bk_node node;

	fresh(n);
	ok(put_many(x, n));
	ok(x->l->tables.node.get(&node, x->s, nodes[n - 1].id,
				 BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, E));
	assert_int_equal(node.link_count, 1);
	assert_true(bk_slice_eq(node.parent, nodes[n - 2].id));
}

static void all_ways(const char *layout, size_t n)
{
	uint32_t isolation = 0;
	struct bk_node node;
	struct scene x;

	scene_open(&x, layout);
	one_in_the_way(&x, n);
	/* Inside a transaction each failure leaves it as it was, and it goes on. */
	ok(x.l->tables.txn.begin(x.s, &isolation, 0, E));
	put(x.l, x.s, "before", "", "1");
	one_in_the_way(&x, n);
	then_all_is_well(&x, n);
	ok(x.l->tables.txn.commit(x.s, E));
	ok(x.l->tables.node.get(&node, x.s, bk_slice_str("before"), 0, E));
	ok(x.l->tables.store.clear(x.l->store, E));
	put(x.l, x.s, "there", "", "1");
	then_all_is_well(&x, n);
	scene_close(&x);
}

static void arrays(void **state)
{
	all_ways("layout=relational", FEW);
}

static void copy(void **state)
{
	all_ways("layout=relational", MANY);
}

static void documents(void **state)
{
	all_ways("layout=document", FEW);
}

/* The ordinal of the call, and nothing of the transaction stays. */
static void deferred(const char *layout)
{
	uint32_t isolation;
	struct scene x;
	size_t kind;

	scene_open(&x, layout);
	for (kind = 0; kind < KINDS; kind++) {
		bk_status want;

		isolation = 0;
		ok(x.l->tables.txn.begin(x.s, &isolation, BK_TXN_DEFER, E));
		put(x.l, x.s, "zero", "", "1");
		put(x.l, x.s, "one", "zero", "1");
		fresh(FEW);
		want = spoil(kind, 5, FEW);
		ok(put_many(&x, FEW));
		put(x.l, x.s, "three", "one", "1");
		wants(want, x.l->tables.txn.commit(x.s, E));
		assert_int_equal(last_err.item, 2);
		is_empty(&x);
		wants(BK_NOT_FOUND,
		      x.l->tables.node.find(&(struct bk_slice){0}, x.s, bk_slice_str("zero"), E));
	}
	scene_close(&x);
}

static void deferred_relational(void **state)
{
	deferred("layout=relational");
}

static void deferred_documents(void **state)
{
	deferred("layout=document");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays),
		cmocka_unit_test(copy),
		cmocka_unit_test(documents),
		cmocka_unit_test(deferred_relational),
		cmocka_unit_test(deferred_documents),
	};

	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
