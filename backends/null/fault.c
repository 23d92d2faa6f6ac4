/*
 * fault.c - delay and failure, as the options say.
 *
 * The one invariant: which calls fail depends on the session's own count of calls alone, so that a
 * failure comes at the same place in every run, however many threads there are.
 */
#include "null.h"

#include <errno.h>
#include <time.h>

/* What sleeping is ended before the deadline by, the rest is spun: timers wake late. */
#define SPIN_TAIL_NS UINT64_C(100000)

const char *const null_kind_names[] = {"any",  "read",    "write",  "commit", "open",
				       "make", "session", "settle", NULL};

static const struct {
	bk_status status;
	uint32_t flags;
	const char *message;
} faults[] = {
	{BK_IO, 0, "null: planted failure: input or output failed"},
	{BK_CONFLICT, BK_ERR_RETRY, "null: planted failure: lost to a concurrent change"},
	{BK_TIMEOUT, BK_ERR_RETRY | BK_ERR_OUTCOME_UNKNOWN, "null: planted failure: timed out"},
	{BK_UNAVAILABLE, BK_ERR_OUTCOME_UNKNOWN, "null: planted failure: connection lost"},
	{BK_AUTH, 0, "null: planted failure: not allowed"},
	{BK_NO_SPACE, 0, "null: planted failure: storage is full"},
	{BK_CORRUPT, 0, "null: planted failure: stored data does not check out"},
	{BK_NOMEM, 0, "null: planted failure: out of memory"},
	{BK_INTERNAL, 0, "null: planted failure: a defect in the backend"},
};
const char *const null_status_names[] = {"io",       "conflict", "timeout", "unavailable", "auth",
					 "no-space", "corrupt",  "nomem",   "internal",    NULL};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_cancelled(struct bk_session *s)
{
	return atomic_load_explicit(&s->cancelled, memory_order_relaxed);
}

static void sleep_until(struct bk_session *s, uint64_t deadline_ns)
{
	struct timespec t;

	t.tv_sec = (time_t)(deadline_ns / 1000000000u);
	t.tv_nsec = (long)(deadline_ns % 1000000000u);
	pthread_mutex_lock(&s->lock);
	while (!is_cancelled(s) && pthread_cond_timedwait(&s->wake, &s->lock, &t) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&s->lock);
}

static bk_status delay(struct bk_session *s, struct bk_error *err)
{
	uint64_t start_ns = now_ns(), delay_ns = s->options->delay_us * 1000u;
	bool late = s->timeout_ns && delay_ns > s->timeout_ns;
	uint64_t until_ns = start_ns + (late ? s->timeout_ns : delay_ns);

	atomic_store(&s->cancelled, false);
	if (s->options->delay_mode == NULL_SLEEP && until_ns - start_ns > SPIN_TAIL_NS)
		sleep_until(s, until_ns - SPIN_TAIL_NS);
	while (!is_cancelled(s) && now_ns() < until_ns)
		;
	if (is_cancelled(s))
		return null_fail(err, BK_CANCELLED, "null: cancelled while it delayed");
	if (late) {
		null_fail(err, BK_TIMEOUT, "null: the delay is longer than the session's timeout");
		err->flags = BK_ERR_RETRY;
		return BK_TIMEOUT;
	}
	return BK_OK;
}

void null_cancel(struct bk_session *s)
{
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->cancelled, true);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

/* `call` counts from 1, over the calls that the option fail-on means. */
static bool is_due(const struct null_options *o, uint64_t call)
{
	if (o->fail_from && call >= o->fail_from)
		return true;
	return o->fail_every && call % o->fail_every == 0;
}

static bk_status fail(const struct null_options *o, struct bk_error *err)
{
	bk_status st =
		null_fail(err, faults[o->fail_status].status, faults[o->fail_status].message);

	err->flags = faults[o->fail_status].flags;
	return st;
}

bk_status null_call_slow(struct bk_session *s, enum null_kind kind, struct bk_error *err)
{
	const struct null_options *o = s->options;
	bk_status st = BK_OK;

	if (o->delay_us && (o->delay_on == NULL_ANY || o->delay_on == kind))
		st = delay(s, err);
	if (!st && (o->fail_on == NULL_ANY || o->fail_on == kind) && is_due(o, ++s->calls))
		st = fail(o, err);
	return st;
}

bk_status null_control(struct bk_store *store, enum null_kind kind, struct bk_error *err)
{
	const struct null_options *o = store->options;

	if (o->fail_on == kind && is_due(o, ++store->control_calls))
		return fail(o, err);
	return BK_OK;
}
