/*
 * group_threads.c - sessions on threads of their own, racing for the same thing.
 *
 * The one invariant: CONFLICT means `run it again`, so every racer does; no other failure is let
 * pass.
 */
#include "conform/contents.h"
#include "conform/workers.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define RACES   40
#define THREADS 4

/* Again while it is CONFLICT. */
static bk_status put_again(struct bk_box *b, const struct bk_node *node, uint32_t mode,
			   uint32_t set)
{
	bk_status st;
	int tries = 0;

	for (;;) {
		WANT_IN(b->t, set | ONE(BK_CONFLICT), UINT64_MAX, st,
			b->ops->node.put(b->s, node, mode, E));
		if (st != BK_CONFLICT || (set & ONE(BK_CONFLICT)))
			return st;
		CHECK(b->t, ++tries < 10000, "put answers CONFLICT for ever");
	}
}

struct race {
	atomic_int winners[RACES], losers[RACES];
	atomic_int gate[RACES];
	unsigned n;
};

/* Everybody starts race i at the same time. */
static void line_up(struct race *race, int i)
{
	atomic_fetch_add(&race->gate[i], 1);
	while (atomic_load(&race->gate[i]) < (int)race->n)
		sched_yield();
}

static void count_race(struct race *race, int i, bk_status st)
{
	atomic_fetch_add(st == BK_OK ? &race->winners[i] : &race->losers[i], 1);
}

static void race_for_id(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct race *race = w->shared;
	int i;

	for (i = 0; i < RACES; i++) {
		struct bk_node node = bk_node_named(b, "race%d", i);

		if (!(b->t->own & BK_F_ID_IS_PATH))
			node.path = bk_path_named(b, "race%d-%u", i, w->index);
		node.doc = bk_test_printf(&b->arena, "%u", w->index);
		line_up(race, i);
		count_race(race, i, put_again(b, &node, BK_PUT_CREATE, TWO(BK_OK, BK_EXISTS)));
	}
}

static void race_for_path(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct race *race = w->shared;
	int i;

	for (i = 0; i < RACES; i++) {
		struct bk_node node = bk_node_named(b, "race%d-%u", i, w->index);

		node.path = bk_path_named(b, "race%d", i);
		node.doc = bk_test_printf(&b->arena, "%u", w->index);
		line_up(race, i);
		count_race(race, i, put_again(b, &node, BK_PUT_CREATE, TWO(BK_OK, BK_EXISTS)));
	}
}

/* An UPSERT that loses the race to create is one that replaces: OK, and its error untouched. */
static void race_to_upsert(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct race *race = w->shared;
	int i;

	for (i = 0; i < RACES; i++) {
		struct bk_node node = bk_node_named(b, "race%d", i);

		node.doc = bk_test_printf(&b->arena, "%u", w->index);
		line_up(race, i);
		put_again(b, &node, BK_PUT_UPSERT, ONE(BK_OK));
	}
}

static void upsert_new(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct race *race = bk_arena_alloc(&b->arena, sizeof(*race));
	int i;

	race->n = bk_test_worker_count(t, THREADS);
	bk_test_workers(t, b->l, race->n, race_to_upsert, race);
	for (i = 0; i < RACES; i++) {
		struct bk_node got;

		GET(b, BK_OK, &got, bk_id_named(b, "race%d", i), BK_WANT_DOC);
		CHECK(t, got.doc.len == 1, "race %d left a document of %zu bytes", i, got.doc.len);
	}
}

static struct race *run_race(struct bk_box *b, void (*fn)(struct bk_worker *))
{
	struct race *race = bk_arena_alloc(&b->arena, sizeof(*race));
	int i;

	race->n = bk_test_worker_count(b->t, THREADS);
	bk_test_workers(b->t, b->l, race->n, fn, race);
	for (i = 0; i < RACES; i++)
		CHECK(b->t, race->winners[i] == 1, "race %d has %d winners of %u, should be one", i,
		      (int)race->winners[i], race->n);
	return race;
}

static void unique_id(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct race *race = run_race(b, race_for_id);
	int i;

	for (i = 0; i < RACES; i++) {
		struct bk_slice id = bk_id_named(b, "race%d", i), found;
		unsigned k, paths = 0;
		struct bk_node got;

		GET(b, BK_OK, &got, id, BK_WANT_PATH | BK_WANT_DOC);
		for (k = 0; k < race->n && !(t->own & BK_F_ID_IS_PATH); k++) {
			struct bk_error err = bk_error_init();

			paths +=
				b->ops->node.find(&found, b->s, bk_path_named(b, "race%d-%u", i, k),
						  &err) == BK_OK;
		}
		CHECK(t, (t->own & BK_F_ID_IS_PATH) || paths == 1,
		      "%u paths lead to the node of race %d, should be one", paths, i);
	}
}

static void unique_path(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct race *race = run_race(b, race_for_path);
	int i;

	for (i = 0; i < RACES; i++) {
		unsigned k, nodes = 0;
		struct bk_slice id;

		FIND(b, BK_OK, &id, bk_path_named(b, "race%d", i));
		for (k = 0; k < race->n; k++) {
			struct bk_error err = bk_error_init();
			struct bk_node got;

			nodes += b->ops->node.get(&got, b->s, bk_id_named(b, "race%d-%u", i, k), 0,
						  &err) == BK_OK;
		}
		CHECK(t, nodes == 1, "%u nodes have the path of race %d, should be one", nodes, i);
	}
}

/* Remove against create under it: never a child without a parent. */
static void race_with_parent(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct race *race = w->shared;
	int i;

	for (i = 0; i < RACES; i++) {
		struct bk_node parent = bk_node_named(b, "p%d", i),
			       kid = bk_node_named(b, "p%d-kid%u", i, w->index);
		bk_status st;

		kid.parent = parent.id;
		line_up(race, i);
		if (w->index % 2) {
			put_again(b, &kid, BK_PUT_CREATE, TWO(BK_OK, BK_NOT_FOUND));
			continue;
		}
		do {
			WANT_IN(b->t, THREE(BK_OK, BK_IN_USE, BK_NOT_FOUND) | ONE(BK_CONFLICT),
				UINT64_MAX, st, b->ops->node.remove(b->s, parent.id, E));
		} while (st == BK_CONFLICT);
	}
}

static void no_orphans(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct race *race = bk_arena_alloc(&b->arena, sizeof(*race));
	unsigned k;
	int i;

	race->n = bk_test_worker_count(t, THREADS);
	for (i = 0; i < RACES; i++) {
		struct bk_node parent = bk_node_named(b, "p%d", i);

		CREATE(b, &parent);
	}
	bk_test_workers(t, b->l, race->n, race_with_parent, race);
	for (i = 0; i < RACES; i++) {
		struct bk_node parent = bk_node_named(b, "p%d", i), got;
		struct bk_error err = bk_error_init();
		bool there = b->ops->node.get(&got, b->s, parent.id, 0, &err) == BK_OK;

		for (k = 1; k < race->n; k += 2) {
			struct bk_slice id = bk_id_named(b, "p%d-kid%u", i, k);

			CHECK(t, there || b->ops->node.get(&got, b->s, id, 0, &err) == BK_NOT_FOUND,
			      "node p%d was removed and has a child", i);
		}
	}
}

/* ---- Side by side
 * --------------------------------------------------------------------------------- */

static void write_own(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	int i;

	for (i = 0; i < 100; i++) {
		struct bk_node node = bk_node_named(b, "w%u-%d", w->index, i);

		node.parent = bk_id_named(b, "top");
		node.doc = bk_test_bytes(&b->arena, w->index * 1000 + (unsigned)i, 300);
		bk_node_link(b, &node, "r>top");
		put_again(b, &node, BK_PUT_CREATE, ONE(BK_OK));
		SAME(b, &node);
	}
}

static void writers(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	unsigned n = bk_test_worker_count(t, THREADS), k;
	struct bk_step steps[2] = {bk_children(), bk_in("r")};
	struct bk_hits hits;
	int i;

	TARGETS(b, "top");
	bk_test_workers(t, b->l, n, write_own, NULL);
	for (k = 0; k < n; k++) {
		for (i = 0; i < 100; i++) {
			struct bk_node node = bk_node_named(b, "w%u-%d", k, i);

			node.parent = bk_id_named(b, "top");
			node.doc = bk_test_bytes(&b->arena, k * 1000 + (unsigned)i, 300);
			bk_node_link(b, &node, "r>top");
			SAME(b, &node);
		}
	}
	for (i = 0; i < 2; i++) {
		WALK(b, &hits, bk_id_named(b, "top"), &steps[i], 1, 0, 100);
		CHECK(t, hits.count == n * 100, "%zu hits, should be %u", hits.count, n * 100);
	}
}

#define SHARED_NODES 8

/* A document of one byte value over and over; its length and links follow from the value. */
static struct bk_node uniform(struct bk_box *b, unsigned which, unsigned value)
{
	struct bk_node node = bk_node_named(b, "shared%u", which);
	size_t len = 100 + value % 50 * 97;
	char *doc = bk_arena_alloc(&b->arena, len);

	memset(doc, (int)(value % 251), len);
	node.doc = bk_slice_of(doc, len);
	bk_node_link(b, &node, bk_arena_printf(&b->arena, "v>t%u", value % 251));
	return node;
}

static void check_uniform(struct bk_box *b, const struct bk_node *got)
{
	const unsigned char *p = got->doc.data;
	size_t i;

	CHECK(b->t, got->doc.len > 0, "an empty document");
	for (i = 1; i < got->doc.len; i++)
		CHECK(b->t, p[i] == p[0], "a document of two writes: %u, then %u at byte %zu", p[0],
		      p[i], i);
	CHECK(b->t, got->link_count == 1, "%zu links, should be 1", got->link_count);
	CHECK(b->t, bk_slice_eq(got->links[0].target, bk_id_named(b, "t%u", (unsigned)p[0])),
	      "the document of one write and the links of another");
}

static void read_and_write(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct bk_node node, got;
	unsigned i;

	for (i = 0; i < 200; i++) {
		if (w->index % 2) {
			node = uniform(b, i % SHARED_NODES, i + w->index * 31);
			put_again(b, &node, BK_PUT_REPLACE, ONE(BK_OK));
		} else {
			GET(b, BK_OK, &got, bk_id_named(b, "shared%u", i % SHARED_NODES),
			    BK_WANT_ALL);
			check_uniform(b, &got);
		}
	}
}

static void readers_and_writers(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_node node;
	unsigned i;

	for (i = 0; i < SHARED_NODES; i++) {
		node = uniform(b, i, i);
		CREATE(b, &node);
	}
	bk_test_workers(t, b->l, bk_test_worker_count(t, THREADS), read_and_write, NULL);
	for (i = 0; i < SHARED_NODES; i++) {
		GET(b, BK_OK, &node, bk_id_named(b, "shared%u", i), BK_WANT_ALL);
		node = bk_node_copy(b, &node);
		check_uniform(b, &node);
	}
}

static void append_words(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct bk_slice id = bk_id_named(b, "log");
	struct bk_node links = bk_node_named(b, "none");
	bk_status st;
	int i, tries = 0;

	for (i = 0; i < 40; i++) {
		struct bk_slice tail = bk_test_printf(&b->arena, "<%u:%d>", w->index, i);

		bk_node_link(b, &links, bk_arena_printf(&b->arena, "l>t%u-%d", w->index, i));
		do {
			WANT_IN(b->t, TWO(BK_OK, BK_CONFLICT), UINT64_MAX, st,
				b->ops->node.append(b->s, id, tail, links.links, 1, E));
			CHECK(b->t, ++tries < 20000, "append answers CONFLICT for ever");
		} while (st == BK_CONFLICT);
	}
}

static void appends(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	unsigned n = bk_test_worker_count(t, THREADS), k;
	struct bk_node node = bk_node_named(b, "log"), got;
	char *text;
	size_t total = 0;
	int i;

	CREATE(b, &node);
	bk_test_workers(t, b->l, n, append_words, NULL);
	GET(b, BK_OK, &got, node.id, BK_WANT_DOC | BK_WANT_LINKS);
	CHECK(t, got.link_count == n * 40, "%zu links, should be %u", got.link_count, n * 40);
	text = bk_arena_printf(&b->arena, "%.*s", (int)got.doc.len, (const char *)got.doc.data);
	for (k = 0; k < n; k++) {
		const char *last = text;

		for (i = 0; i < 40; i++) {
			const char *word = bk_arena_printf(&b->arena, "<%u:%d>", k, i);
			const char *at = strstr(text, word);

			CHECK(t, at, "the tail %s is lost", word);
			CHECK(t, !strstr(at + 1, word), "the tail %s is there twice", word);
			CHECK(t, at >= last, "the tail %s comes before an older one", word);
			last = at;
			total += strlen(word);
		}
	}
	CHECK(t, total == strlen(text), "the document has %zu bytes, should have %zu", strlen(text),
	      total);
}

/* ---- Versions
 * --------------------------------------------------------------------------------------- */

static void cas_up(struct bk_worker *w)
{
	struct bk_box *b = &w->box;
	struct bk_node node = bk_node_named(b, "counter"), got;
	int done = 0, tries = 0;
	char text[32];
	bk_status st;

	while (done < 30) {
		GET(b, BK_OK, &got, node.id, BK_WANT_DOC);
		snprintf(text, sizeof(text), "%.*s", (int)got.doc.len, (const char *)got.doc.data);
		snprintf(text, sizeof(text), "%ld", atol(text) + 1);
		node.doc = bk_slice_str(text);
		node.version = got.version;
		WANT_IN(b->t, TWO(BK_OK, BK_CONFLICT), UINT64_MAX, st,
			b->ops->node.put(b->s, &node, BK_PUT_REPLACE, E));
		done += st == BK_OK;
		CHECK(b->t, ++tries < 20000, "every replacement ends in CONFLICT");
	}
}

static void versions(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	unsigned n = bk_test_worker_count(t, THREADS);
	struct bk_node node = bk_node_named(b, "counter"), got;

	node.doc = bk_slice_str("0");
	CREATE(b, &node);
	bk_test_workers(t, b->l, n, cas_up, NULL);
	GET(b, BK_OK, &got, node.id, BK_WANT_DOC);
	CHECK(t, bk_slice_eq(got.doc, bk_test_printf(&b->arena, "%u", n * 30)),
	      "%u compared increments gave %s", n * 30, bk_test_show(&b->arena, got.doc));
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES, .flags = BK_CASE_THREADS       \
	}

static const struct bk_case cases[] = {
	CASE("unique-id", unique_id, "of four creates with one id exactly one wins"),
	{"unique-path", "of four creates with one path exactly one wins", unique_path,
	 .needs = BK_F_NODES, .flags = BK_CASE_THREADS | BK_CASE_FREE_ID},
	CASE("upsert-new", upsert_new, "of four upserts of a new id each succeeds"),
	CASE("no-orphans", no_orphans, "remove of a parent against create beneath it"),
	CASE("writers", writers, "four writers under one parent, nothing lost"),
	CASE("readers-and-writers", readers_and_writers, "a reader never sees half of a write"),
	CASE("appends", appends, "every append of four sessions is there once, in order"),
	{"versions", "compare-and-replace by four sessions loses nothing", versions,
	 .own = BK_F_CAS, .flags = BK_CASE_THREADS},
	{.name = NULL},
};

const struct bk_group bk_group_threads = {"threads", cases};
