/*
 * call.c - a request from beginning to end, or to the head of its answer; tries again included.
 *
 * The one invariant: each further try is counted, and the time that it takes is the call's.  What
 * an earlier try may have done is told with the last one's error.
 */
#include "http.h"

static bool cal_done(void *ctx)
{
	return ((struct s3_transfer *)ctx)->done;
}

/* A good answer's head is enough; a bad one's body says why. */
static bool cal_head(void *ctx)
{
	struct s3_transfer *t = ctx;

	return t->done || (t->head && t->answer.status < 300);
}

static bk_status cal_try(struct s3_transfer *t, struct s3_link *link, const struct s3_request *r,
			 bool (*enough)(void *ctx), struct bk_error *final)
{
	struct bk_error here = bk_error_init(), *err = &here;
	uint32_t unknown = 0;
	bool again = false;
	unsigned tried;
	bk_status st;

	for (tried = 0;; tried++) {
		st = s3_transfer_start(t, link, r, err);
		if (st != BK_OK)
			goto failed;
		st = s3_link_drive(link, enough, t, 0, r->what, err);
		if (st != BK_OK) {
			s3_transfer_drop(t);
			if (r->flags & S3_CHANGES)
				err->flags |= BK_ERR_OUTCOME_UNKNOWN;
			goto failed;
		}
		st = s3_outcome(&again, t, r, tried, err);
		if (st == BK_OK && !t->done)
			return BK_OK;
		s3_transfer_drop(t);
		if (st == BK_OK)
			return BK_OK;
		if (!again)
			goto failed;
		unknown |= err->flags & BK_ERR_OUTCOME_UNKNOWN;
		st = s3_link_wait_again(link, tried, r->what, err);
		if (st != BK_OK)
			goto failed;
	}
failed:
	err->flags |= unknown;
	s3_error_pass(final, err);
	return st;
}

bk_status s3_call(struct s3_transfer *t, struct s3_link *link, const struct s3_request *request,
		  struct bk_error *err)
{
	t->sink = NULL;
	return cal_try(t, link, request, cal_done, err);
}

bk_status s3_begin(struct s3_transfer *t, struct s3_link *link, const struct s3_request *request,
		   struct bk_error *err)
{
	return cal_try(t, link, request, cal_head, err);
}
