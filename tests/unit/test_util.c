/*
 * The small parts of util/: buffer, suggestions, random streams, arena, redaction.
 */
#include "unit.h"

#include "util/arena.h"
#include "util/buf.h"
#include "util/redact.h"
#include "util/rng.h"
#include "util/suggest.h"

#include <stdlib.h>

static void buf_grows(void **state)
{
	struct bk_buf buf = BK_BUF_INIT;
	char *text;
	int i;

	assert_string_equal(bk_buf_str(&buf), "");
	for (i = 0; i < 1000; i++)
		bk_buf_putf(&buf, "%d,", i);
	assert_int_equal(buf.len, 3890);
	assert_int_equal(strlen(bk_buf_str(&buf)), 3890);
	bk_buf_reset(&buf);
	bk_buf_put(&buf, "a\0b", 3);
	assert_memory_equal(buf.data, "a\0b", 4);
	text = bk_buf_steal(&buf);
	assert_string_equal(text, "a");
	free(text);
	text = bk_buf_steal(&buf);
	assert_string_equal(text, "");
	free(text);
	bk_buf_free(&buf);
}

static void buf_wraps(void **state)
{
	struct bk_buf buf = BK_BUF_INIT;

	bk_buf_put_wrapped(&buf, "one two three four five six\n\n  laid  out  already  and left so",
			   2, 24);
	assert_string_equal(bk_buf_str(&buf), "  one two three four\n  five six\n\n"
					      "    laid  out  already  and left so\n");
	bk_buf_reset(&buf);
	bk_buf_put_wrapped(&buf, "a-word-that-is-longer-than-any-line b", 0, 20);
	assert_string_equal(bk_buf_str(&buf), "a-word-that-is-longer-than-any-line\nb\n");
	bk_buf_free(&buf);
}

static void suggest_near_only(void **state)
{
	static const char *const names[] = {"backends", "conform", "inspect", "doctor", "s3", NULL};

	assert_string_equal(bk_suggest_in("backend", names), "backends");
	assert_string_equal(bk_suggest_in("confrom", names), "conform");
	assert_string_equal(bk_suggest_in("INSPECT", names), "inspect");
	assert_string_equal(bk_suggest_in("docter", names), "doctor");
	assert_string_equal(bk_suggest_in("s4", names), "s3");
	assert_null(bk_suggest_in("pg", names));
	assert_null(bk_suggest_in("", names));
	assert_null(bk_suggest_in("frobnicate", names));
	assert_int_equal(bk_suggest_distance("ab", "ba"), 1);
	assert_int_equal(bk_suggest_distance("kitten", "sitting"), 3);
	assert_int_equal(bk_suggest_distance("", "abc"), 3);
}

/* Recorded seeds must replay: these numbers never change. */
static void rng_is_pinned(void **state)
{
	struct bk_rng rng, other;

	bk_rng_init(&rng, 0);
	assert_true(bk_rng_u64(&rng) == UINT64_C(0x53175d61490b23df));
	bk_rng_stream(&rng, 1, "n-members", "worker-0", (char *)NULL);
	bk_rng_init(&other, bk_rng_derive(bk_rng_derive(1, "n-members"), "worker-0"));
	assert_true(bk_rng_u64(&rng) == bk_rng_u64(&other));
	bk_rng_stream(&other, 1, "worker-0", "n-members", (char *)NULL);
	assert_false(bk_rng_u64(&rng) == bk_rng_u64(&other));
	assert_false(bk_rng_derive_u64(1, 2) == bk_rng_derive_u64(2, 1));
}

static void rng_is_even(void **state)
{
	size_t counts[3] = {0}, i;
	int order[5] = {0, 1, 2, 3, 4}, sum = 0;
	unsigned char bytes[13] = {0};
	struct bk_rng rng;

	bk_rng_init(&rng, 7);
	for (i = 0; i < 3000; i++)
		counts[bk_rng_below(&rng, 3)]++;
	for (i = 0; i < 3; i++)
		assert_true(counts[i] > 900 && counts[i] < 1100);
	assert_true(bk_rng_below(&rng, 1) == 0);
	bk_rng_shuffle(&rng, order, 5, sizeof(*order));
	for (i = 0; i < 5; i++)
		sum += 1 << order[i];
	assert_int_equal(sum, 31);
	bk_rng_fill(&rng, bytes, sizeof(bytes) - 1);
	assert_int_equal(bytes[12], 0);
}

static void arena_keeps(void **state)
{
	struct bk_arena arena = {0};
	char *kept = bk_arena_printf(&arena, "%d-%s", 7, "x"), *big;
	size_t i;

	for (i = 0; i < 1000; i++) {
		char *p = bk_arena_alloc(&arena, i);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % sizeof(void *), 0);
		memset(p, 0xff, i);
	}
	big = bk_arena_alloc(&arena, 1 << 20);
	assert_int_equal(big[(1 << 20) - 1], 0);
	assert_string_equal(kept, "7-x");
	assert_string_equal(bk_arena_strndup(&arena, "abc", 2), "ab");
	bk_arena_free(&arena);
	bk_arena_free(NULL);
}

static void redact_hides_passwords(void **state)
{
	static const char *const table[][2] = {
		{"", ""},
		{"/var/lib/x", "/var/lib/x"},
		{"a://host:5432/db", "a://host:5432/db"},
		{"a://user@host/db", "a://user@host/db"},
		{"a://user:pw@host:5432/db", "a://user:*@host:5432/db"},
		{"a://user:p@w/x@host/db", "a://user:*@host/db"},
		{"a://host/db?password=pw&ssl=on", "a://host/db?password=*&ssl=on"},
		{"host=h password=pw user=u", "host=h password=* user=u"},
		{"x?aws_secret_key=k", "x?aws_secret_key=*"},
		{"password=", "password="},
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char *shown = bk_redact(table[i][0]);

		assert_string_equal(shown, table[i][1]);
		free(shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buf_grows),
		cmocka_unit_test(buf_wraps),
		cmocka_unit_test(suggest_near_only),
		cmocka_unit_test(rng_is_pinned),
		cmocka_unit_test(rng_is_even),
		cmocka_unit_test(arena_keeps),
		cmocka_unit_test(redact_hides_passwords),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
