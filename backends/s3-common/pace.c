/*
 * pace.c - see pace.h.
 */
#include "pace.h"

#include <time.h>

#define PACE_FIRST_NS UINT64_C(50000000) /* the first wait is up to this; doubled each time */
#define PACE_MOST_NS  UINT64_C(5000000000)

uint64_t s3_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

void s3_pace_init(struct s3_pace *pace, const struct s3_site *site, uint64_t timeout_ns)
{
	memset(pace, 0, sizeof(*pace));
	pace->site = site;
	pace->timeout_ns = timeout_ns;
	pace->random = s3_now_ns() ^ (uint64_t)(uintptr_t)pace;
	atomic_init(&pace->cancelled, false);
}

bool s3_pace_enter(struct s3_pace *pace)
{
	pace->deadline_ns = pace->timeout_ns ? s3_now_ns() + pace->timeout_ns : 0;
	return atomic_exchange(&pace->cancelled, false);
}

void s3_pace_cancel(struct s3_pace *pace)
{
	atomic_store(&pace->cancelled, true);
}

static bk_status pace_late(const struct s3_pace *pace, uint64_t ns, const char *what,
			   const char *of, struct bk_error *err)
{
	bk_fail(err, BK_TIMEOUT, 0, "%s: %s: no end after %.3g s (%s)", pace->site->backend, what,
		(double)ns / 1e9, of);
	err->flags = BK_ERR_RETRY;
	return BK_TIMEOUT;
}

bk_status s3_pace_check(uint64_t *until_ns, struct s3_pace *pace, uint64_t wake_ns,
			uint64_t moved_ns, const char *what, struct bk_error *err)
{
	uint64_t patience_ns = pace->site->access->timeout_us * 1000, now = s3_now_ns();
	uint64_t until = moved_ns == UINT64_MAX ? UINT64_MAX : moved_ns + patience_ns;

	if (atomic_load_explicit(&pace->cancelled, memory_order_relaxed))
		return bk_fail(err, BK_CANCELLED, 0, "%s: %s: cancelled", pace->site->backend,
			       what);
	if (wake_ns && now >= wake_ns)
		return BK_END;
	if (pace->deadline_ns && now >= pace->deadline_ns)
		return pace_late(pace, pace->timeout_ns, what, "the session's time for one call",
				 err);
	if (now >= until)
		return pace_late(pace, patience_ns, what, "nothing moved; option timeout", err);
	if (pace->deadline_ns && pace->deadline_ns < until)
		until = pace->deadline_ns;
	if (wake_ns && wake_ns < until)
		until = wake_ns;
	*until_ns = until;
	return BK_OK;
}

uint64_t s3_pace_jitter_ns(struct s3_pace *pace, unsigned tried)
{
	uint64_t most = tried < 7 ? PACE_FIRST_NS << tried : PACE_MOST_NS;

	pace->random ^= pace->random << 13;
	pace->random ^= pace->random >> 7;
	pace->random ^= pace->random << 17;
	return pace->random % (most + 1);
}

void s3_pace_tell_tries(const struct s3_pace *pace, const struct bk_sink *sink)
{
	sink->put_u64(sink->ctx, "requests", pace->requests, "count", 0);
	sink->put_u64(sink->ctx, "retries", pace->retries, "count", 0);
}

void s3_pace_tell_bytes(const struct s3_pace *pace, const struct bk_sink *sink)
{
	sink->put_u64(sink->ctx, "bytes.sent", pace->bytes_sent, "bytes", 0);
	sink->put_u64(sink->ctx, "bytes.received", pace->bytes_received, "bytes", 0);
}
