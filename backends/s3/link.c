/*
 * link.c - a thread's connections: driven, timed, cancelled.
 *
 * The one invariant: a poll never outlasts the deadline, a stall, a cancel or a wake-up time.
 */
#include "http.h"

#include <time.h>

#define LNK_FIRST_NS UINT64_C(50000000) /* the first wait is up to this; doubled each time */
#define LNK_MOST_NS  UINT64_C(5000000000)

uint64_t s3_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

bk_status s3_link_init(struct s3_link *link, const struct s3_config *config, uint64_t timeout_ns,
		       struct bk_error *err)
{
	const struct s3_options *o = config->options;

	memset(link, 0, sizeof(*link));
	link->config = config;
	link->timeout_ns = timeout_ns;
	link->random = s3_now_ns() ^ (uint64_t)(uintptr_t)link;
	atomic_init(&link->cancelled, false);
	link->multi = curl_multi_init();
	if (!s3_signer_init(&link->signer, o->access_key, o->secret_key, o->region) || !link->multi)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	curl_multi_setopt(link->multi, CURLMOPT_MAXCONNECTS, (long)S3_CONCURRENCY + 2);
	return BK_OK;
}

void s3_link_free(struct s3_link *link)
{
	curl_multi_cleanup(link->multi);
	s3_signer_free(&link->signer);
	link->multi = NULL;
}

void s3_link_enter(struct s3_link *link)
{
	atomic_store_explicit(&link->cancelled, false, memory_order_relaxed);
	link->deadline_ns = link->timeout_ns ? s3_now_ns() + link->timeout_ns : 0;
}

void s3_link_cancel(struct s3_link *link)
{
	atomic_store(&link->cancelled, true);
	curl_multi_wakeup(link->multi);
}

static void lnk_collect(struct s3_link *link)
{
	struct s3_transfer *t;
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(link->multi, &left)) != NULL) {
		if (msg->msg != CURLMSG_DONE)
			continue;
		for (t = link->active; t && t->easy != msg->easy_handle; t = t->next)
			;
		if (t) {
			t->result = msg->data.result;
			t->done = true;
		}
	}
}

/* When the first of what is on its way will have stood still for too long; what waits for us to
 * read on does not stand still. */
static uint64_t lnk_stall_ns(const struct s3_link *link)
{
	uint64_t first = UINT64_MAX, patience = link->config->options->timeout_us * 1000;
	const struct s3_transfer *t;

	for (t = link->active; t; t = t->next) {
		if (!t->done && !t->paused && t->moved_ns + patience < first)
			first = t->moved_ns + patience;
	}
	return first;
}

static bk_status lnk_late(uint64_t ns, const char *what, const char *of, struct bk_error *err)
{
	bk_fail(err, BK_TIMEOUT, 0, "s3: %s: no end after %.3g s (%s)", what, (double)ns / 1e9, of);
	err->flags = BK_ERR_RETRY;
	return BK_TIMEOUT;
}

bk_status s3_link_drive(struct s3_link *link, bool (*enough)(void *ctx), void *ctx,
			uint64_t wake_ns, const char *what, struct bk_error *err)
{
	uint64_t now, until, stall;
	int running;

	for (;;) {
		curl_multi_perform(link->multi, &running);
		lnk_collect(link);
		if (enough && enough(ctx))
			return BK_OK;
		if (atomic_load_explicit(&link->cancelled, memory_order_relaxed))
			return bk_fail(err, BK_CANCELLED, 0, "s3: %s: cancelled", what);
		now = s3_now_ns();
		if (wake_ns && now >= wake_ns)
			return BK_OK;
		if (link->deadline_ns && now >= link->deadline_ns)
			return lnk_late(link->timeout_ns, what, "the session's time for one call",
					err);
		stall = lnk_stall_ns(link);
		if (now >= stall)
			return lnk_late(link->config->options->timeout_us * 1000, what,
					"nothing moved; option timeout", err);
		until = stall;
		if (link->deadline_ns && link->deadline_ns < until)
			until = link->deadline_ns;
		if (wake_ns && wake_ns < until)
			until = wake_ns;
		until = until - now < UINT64_C(60000000000) ? (until - now) / 1000000 + 1 : 60000;
		curl_multi_poll(link->multi, NULL, 0, (int)until, NULL);
	}
}

uint64_t s3_backoff_ns(struct s3_link *link, unsigned tried)
{
	uint64_t most = tried < 8 ? LNK_FIRST_NS << tried : LNK_MOST_NS;

	link->random ^= link->random << 13;
	link->random ^= link->random >> 7;
	link->random ^= link->random << 17;
	return link->random % ((most < LNK_MOST_NS ? most : LNK_MOST_NS) + 1);
}

bk_status s3_link_wait(struct s3_link *link, uint64_t ns, const char *what, struct bk_error *err)
{
	return s3_link_drive(link, NULL, NULL, s3_now_ns() + ns, what, err);
}
