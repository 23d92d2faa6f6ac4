/*
 * test_layouts.c - the two layouts answer alike, whatever the bytes; what each cannot hold.
 */
#include "my.h"

#include "util/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL (BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS)

static const char *const document[] = {"layout=document", NULL};
static const char *const rows[] = {"inserts=rows", NULL};

static int by_bytes(const void *a, const void *b)
{
	return bk_slice_cmp(*(const struct bk_slice *)a, *(const struct bk_slice *)b);
}

/* The targets of a walk as one sorted text. */
static void reach(char *out, size_t cap, struct bk_layered *l, struct bk_session *s, const char *id,
		  uint32_t dir)
{
	struct bk_step step = {.dir = dir};
	struct bk_slice found[600];
	struct bk_hit hits[7];
	size_t n, all = 0, i, len = 0;
	struct bk_cursor *c;
	bk_status st;

	ok(l->tables.node.walk_open(&c, s, bk_slice_str(id), &step, 1, BK_WANT_PATH, E));
	while ((st = l->tables.node.walk_next(c, hits, 7, &n, E)) == BK_OK) {
		for (i = 0; i < n; i++) {
			char *text =
				malloc(hits[i].id.len + hits[i].path.len + hits[i].rel.len + 3);
			int k = sprintf(text, "%.*s %.*s %.*s", (int)hits[i].rel.len,
					hits[i].rel.len ? (const char *)hits[i].rel.data : "",
					(int)hits[i].id.len, (const char *)hits[i].id.data,
					(int)hits[i].path.len, (const char *)hits[i].path.data);

			found[all++] = bk_slice_of(text, (size_t)k);
		}
	}
	assert_int_equal(st, BK_END);
	l->tables.node.walk_close(c);
	qsort(found, all, sizeof(*found), by_bytes);
	for (i = 0; i < all; i++) {
		len += (size_t)snprintf(out + len, cap - len, "%s\n", (const char *)found[i].data);
		free((void *)(uintptr_t)found[i].data);
	}
	out[len] = '\0';
}

/* The same requests to both; the same answers. */
static void one_step(struct bk_rng *rng, struct bk_layered **l, struct bk_session **s)
{
	char id[16], parent[16], targets[4][16], doc[400];
	struct bk_link links[4];
	struct bk_node node = {0};
	bk_status st[2];
	size_t i;
	int k;

	snprintf(id, sizeof(id), "n%u", (unsigned)bk_rng_below(rng, 60));
	snprintf(parent, sizeof(parent), "n%u", (unsigned)bk_rng_below(rng, 60));
	for (i = 0; i < 4; i++) {
		snprintf(targets[i], sizeof(targets[i]), "n%u", (unsigned)bk_rng_below(rng, 60));
		links[i].rel = bk_slice_str(i % 2 ? "likes" : "knows");
		links[i].target = bk_slice_str(targets[i]);
	}
	for (i = 0; i < sizeof(doc); i++)
		doc[i] = (char)bk_rng_below(rng, 256);
	node.id = node.path = bk_slice_str(id);
	node.parent = bk_slice_str(bk_rng_below(rng, 3) ? parent : "");
	node.doc = bk_slice_of(doc, (size_t)bk_rng_below(rng, sizeof(doc)));
	node.links = links;
	node.link_count = (size_t)bk_rng_below(rng, 5);
	i = (size_t)bk_rng_below(rng, 4);
	for (k = 0; k < 2; k++) {
		if (i == 0)
			st[k] = l[k]->tables.node.remove(s[k], node.id, E);
		else
			st[k] = l[k]->tables.node.put(s[k], &node, (uint32_t)i, E);
	}
	assert_int_equal(st[0], st[1]);
}

static void compare(struct bk_layered **l, struct bk_session **s)
{
	struct bk_node node[2];
	char text[2][20000], id[16];
	uint32_t dir;
	bk_status st[2];
	int i, k;

	for (i = 0; i < 60; i++) {
		snprintf(id, sizeof(id), "n%d", i);
		for (k = 0; k < 2; k++)
			st[k] = l[k]->tables.node.get(&node[k], s[k], bk_slice_str(id), ALL, E);
		assert_int_equal(st[0], st[1]);
		if (st[0])
			continue;
		assert_true(bk_slice_eq(node[0].doc, node[1].doc));
		assert_true(bk_slice_eq(node[0].path, node[1].path));
		assert_true(bk_slice_eq(node[0].parent, node[1].parent));
		assert_int_equal(node[0].link_count, node[1].link_count);
		for (dir = BK_CHILDREN; dir <= BK_IN; dir++) {
			for (k = 0; k < 2; k++)
				reach(text[k], sizeof(text[k]), l[k], s[k], id, dir);
			assert_string_equal(text[0], text[1]);
		}
	}
}

static void agree(const char *const *sets)
{
	struct bk_layered *l[2] = {store_made("left", NULL), store_made("right", sets)};
	struct bk_session *s[2] = {session(l[0], 0), session(l[1], 0)};
	struct bk_rng rng;
	int i;

	bk_rng_init(&rng, 11);
	for (i = 0; i < 400; i++) {
		one_step(&rng, l, s);
		if (i % 100 == 99)
			compare(l, s);
	}
	for (i = 0; i < 2; i++) {
		l[i]->tables.session.close(s[i]);
		store_done(l[i]);
	}
}

static void layouts_agree(void **state)
{
	agree(document);
}

static void inserts_agree(void **state)
{
	agree(rows);
}

/* Longer than a packet: in pieces, or refused. */
static void longer_than_a_packet(void **state)
{
	static char doc[5000000];
	struct bk_slice all = bk_slice_of(doc, sizeof(doc));
	struct bk_layered *l;
	struct bk_session *s;
	struct bk_node node;
	size_t i;

	for (i = 0; i < sizeof(doc); i++)
		doc[i] = (char)(i * 31 + i / 977);
	sql(admin, "SET GLOBAL max_allowed_packet=1048576");
	l = store_made("packet", NULL);
	s = session(l, 0);
	ok(try_put(l, s, "n", "", all, BK_PUT_CREATE));
	ok(l->tables.node.get(&node, s, bk_slice_str("n"), BK_WANT_DOC, E));
	assert_true(bk_slice_eq(node.doc, all));
	ok(l->tables.node.append(s, bk_slice_str("n"), all, NULL, 0, E));
	ok(l->tables.node.get(&node, s, bk_slice_str("n"), BK_WANT_DOC, E));
	assert_int_equal(node.doc.len, 2 * sizeof(doc));
	assert_memory_equal((const char *)node.doc.data + sizeof(doc), doc, sizeof(doc));
	l->tables.session.close(s);
	store_done(l);

	l = store_made("packet", document);
	s = session(l, 0);
	assert_true(l->limits.doc_max < 1048576);
	wants(BK_TOO_LARGE, try_put(l, s, "n", "", all, BK_PUT_CREATE));
	all.len = (size_t)l->limits.doc_max - 1000;
	ok(try_put(l, s, "n", "", all, BK_PUT_CREATE));
	ok(l->tables.node.get(&node, s, bk_slice_str("n"), BK_WANT_DOC, E));
	assert_true(bk_slice_eq(node.doc, all));
	/* The parent's row has no room for so many children. */
	for (i = 0; i < 100; i++) {
		char id[120];

		snprintf(id, sizeof(id), "%0100zu", i);
		if (try_put(l, s, id, "n", bk_slice_str(""), BK_PUT_CREATE))
			break;
	}
	assert_true(i >= 1 && i <= 20);
	assert_int_equal(last_err.status, BK_TOO_LARGE);
	says("max_allowed_packet");
	l->tables.session.close(s);
	store_done(l);
	sql(admin, "SET GLOBAL max_allowed_packet=16777216");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_agree),
		cmocka_unit_test(inserts_agree),
		cmocka_unit_test(longer_than_a_packet),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
