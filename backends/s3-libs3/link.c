/*
 * link.c - a thread's request context, driven with select().
 *
 * The one invariant: libs3 moves only in here, and only on the thread that owns the link.
 */
#include "l3.h"

#include <sys/eventfd.h>
#include <unistd.h>

bk_status l3_link_init(struct l3_link *link, const struct bk_store *store, uint64_t timeout_ns,
		       struct bk_error *err)
{
	memset(link, 0, sizeof(*link));
	link->store = store;
	s3_pace_init(&link->pace, &store->site, timeout_ns);
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

	if (s3_pace_enter(&link->pace) && read(link->wake_fd, &ignored, sizeof(ignored)) < 0)
		ignored = 0; /* nothing was there: fine */
}

void l3_link_cancel(struct l3_link *link)
{
	uint64_t one = 1;

	s3_pace_cancel(&link->pace);
	if (write(link->wake_fd, &one, sizeof(one)) < 0)
		one = 0; /* it is full of wake-ups already */
}

/* Until something moves, at most until `until_ns`. */
static void lnk_select(struct l3_link *link, uint64_t until_ns)
{
	int64_t own_ms = S3_get_request_context_timeout(link->context);
	uint64_t now = s3_now_ns(), wait_ns = until_ns > now ? until_ns - now : 0;
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

bk_status l3_link_drive(struct l3_link *link, bool (*enough)(void *ctx), void *ctx,
			uint64_t wake_ns, const char *what, struct bk_error *err)
{
	uint64_t until;
	bk_status st;
	int left;

	if (!link->context)
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
	for (;;) {
		if (S3_runonce_request_context(link->context, &left) != S3StatusOK)
			return bk_fail(err, BK_INTERNAL, 0, L3_NAME ": %s: libs3 gave up", what);
		if (enough && enough(ctx))
			return BK_OK;
		st = s3_pace_check(&until, &link->pace, wake_ns,
				   wake_ns ? UINT64_MAX : link->moved_ns, what, err);
		if (st != BK_OK)
			return st == BK_END ? BK_OK : st;
		lnk_select(link, until);
	}
}

bk_status l3_link_wait_again(struct l3_link *link, unsigned tried, const char *what,
			     struct bk_error *err)
{
	uint64_t until_ns = s3_now_ns() + s3_pace_jitter_ns(&link->pace, tried);
	bk_status st = l3_link_drive(link, NULL, NULL, until_ns, what, err);

	if (st == BK_OK)
		link->pace.retries++;
	return st;
}
