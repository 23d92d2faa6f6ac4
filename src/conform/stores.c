/*
 * stores.c - opening, joining, leaving, shutting; what a case leaves open is closed here.
 *
 * The one invariant: a space that a case opened is unmade at its end, and that must go well.
 */
#include "conform/test.h"

#include <stdlib.h>

#define DURABILITY_NAMES "none", "process", "machine"

static const char *durability_name(uint32_t durability)
{
	static const char *const names[] = {DURABILITY_NAMES};

	return durability < 3 ? names[durability] : "?";
}

bk_status bk_test_try_open(struct bk_layered **out, struct bk_test *t, enum bk_test_space space,
			   const char *mark, uint32_t durability, uint32_t flags,
			   struct bk_error *err)
{
	struct bk_layered *l = NULL;
	bk_status st;
	int i;

	for (i = 0; i < BK_TEST_STORES && t->stores[i]; i++)
		;
	CHECK(t, i < BK_TEST_STORES, "the case opens too many stores");
	st = bk_open(&l, t->config->plugin, t->options, t->space[space], mark, durability, flags,
		     err);
	if (st != BK_OK)
		return st;
	t->space_used[space] = true;
	t->stores[i] = l;
	*out = l;
	return BK_OK;
}

struct bk_layered *bk_test_open(struct bk_test *t, enum bk_test_space space, uint32_t durability,
				uint32_t flags)
{
	struct bk_error err = bk_error_init();
	struct bk_layered *l = NULL;
	bk_status st = bk_test_try_open(&l, t, space, NULL, durability, flags, &err);

	CHECK(t, st == BK_OK, "store.open: %s: %s", bk_test_status_name(st), err.message);
	return l;
}

void bk_test_shut(struct bk_test *t, struct bk_layered *l)
{
	int i;

	for (i = 0; i < BK_TEST_STORES; i++) {
		if (t->stores[i] == l) {
			t->stores[i] = NULL;
			bk_close(l);
			return;
		}
	}
	FAIL(t, "the case shuts a store that is not open");
}

/* ---- Sessions ----------------------------------------------------------------------- */

static bk_status box_open(struct bk_box *b, struct bk_test *t, struct bk_layered *l,
			  uint32_t durability, uint32_t worker, uint64_t timeout_ns, uint32_t set)
{
	struct bk_session_config config;
	bk_status st;

	memset(&config, 0, sizeof(config));
	config.struct_size = (uint32_t)sizeof(config);
	config.worker = worker;
	config.durability = durability;
	config.timeout_ns = timeout_ns;
	memset(b, 0, sizeof(*b));
	b->t = t;
	b->l = l;
	b->ops = &l->tables;
	b->s = (struct bk_session *)b;
	WANT_IN(t, set, UINT64_MAX, st, l->tables.session.open(&b->s, l->store, &config, E));
	if (st == BK_OK)
		CHECK(t, b->s && b->s != (struct bk_session *)b,
		      "session.open: OK without a session");
	else
		CHECK(t, b->s == (struct bk_session *)b, "session.open: failed and wrote *out");
	return st;
}

void bk_test_enter(struct bk_box *b, struct bk_test *t, struct bk_layered *l, uint32_t durability,
		   uint32_t worker, uint64_t timeout_ns)
{
	box_open(b, t, l, durability, worker, timeout_ns, ONE(BK_OK));
}

void bk_test_exit(struct bk_box *b)
{
	if (b->s)
		b->ops->session.close(b->s);
	b->s = NULL;
	bk_arena_free(&b->arena);
}

static struct bk_box *box_try(struct bk_test *t, struct bk_layered *l, uint32_t durability,
			      uint32_t set)
{
	struct bk_box *b = calloc(1, sizeof(*b));
	int i;

	for (i = 0; i < BK_TEST_BOXES && t->boxes[i]; i++)
		;
	CHECK(t, i < BK_TEST_BOXES && b, "the case opens too many sessions");
	if (box_open(b, t, l, durability, (uint32_t)i, 0, set) != BK_OK) {
		free(b);
		return NULL;
	}
	t->boxes[i] = b;
	return b;
}

struct bk_box *bk_test_join(struct bk_test *t, struct bk_layered *l, uint32_t durability)
{
	return box_try(t, l, durability, ONE(BK_OK));
}

void bk_test_leave(struct bk_box *b)
{
	struct bk_test *t = b->t;
	int i;

	for (i = 0; i < BK_TEST_BOXES; i++) {
		if (t->boxes[i] == b)
			t->boxes[i] = NULL;
	}
	bk_test_exit(b);
	free(b);
}

void bk_test_shut_box(struct bk_box *b)
{
	struct bk_test *t = b->t;
	struct bk_layered *l = b->l;

	bk_test_leave(b);
	bk_test_shut(t, l);
}

struct bk_box *bk_test_box_at(struct bk_test *t, enum bk_test_space space, uint32_t durability,
			      uint32_t flags)
{
	struct bk_layered *l = bk_test_open(t, space, durability, flags);

	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	return bk_test_join(t, l, durability);
}

struct bk_box *bk_test_box(struct bk_test *t)
{
	return bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
}

struct bk_box *bk_test_durable(struct bk_test *t, uint32_t durability, uint32_t flags)
{
	struct bk_error err = bk_error_init();
	struct bk_layered *l = NULL;
	struct bk_box *b;
	bk_status st = bk_test_try_open(&l, t, BK_SPACE_A, NULL, durability, flags, &err);

	if (st == BK_UNSUPPORTED)
		bk_test_skip(t, "does not offer durability %s", durability_name(durability));
	CHECK(t, st == BK_OK, "store.open at durability %s: %s: %s", durability_name(durability),
	      bk_test_status_name(st), err.message);
	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	b = box_try(t, l, durability, TWO(BK_OK, BK_UNSUPPORTED));
	if (!b)
		bk_test_skip(t, "does not offer durability %s", durability_name(durability));
	return b;
}

struct bk_box *bk_test_reopen(struct bk_box *b, uint32_t durability, uint32_t flags)
{
	struct bk_test *t = b->t;

	bk_test_shut_box(b);
	return bk_test_join(t, bk_test_open(t, BK_SPACE_A, durability, flags), durability);
}

/* ---- The end -------------------------------------------------------------------------- */

static void test_unmake(struct bk_test *t, enum bk_test_space space)
{
	struct bk_layered *l = bk_test_open(t, space, BK_DURABLE_NONE, BK_OPEN_CHECK);
	bk_status st;

	WANT_IN(t, TWO(BK_OK, BK_NOT_FOUND), UINT64_MAX, st, l->tables.store.unmake(l->store, E));
	bk_test_shut(t, l);
}

void bk_test_end(struct bk_test *t)
{
	int i;

	for (i = BK_TEST_BOXES; i-- > 0;) {
		if (t->boxes[i])
			bk_test_leave(t->boxes[i]);
	}
	for (i = BK_TEST_STORES; i-- > 0;) {
		if (t->stores[i])
			bk_test_shut(t, t->stores[i]);
	}
	for (i = 0; i < BK_SPACE_COUNT; i++) {
		if (t->space_used[i])
			test_unmake(t, (enum bk_test_space)i);
		t->space_used[i] = false;
	}
}
