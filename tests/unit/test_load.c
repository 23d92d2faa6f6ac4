/*
 * The load loop and its histogram: golden answers, merge = union, requests dealt by number.
 */
#include "unit.h"

#include "load/load.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdlib.h>

/* ---- Histogram ----------------------------------------------------------------------- */

static void histogram_small_values_are_exact(void **state)
{
	struct bk_histogram *h = bk_histogram_new();
	uint64_t i;

	for (i = 1; i <= 1000; i++)
		bk_histogram_record(h, i);
	assert_int_equal(bk_histogram_quantile(h, 0.5), 500);
	assert_int_equal(bk_histogram_quantile(h, 0.99), 990);
	assert_int_equal(bk_histogram_quantile(h, 0), 1);
	assert_int_equal(bk_histogram_quantile(h, 1), 1000);
	assert_int_equal(bk_histogram_beyond(h, 0.9), 100);
	assert_true(bk_histogram_mean(h) == 500.5);
	bk_histogram_free(h);
}

static void histogram_keeps_three_digits(void **state)
{
	struct bk_histogram *h = bk_histogram_new();
	double value;

	for (value = 1; value < 1.7e13; value *= 1.37) {
		uint64_t ns = (uint64_t)value, got;

		bk_histogram_reset(h);
		bk_histogram_record(h, ns - (ns > 1));
		bk_histogram_record(h, ns);
		bk_histogram_record(h, ns + 1 + ns / 1000000);
		got = bk_histogram_quantile(h, 0.5);
		assert_true(got >= ns - ns / 1000 - 1 && got <= ns + ns / 1000 + 1);
	}
	bk_histogram_free(h);
}

static void histogram_buckets_are_in_order(void **state)
{
	size_t last = 0;
	uint64_t ns;

	for (ns = 0; ns < 5000000; ns++) {
		size_t index = bk_histogram_index(ns);

		assert_true(index == last || index == last + 1);
		last = index;
	}
	assert_int_equal(bk_histogram_index(UINT64_MAX), BK_HISTOGRAM_BUCKETS - 1);
}

static void histogram_merge_is_the_union(void **state)
{
	struct bk_histogram *a = bk_histogram_new(), *b = bk_histogram_new(),
			    *all = bk_histogram_new();
	uint64_t x = 88172645463325252u, i;

	for (i = 0; i < 100000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bk_histogram_record(i % 3 ? a : b, x >> (x % 50 + 14));
		bk_histogram_record(all, x >> (x % 50 + 14));
	}
	bk_histogram_merge(a, b);
	assert_memory_equal(a, all, sizeof(*a));
	bk_histogram_free(a);
	bk_histogram_free(b);
	bk_histogram_free(all);
}

static void histogram_survives_its_text(void **state)
{
	struct bk_histogram *a = bk_histogram_new(), *b = bk_histogram_new();
	char *text;

	assert_int_equal(bk_histogram_write(&text, a), 0);
	assert_string_equal(text, "h1 0 0 0 0");
	assert_int_equal(bk_histogram_read(b, text), 0);
	assert_memory_equal(a, b, sizeof(*a));
	free(text);
	bk_histogram_record(a, 0);
	bk_histogram_record(a, 1234567);
	bk_histogram_record(a, UINT64_MAX);
	assert_int_equal(bk_histogram_write(&text, a), 0);
	assert_int_equal(bk_histogram_read(b, text), 0);
	assert_memory_equal(a, b, sizeof(*a));
	free(text);
	assert_int_equal(bk_histogram_read(b, "h1 1 5 5 5"), -1);
	assert_int_equal(bk_histogram_read(b, "h1 1 5 5 5 99999999:1"), -1);
	assert_int_equal(bk_histogram_read(b, "h1 1 5 5 5 5:x"), -1);
	assert_int_equal(bk_histogram_read(b, "nonsense"), -1);
	bk_histogram_free(a);
	bk_histogram_free(b);
}

/* ---- The loop -------------------------------------------------------------------------- */

struct shared {
	pthread_mutex_t lock;
	unsigned char seen[1000];
	uint32_t open, opened;
	uint32_t fail_start;  /* worker whose start fails; UINT32_MAX: none */
	uint64_t tries[1000]; /* of each operation */
};

struct worker {
	struct shared *shared;
	uint32_t number;
};

static bk_status start(void *ctx, uint32_t number, void **state, struct bk_error *err)
{
	struct shared *s = ctx;
	struct worker *w;

	if (number == s->fail_start)
		return bk_fail(err, BK_UNAVAILABLE, 0, "no session for worker %u", number);
	w = malloc(sizeof(*w));
	w->shared = s;
	w->number = number;
	pthread_mutex_lock(&s->lock);
	s->open++;
	s->opened++;
	pthread_mutex_unlock(&s->lock);
	*state = w;
	return BK_OK;
}

static void stop(void *state)
{
	struct worker *w = state;

	pthread_mutex_lock(&w->shared->lock);
	w->shared->open--;
	pthread_mutex_unlock(&w->shared->lock);
	free(w);
}

/* every tenth fails for good, every tenth + 1 twice with CONFLICT before it goes through */
static bk_status op(void *state, uint64_t i, struct bk_error *err)
{
	struct worker *w = state;

	w->shared->tries[i]++;
	if (i % 10 == 3)
		return bk_fail(err, BK_IO, 5, "operation %d broke", (int)i);
	if (i % 10 == 4 && w->shared->tries[i] < 3)
		return bk_fail(err, BK_CONFLICT, 0, "try again");
	w->shared->seen[i] = (unsigned char)(w->number + 1);
	return BK_OK;
}

static void loop_deals_by_number(void **state)
{
	struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .fail_start = UINT32_MAX};
	struct bk_load_plan plan = {.workers = 3,
				    .total = 1000,
				    .ctx = &shared,
				    .start = start,
				    .op = op,
				    .stop = stop,
				    .retries = 5,
				    .window_ops = 100};
	struct bk_error err = bk_error_init();
	struct bk_load_result r;
	uint64_t i;

	assert_int_equal(bk_load_run(&r, &plan, &err), BK_OK);
	assert_int_equal(r.done, 900);
	assert_int_equal(r.latency->count, 900);
	assert_int_equal(r.failed, 100);
	assert_int_equal(r.failed_by_status[-BK_IO], 100);
	assert_int_equal(r.failed_by_status[-BK_CONFLICT], 0);
	assert_int_equal(r.retried, 200);
	assert_int_equal(r.first_error.status, BK_IO);
	assert_int_equal(r.window_count, 10);
	assert_true(r.first_done_ns <= r.last_done_ns);
	for (i = 0; i < 1000; i++)
		assert_int_equal(shared.seen[i], i % 10 == 3 ? 0 : i % 3 + 1);
	assert_int_equal(shared.open, 0);
	bk_load_result_free(&r);
}

static void loop_gives_up_in_time(void **state)
{
	struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .fail_start = UINT32_MAX};
	struct bk_load_plan plan = {.workers = 1,
				    .total = 1000,
				    .ctx = &shared,
				    .start = start,
				    .op = op,
				    .stop = stop,
				    .failures_max = 2};
	struct bk_error err = bk_error_init();
	struct bk_load_result r;
	int interrupted = 1;

	assert_int_equal(bk_load_run(&r, &plan, &err), BK_OK);
	assert_int_equal(r.failed, 2);
	assert_true(r.done < 10);
	bk_load_result_free(&r);
	plan.failures_max = 0;
	plan.stop_flag = &interrupted;
	assert_int_equal(bk_load_run(&r, &plan, &err), BK_OK);
	assert_true(r.stopped);
	assert_int_equal(r.done + r.failed, 1);
	bk_load_result_free(&r);
}

static void loop_without_a_session_fails_whole(void **state)
{
	struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .fail_start = 2};
	struct bk_load_plan plan = {.workers = 4,
				    .total = 1000,
				    .ctx = &shared,
				    .start = start,
				    .op = op,
				    .stop = stop};
	struct bk_error err = bk_error_init();
	struct bk_load_result r;

	assert_int_equal(bk_load_run(&r, &plan, &err), BK_UNAVAILABLE);
	assert_string_equal(err.message, "no session for worker 2");
	assert_int_equal(shared.open, 0);
	assert_int_equal(shared.opened, 3);
	assert_null(r.latency);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histogram_small_values_are_exact),
		cmocka_unit_test(histogram_keeps_three_digits),
		cmocka_unit_test(histogram_buckets_are_in_order),
		cmocka_unit_test(histogram_merge_is_the_union),
		cmocka_unit_test(histogram_survives_its_text),
		cmocka_unit_test(loop_deals_by_number),
		cmocka_unit_test(loop_gives_up_in_time),
		cmocka_unit_test(loop_without_a_session_fails_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
