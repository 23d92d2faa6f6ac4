/*
 * link.c - a thread's connections: driven, timed, cancelled.
 *
 * The one invariant: libcurl moves only in here, and only on the thread that owns the link.
 */
#include "http.h"

bk_status s3_link_init(struct s3_link *link, const struct s3_config *config, uint64_t timeout_ns,
		       struct bk_error *err)
{
	const struct s3_options *o = config->options;

	memset(link, 0, sizeof(*link));
	link->config = config;
	s3_pace_init(&link->pace, &config->site, timeout_ns);
	link->multi = curl_multi_init();
	if (!s3_signer_init(&link->signer, o->access.access_key, o->access.secret_key, o->region) ||
	    !link->multi)
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
	s3_pace_enter(&link->pace);
}

void s3_link_cancel(struct s3_link *link)
{
	s3_pace_cancel(&link->pace);
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

/* When that moved last which has stood still the longest; what waits for us to read on does not
 * stand still. */
static uint64_t lnk_moved_ns(const struct s3_link *link)
{
	const struct s3_transfer *t;
	uint64_t first = UINT64_MAX;

	for (t = link->active; t; t = t->next) {
		if (!t->done && !t->paused && t->moved_ns < first)
			first = t->moved_ns;
	}
	return first;
}

bk_status s3_link_drive(struct s3_link *link, bool (*enough)(void *ctx), void *ctx,
			uint64_t wake_ns, const char *what, struct bk_error *err)
{
	uint64_t until, now;
	bk_status st;
	int running;

	for (;;) {
		curl_multi_perform(link->multi, &running);
		lnk_collect(link);
		if (enough && enough(ctx))
			return BK_OK;
		st = s3_pace_check(&until, &link->pace, wake_ns, lnk_moved_ns(link), what, err);
		if (st != BK_OK)
			return st == BK_END ? BK_OK : st;
		now = s3_now_ns();
		until = until > now ? until - now : 0;
		until = until < UINT64_C(60000000000) ? until / 1000000 + 1 : 60000;
		curl_multi_poll(link->multi, NULL, 0, (int)until, NULL);
	}
}

bk_status s3_link_wait_again(struct s3_link *link, unsigned tried, const char *what,
			     struct bk_error *err)
{
	uint64_t until_ns = s3_now_ns() + s3_pace_jitter_ns(&link->pace, tried);
	bk_status st = s3_link_drive(link, NULL, NULL, until_ns, what, err);

	if (st == BK_OK)
		link->pace.retries++;
	return st;
}
