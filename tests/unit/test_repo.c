/*
 * The repository layer without a store: documents, N-Triples, hierarchy, cache; order of trials.
 */
#include "unit.h"

#include "matrix/matrix.h"
#include "repo/cache.h"
#include "repo/document.h"
#include "repo/hierarchy.h"
#include "repo/ntriples.h"
#include "run/order.h"
#include "util/summary.h"
#include "util/u64set.h"

#include <bakeoff/backend_util.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

static void document_is_closed_under_concatenation(void **state)
{
	struct bk_buf a = BK_BUF_INIT, b = BK_BUF_INIT;
	struct bk_doc_record r;
	struct bk_slice rest;
	size_t cut;

	bk_doc_puts(&a, BK_DOC_TYPE, "", "object");
	bk_doc_put(&a, BK_DOC_LITERAL, bk_slice_str("p"), bk_slice_of("a\0b", 3));
	bk_doc_puts(&b, BK_DOC_URI, "q", "");
	bk_buf_put(&a, b.data, b.len);
	rest = bk_slice_of(a.data, a.len);
	assert_int_equal(bk_doc_next(&r, &rest), 1);
	assert_int_equal(r.kind, BK_DOC_TYPE);
	assert_int_equal(bk_doc_next(&r, &rest), 1);
	assert_int_equal(r.object.len, 3);
	assert_int_equal(bk_doc_next(&r, &rest), 1);
	assert_int_equal(r.kind, BK_DOC_URI);
	assert_int_equal(bk_doc_next(&r, &rest), 0);
	/* any cut but one between records is noticed */
	for (cut = 0; cut < a.len; cut++) {
		int rc;

		rest = bk_slice_of(a.data, cut);
		while ((rc = bk_doc_next(&r, &rest)) == 1)
			;
		assert_true(rc == -1 || cut == 0 || cut == 13 || cut == 24);
	}
	a.data[0] = 'x';
	rest = bk_slice_of(a.data, a.len);
	assert_int_equal(bk_doc_next(&r, &rest), -1);
	bk_buf_free(&a);
	bk_buf_free(&b);
}

static void ntriples_are_what_the_grammar_says(void **state)
{
	static const char expected[] =
		"<info:bakeoff/a\\u0020b\\u003E> <http://p> \"q\\\"\\\\\\n\\r\xc3\xa9\" .\n";
	struct bk_ntriples w;

	assert_true(bk_ntriples_init(&w));
	bk_ntriples_literal(&w, bk_slice_str("a b>"), bk_slice_str("http://p"),
			    bk_slice_str("q\"\\\n\r\xc3\xa9"));
	assert_int_equal(w.triples, 1);
	assert_int_equal(w.len, sizeof(expected) - 1);
	assert_memory_equal(w.buf, expected, w.len);
	assert_true(w.sum == XXH3_64bits(expected, sizeof(expected) - 1));
	bk_ntriples_reset(&w);
	bk_ntriples_link(&w, bk_slice_str("x"), bk_slice_str("http://p"), bk_slice_str("y"));
	bk_ntriples_uri(&w, bk_slice_str("x"), bk_slice_str("http://p"), bk_slice_str("info:y"));
	assert_memory_equal(w.buf,
			    "<info:bakeoff/x> <http://p> <info:bakeoff/y> .\n"
			    "<info:bakeoff/x> <http://p> <info:y> .\n",
			    w.len);
	bk_ntriples_free(&w);
}

static void ntriples_longer_than_the_buffer(void **state)
{
	struct bk_ntriples w;
	char *text = malloc(200001);
	uint64_t sum;
	int i;

	assert_true(bk_ntriples_init(&w));
	memset(text, 'x', 200000);
	text[200000] = '\0';
	bk_ntriples_literal(&w, bk_slice_str("s"), bk_slice_str("p"), bk_slice_str(text));
	sum = w.sum;
	for (i = 0; i < 9; i++)
		bk_ntriples_literal(&w, bk_slice_str("s"), bk_slice_str("p"), bk_slice_str(text));
	assert_int_equal(w.triples, 10);
	assert_true(w.sum == sum * 10);
	assert_false(w.failed);
	bk_ntriples_free(&w);
	free(text);
}

static void hierarchy_texts(void **state)
{
	static const char *const bad[] = {"",
					  "tree",
					  "pairtree x",
					  "pairtree 0x2",
					  "pairtree 4x9",
					  "pairtree 4x2x",
					  "pairtree 33x1",
					  "FLAT"};
	struct bk_error err = bk_error_init();
	struct bk_hierarchy h;
	struct bk_buf path = BK_BUF_INIT;
	size_t ends[32], i;
	char name[BK_NAME_LEN + 1], again[BK_NAME_LEN + 1];

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(bk_hierarchy_parse(&h, bad[i], &err), BK_INVALID);
	assert_int_equal(bk_hierarchy_parse(&h, "pairtree", &err), BK_OK);
	assert_int_equal(h.levels, 4);
	assert_int_equal(h.digits, 2);
	bk_buf_puts(&path, "root");
	bk_hierarchy_path(&path, &h, "01234567-89ab-4def-8123-456789abcdef", ends);
	assert_string_equal(bk_buf_str(&path),
			    "root/01/23/45/67/01234567-89ab-4def-8123-456789abcdef");
	assert_int_equal(ends[0], 7);
	assert_int_equal(ends[3], 16);
	bk_buf_reset(&path);
	assert_int_equal(bk_hierarchy_parse(&h, "pairtree 3x3", &err), BK_OK);
	bk_hierarchy_path(&path, &h, "01234567-89ab-4def-8123-456789abcdef", ends);
	assert_string_equal(bk_buf_str(&path), "/012/345/678/01234567-89ab-4def-8123-456789abcdef");
	bk_buf_free(&path);
	bk_name_make(name, 1, "object", 7);
	bk_name_make(again, 1, "object", 7);
	assert_string_equal(name, again);
	bk_name_make(again, 2, "object", 7);
	assert_string_not_equal(name, again);
	bk_name_make(again, 1, "proxy", 7);
	assert_string_not_equal(name, again);
	assert_int_equal(strlen(name), BK_NAME_LEN);
	assert_int_equal(name[14], '4');
}

/* ---- Cache ----------------------------------------------------------------------------- */

static void put(struct bk_cache *cache, int i)
{
	char id[8], path[8];
	struct bk_node node = {0};

	snprintf(id, sizeof(id), "%d", i);
	snprintf(path, sizeof(path), "p%d", i);
	node.id = bk_slice_str(id);
	node.path = bk_slice_str(path);
	bk_cache_release(cache, bk_cache_put(cache, &node));
}

static bool has(struct bk_cache *cache, int i)
{
	char id[8], path[8];
	struct bk_cached *n;

	snprintf(id, sizeof(id), "%d", i);
	snprintf(path, sizeof(path), "p%d", i);
	n = bk_cache_get(cache, bk_slice_str(id));
	if (!n)
		return false;
	assert_true(bk_slice_eq(n->path, bk_slice_str(path)));
	bk_cache_release(cache, n);
	return true;
}

static void cache_policies(void **state)
{
	struct bk_error err = bk_error_init();
	struct bk_cache *lru, *fifo, *none;
	uint64_t hits, misses;

	assert_int_equal(bk_cache_new(&lru, 2, 1, BK_CACHE_LRU, &err), BK_OK);
	assert_int_equal(bk_cache_new(&fifo, 2, 1, BK_CACHE_FIFO, &err), BK_OK);
	assert_int_equal(bk_cache_new(&none, 0, 1, BK_CACHE_LRU, &err), BK_OK);
	put(lru, 1), put(lru, 2);
	put(fifo, 1), put(fifo, 2);
	put(none, 1);
	assert_true(has(lru, 1));
	assert_true(has(fifo, 1));
	assert_false(has(none, 1));
	put(lru, 3);
	put(fifo, 3);
	assert_true(has(lru, 1) && !has(lru, 2) && has(lru, 3));
	assert_true(!has(fifo, 1) && has(fifo, 2) && has(fifo, 3));
	bk_cache_counters(lru, &hits, &misses);
	assert_int_equal(hits, 3);
	assert_int_equal(misses, 1);
	bk_cache_clear(lru);
	assert_false(has(lru, 1));
	bk_cache_free(lru);
	bk_cache_free(fifo);
	bk_cache_free(none);
}

static void cache_node_held_outlives_eviction(void **state)
{
	struct bk_error err = bk_error_init();
	struct bk_node node = {.id = bk_slice_str("held"), .path = bk_slice_str("path")};
	struct bk_cache *cache;
	struct bk_cached *held;
	int i;

	assert_int_equal(bk_cache_new(&cache, 4, 1, BK_CACHE_LRU, &err), BK_OK);
	held = bk_cache_put(cache, &node);
	for (i = 0; i < 100; i++)
		put(cache, i);
	assert_true(bk_slice_eq(held->path, bk_slice_str("path")));
	assert_null(bk_cache_get(cache, node.id));
	bk_cache_release(cache, held);
	bk_cache_free(cache);
}

static void u64set_counts_distinct(void **state)
{
	struct bk_u64set set = {0};
	uint64_t i;

	for (i = 0; i < 100000; i++)
		bk_u64set_add(&set, i % 50000);
	assert_int_equal(set.count, 50000);
	assert_false(bk_u64set_add(&set, 0));
	bk_u64set_free(&set);
}

/* ---- Order and summary ------------------------------------------------------------------- */

/* Each variant stands in each place equally often and comes after each other equally often. */
static void williams_is_balanced(void **state)
{
	size_t n, row, i;

	for (n = 1; n <= 9; n++) {
		size_t place[9][9] = {{0}}, after[9][9] = {{0}}, order[9],
		       rows = bk_williams_rows(n);

		for (row = 0; row < rows; row++) {
			bk_williams_row(order, n, row);
			for (i = 0; i < n; i++) {
				assert_true(order[i] < n);
				place[order[i]][i]++;
				if (i)
					after[order[i - 1]][order[i]]++;
			}
		}
		for (row = 0; row < n; row++) {
			for (i = 0; i < n; i++) {
				assert_int_equal(place[row][i], rows / n);
				assert_int_equal(after[row][i], row == i ? 0 : rows / n);
			}
		}
	}
}

static void summary_of_few(void **state)
{
	const double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};

	assert_true(bk_summary_of(odd, 3).median == 2);
	assert_true(bk_summary_of(even, 4).median == 2.5);
	assert_true(bk_summary_of(even, 4).min == 1 && bk_summary_of(even, 4).max == 4);
	assert_true(bk_summary_of(odd, 1).median == 3);
	assert_true(isnan(bk_summary_of(odd, 0).median));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(document_is_closed_under_concatenation),
		cmocka_unit_test(ntriples_are_what_the_grammar_says),
		cmocka_unit_test(ntriples_longer_than_the_buffer),
		cmocka_unit_test(hierarchy_texts),
		cmocka_unit_test(cache_policies),
		cmocka_unit_test(cache_node_held_outlives_eviction),
		cmocka_unit_test(u64set_counts_distinct),
		cmocka_unit_test(williams_is_balanced),
		cmocka_unit_test(summary_of_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
