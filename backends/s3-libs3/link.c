/*
 * link.c - a thread's request context, driven with select().
 *
 * The one invariant: a wait never outlasts the deadline, a stall, a cancel or a wake-up time.
 */
#include "l3.h"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LNK_FIRST_NS UINT64_C(50000000) /* the first wait is up to this; doubled each time */
#define LNK_MOST_NS  UINT64_C(5000000000)

uint64_t l3_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

bk_status l3_link_init(struct l3_link *link, const struct bk_store *store, uint64_t timeout_ns,
		       struct bk_error *err)
{
	memset(link, 0, sizeof(*link));
	link->store = store;
	link->timeout_ns = timeout_ns;
	link->random = l3_now_ns() ^ (uint64_t)(uintptr_t)link;
	atomic_init(&link->cancelled, false);
	link->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (link->wake_fd < 0 || link->wake_fd >= FD_SETSIZE)
		return bk_fail(err, BK_IO, 0,
			       L3_NAME ": no descriptor below %d is left, and libs3 needs one",
			       FD_SETSIZE);
	if (S3_create_request_context(&link->context) != S3StatusOK) {
		link->context = NULL;
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
	}
	return BK_OK;
}

void l3_link_free(struct l3_link *link)
{
	if (link->context)
		S3_destroy_request_context(link->context);
	if (link->store && link->wake_fd >= 0)
		close(link->wake_fd);
	link->context = NULL;
	link->store = NULL;
}

/* Without a context a call fails as out of memory. */
void l3_link_reset(struct l3_link *link)
{
	S3_destroy_request_context(link->context);
	link->context = NULL;
	if (S3_create_request_context(&link->context) != S3StatusOK)
		link->context = NULL;
}

void l3_link_enter(struct l3_link *link)
{
	uint64_t ignored;

	if (atomic_exchange(&link->cancelled, false) &&
	    read(link->wake_fd, &ignored, sizeof(ignored)) < 0)
		ignored = 0; /* nothing was there: fine */
	link->deadline_ns = link->timeout_ns ? l3_now_ns() + link->timeout_ns : 0;
}

void l3_link_cancel(struct l3_link *link)
{
	uint64_t one = 1;

	atomic_store(&link->cancelled, true);
	if (write(link->wake_fd, &one, sizeof(one)) < 0)
		one = 0; /* it is full of wake-ups already */
}

/* Until something moves, at most until `until_ns`. */
static void lnk_select(struct l3_link *link, uint64_t now, uint64_t until_ns)
{
	int64_t own_ms = S3_get_request_context_timeout(link->context);
	uint64_t wait_ns = until_ns - now;
	struct timeval tv;
	fd_set in, out, bad;
	int most = -1;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&bad);
	S3_get_request_context_fdsets(link->context, &in, &out, &bad, &most);
	if (own_ms >= 0 && (uint64_t)own_ms * 1000000 < wait_ns)
		wait_ns = (uint64_t)own_ms * 1000000;
	/* Between two sockets libcurl has none to wait for. */
	if (most < 0 && wait_ns > 1000000)
		wait_ns = 1000000;
	FD_SET(link->wake_fd, &in);
	most = most > link->wake_fd ? most : link->wake_fd;
	tv.tv_sec = (time_t)(wait_ns / 1000000000);
	tv.tv_usec = (suseconds_t)(wait_ns % 1000000000 / 1000);
	select(most + 1, &in, &out, &bad, &tv);
}

static bk_status lnk_late(uint64_t ns, const char *what, const char *of, struct bk_error *err)
{
	bk_fail(err, BK_TIMEOUT, 0, L3_NAME ": %s: no end after %.3g s (%s)", what,
		(double)ns / 1e9, of);
	err->flags = BK_ERR_RETRY;
	return BK_TIMEOUT;
}

bk_status l3_link_drive(struct l3_link *link, bool (*enough)(void *ctx), void *ctx,
			uint64_t wake_ns, const char *what, struct bk_error *err)
{
	uint64_t patience_ns = link->store->options->timeout_us * 1000, now, until;
	int left;

	if (!link->context)
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
	for (;;) {
		if (S3_runonce_request_context(link->context, &left) != S3StatusOK)
			return bk_fail(err, BK_INTERNAL, 0, L3_NAME ": %s: libs3 gave up", what);
		if (enough && enough(ctx))
			return BK_OK;
		if (atomic_load_explicit(&link->cancelled, memory_order_relaxed))
			return bk_fail(err, BK_CANCELLED, 0, L3_NAME ": %s: cancelled", what);
		now = l3_now_ns();
		if (wake_ns && now >= wake_ns)
			return BK_OK;
		if (link->deadline_ns && now >= link->deadline_ns)
			return lnk_late(link->timeout_ns, what, "the session's time for one call",
					err);
		if (!wake_ns && now >= link->moved_ns + patience_ns)
			return lnk_late(patience_ns, what, "nothing moved; option timeout", err);
		until = wake_ns ? wake_ns : link->moved_ns + patience_ns;
		if (link->deadline_ns && link->deadline_ns < until)
			until = link->deadline_ns;
		lnk_select(link, now, until);
	}
}

bk_status l3_link_wait_again(struct l3_link *link, unsigned tried, const char *what,
			     struct bk_error *err)
{
	uint64_t most = tried < 6 ? LNK_FIRST_NS << tried : LNK_MOST_NS;
	bk_status st;

	link->random ^= link->random << 13;
	link->random ^= link->random >> 7;
	link->random ^= link->random << 17;
	st = l3_link_drive(link, NULL, NULL, l3_now_ns() + 1 + link->random % most, what, err);
	if (st == BK_OK)
		link->counters.retries++;
	return st;
}
