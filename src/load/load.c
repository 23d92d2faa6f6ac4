/*
 * load.c - the closed loop and its workers.
 *
 * The workers wait at a gate until every session is open, and at another until all work is done:
 * what is timed and metered is the work, never the connecting.
 */
#include "load/load.h"

#include "util/clock.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_NS UINT64_C(1000000)   /* 1 ms */
#define BACKOFF_MAX_NS   UINT64_C(256000000) /* 256 ms */

struct gate {
	uint32_t waiting;
	bool open;
};

struct run {
	const struct bk_load_plan *plan;
	pthread_mutex_t lock; /* guards the gates */
	pthread_cond_t change;
	struct gate begin, end;
	atomic_bool abort;
	atomic_bool stopped;
	atomic_uint_fast64_t failed;  /* of all workers, for failures_max */
	atomic_uint_fast64_t ordinal; /* operations done, for windows and progress */
	uint64_t start_ns;
	uint64_t *window_at_ns; /* by window; each written once, by whoever completes it */
	size_t window_count;
};

struct worker {
	struct run *run;
	pthread_t thread;
	uint32_t number;
	bool running;
	bk_status start_status;
	struct bk_error error; /* of the start, or of the first failed operation */
	uint64_t error_ns;     /* when; 0: no operation failed */
	struct bk_histogram *latency;
	uint64_t done, failed, retried, end_ns;
	uint64_t failed_by_status[BK_LOAD_STATUSES];
	uint64_t jitter; /* xorshift state of the back-off */
};

static void back_off(struct worker *w, uint32_t attempt)
{
	uint64_t cap = BACKOFF_FIRST_NS << (attempt < 8 ? attempt : 8);
	struct timespec ts;

	w->jitter ^= w->jitter << 13;
	w->jitter ^= w->jitter >> 7;
	w->jitter ^= w->jitter << 17;
	cap = w->jitter % (cap < BACKOFF_MAX_NS ? cap : BACKOFF_MAX_NS);
	ts.tv_sec = 0;
	ts.tv_nsec = (long)cap;
	nanosleep(&ts, NULL);
}

static void note_failure(struct worker *w, const struct bk_error *e, uint64_t now)
{
	uint64_t limit = w->run->plan->failures_max;
	int code = -e->status;

	w->failed++;
	w->failed_by_status[code > 0 && code < BK_LOAD_STATUSES ? code : -BK_INTERNAL]++;
	if (!w->error_ns) {
		w->error = *e;
		w->error_ns = now;
	}
	if (limit && atomic_fetch_add(&w->run->failed, 1) + 1 >= limit)
		atomic_store(&w->run->abort, true);
}

static bk_status try_again(struct worker *w, void *state, uint64_t index, struct bk_error *e)
{
	const struct bk_load_plan *plan = w->run->plan;
	bk_status st = e->status;
	uint32_t attempt;

	for (attempt = 0; attempt < plan->retries; attempt++) {
		if (st != BK_CONFLICT && !(e->flags & BK_ERR_RETRY))
			break;
		back_off(w, attempt);
		w->retried++;
		st = plan->op(state, index, e);
		if (st >= 0)
			break;
	}
	return st;
}

/* Windows and progress are counted for all workers together; off, they cost one test. */
static void note_done(struct run *run, uint64_t now)
{
	uint64_t n = atomic_fetch_add_explicit(&run->ordinal, 1, memory_order_relaxed) + 1;
	uint64_t window = run->plan->window_ops;

	if (run->plan->progress)
		__atomic_store_n(run->plan->progress, n, __ATOMIC_RELAXED);
	if (window && n % window == 0 && n / window <= run->window_count)
		run->window_at_ns[n / window - 1] = now;
}

static void drive(struct worker *w, void *state)
{
	struct run *run = w->run;
	const struct bk_load_plan *plan = run->plan;
	bool counted = plan->window_ops || plan->progress;
	struct bk_error e = bk_error_init();
	uint64_t i, start, now = run->start_ns;

	start = now;
	for (i = w->number; i < plan->total; i += plan->workers) {
		bk_status st;

		if (plan->pair_clock)
			start = bk_clock_ns();
		st = plan->op(state, i, &e);
		if (__builtin_expect(st < 0, 0) && plan->retries)
			st = try_again(w, state, i, &e);
		now = bk_clock_ns();
		if (__builtin_expect(st >= 0, 1)) {
			bk_histogram_record(w->latency, now - start);
			w->done++;
		} else {
			note_failure(w, &e, now);
		}
		start = now;
		if (counted)
			note_done(run, now);
		if (atomic_load_explicit(&run->abort, memory_order_relaxed))
			break;
		if (plan->stop_flag && __atomic_load_n(plan->stop_flag, __ATOMIC_RELAXED)) {
			atomic_store(&run->stopped, true);
			break;
		}
	}
	w->end_ns = now;
}

static void wait_at(struct run *run, struct gate *gate)
{
	pthread_mutex_lock(&run->lock);
	gate->waiting++;
	pthread_cond_broadcast(&run->change);
	while (!gate->open)
		pthread_cond_wait(&run->change, &run->lock);
	pthread_mutex_unlock(&run->lock);
}

static void wait_for_workers(struct run *run, const struct gate *gate, uint32_t workers)
{
	pthread_mutex_lock(&run->lock);
	while (gate->waiting < workers)
		pthread_cond_wait(&run->change, &run->lock);
	pthread_mutex_unlock(&run->lock);
}

static void open_gate(struct run *run, struct gate *gate)
{
	pthread_mutex_lock(&run->lock);
	gate->open = true;
	pthread_cond_broadcast(&run->change);
	pthread_mutex_unlock(&run->lock);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	const struct bk_load_plan *plan = w->run->plan;
	void *state = NULL;

	if (plan->start)
		w->start_status = plan->start(plan->ctx, w->number, &state, &w->error);
	if (w->start_status < 0)
		atomic_store(&w->run->abort, true);
	wait_at(w->run, &w->run->begin);
	if (!atomic_load(&w->run->abort))
		drive(w, state);
	if (w->start_status >= 0 && plan->finish)
		plan->finish(state);
	wait_at(w->run, &w->run->end);
	if (w->start_status >= 0 && plan->stop)
		plan->stop(state);
	return NULL;
}

static void collect(struct bk_load_result *out, const struct run *run, const struct worker *workers)
{
	uint64_t first = UINT64_MAX, last = run->start_ns, error_ns = UINT64_MAX;
	size_t i, s;

	for (i = 0; i < run->plan->workers; i++) {
		const struct worker *w = &workers[i];

		bk_histogram_merge(out->latency, w->latency);
		out->done += w->done;
		out->failed += w->failed;
		out->retried += w->retried;
		for (s = 0; s < BK_LOAD_STATUSES; s++)
			out->failed_by_status[s] += w->failed_by_status[s];
		if (w->end_ns && w->end_ns < first)
			first = w->end_ns;
		if (w->end_ns > last)
			last = w->end_ns;
		if (w->error_ns && w->error_ns < error_ns) {
			error_ns = w->error_ns;
			out->first_error = w->error;
		}
	}
	out->first_done_ns = first == UINT64_MAX ? 0 : first - run->start_ns;
	out->last_done_ns = last - run->start_ns;
	out->stopped = atomic_load(&run->stopped);
	for (i = 0; i < run->window_count && run->window_at_ns[i]; i++) {
		uint64_t from = i ? run->window_at_ns[i - 1] : run->start_ns;

		/* two workers may finish the last operations of two windows out of order */
		out->window_ns[i] = run->window_at_ns[i] > from ? run->window_at_ns[i] - from : 0;
	}
	out->window_count = i;
}

/* *out: how many there are, on failure too. */
static bk_status start_workers(uint32_t *out, struct run *run, struct worker *workers,
			       struct bk_error *err)
{
	bk_status st = BK_OK;
	uint32_t i, started = 0;

	for (i = 0; i < run->plan->workers && st >= 0; i++) {
		int rc;

		workers[i].run = run;
		workers[i].number = i;
		workers[i].jitter = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
		workers[i].error = bk_error_init();
		workers[i].latency = bk_histogram_new();
		rc = workers[i].latency
			     ? pthread_create(&workers[i].thread, NULL, work, &workers[i])
			     : ENOMEM;
		if (rc) {
			st = bk_fail(err, BK_NOMEM, rc, "cannot start worker %u of %u: %s", i + 1,
				     run->plan->workers, strerror(rc));
			break;
		}
		workers[i].running = true;
		started++;
	}
	*out = started;
	return st;
}

static void run_workers(struct run *run, uint32_t started, bool failed)
{
	const struct bk_load_plan *plan = run->plan;

	wait_for_workers(run, &run->begin, started);
	if (failed)
		atomic_store(&run->abort, true);
	if (plan->begin)
		plan->begin(plan->host);
	run->start_ns = bk_clock_ns();
	open_gate(run, &run->begin);
	wait_for_workers(run, &run->end, started);
	if (plan->end)
		plan->end(plan->host);
	open_gate(run, &run->end);
}

static bk_status join_workers(struct worker *workers, uint32_t n, struct bk_error *err)
{
	bk_status st = BK_OK;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!workers[i].running)
			continue;
		pthread_join(workers[i].thread, NULL);
		if (st >= 0 && workers[i].start_status < 0) {
			st = workers[i].start_status;
			*err = workers[i].error;
		}
	}
	return st;
}

bk_status bk_load_run(struct bk_load_result *out, const struct bk_load_plan *plan,
		      struct bk_error *err)
{
	struct run run = {.plan = plan};
	struct worker *workers = calloc(plan->workers, sizeof(*workers));
	bk_status st, joined;
	uint32_t i, started;

	memset(out, 0, sizeof(*out));
	out->first_error = bk_error_init();
	out->latency = bk_histogram_new();
	run.window_count = plan->window_ops ? (size_t)(plan->total / plan->window_ops) : 0;
	run.window_at_ns = calloc(run.window_count + 1, sizeof(uint64_t));
	out->window_ns = calloc(run.window_count + 1, sizeof(uint64_t));
	if (!workers || !out->latency || !run.window_at_ns || !out->window_ns) {
		st = bk_fail(err, BK_NOMEM, 0, "out of memory for %u workers", plan->workers);
		goto out;
	}
	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.change, NULL);
	st = start_workers(&started, &run, workers, err);
	run_workers(&run, started, st < 0);
	joined = join_workers(workers, plan->workers, err);
	if (st >= 0)
		st = joined;
	pthread_cond_destroy(&run.change);
	pthread_mutex_destroy(&run.lock);
	if (st >= 0)
		collect(out, &run, workers);
out:
	for (i = 0; workers && i < plan->workers; i++)
		bk_histogram_free(workers[i].latency);
	free(workers);
	free(run.window_at_ns);
	if (st < 0)
		bk_load_result_free(out);
	return st;
}

void bk_load_result_free(struct bk_load_result *result)
{
	bk_histogram_free(result->latency);
	free(result->window_ns);
	memset(result, 0, sizeof(*result));
}
