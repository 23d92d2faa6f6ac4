/*
 * read.c - an object read as a stream.
 *
 * The one invariant: libs3 says OK to a body that was cut short, so every byte is counted; what is
 * missing is asked for again, of the same object or not at all (If-Match).
 */
#include "l3.h"

static bk_status rd_begin(struct bk_reader *r, struct bk_error *err)
{
	struct l3_call *c = &r->call;

	s3_intake_empty(&r->in);
	c->what = "get";
	c->key = r->key.data;
	c->begin = l3_begin_get;
	c->reader = r;
	c->from = r->at;
	c->count = r->end == UINT64_MAX ? 0 : r->end - r->at;
	c->if_match = r->etag[0] ? r->etag : NULL;
	return l3_start(c, err);
}

/* The first answer, tried again while nothing has come of it. */
static bk_status rd_first(struct bk_reader *r, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bool again = false;
	bk_status st;

	for (;;) {
		st = rd_begin(r, &here);
		if (st == BK_OK && r->call.done)
			st = l3_outcome(&again, &r->call, r->tried, &here);
		if (st == BK_OK)
			return BK_OK;
		if (!again)
			break;
		st = l3_link_wait_again(r->call.link, r->tried++, "get", &here);
		if (st != BK_OK)
			break;
		again = false;
	}
	s3_error_pass(err, &here);
	return st;
}

static bool rd_done(void *ctx)
{
	return ((struct bk_reader *)ctx)->call.done;
}

/* An answer without a length looks like one of no bytes, until some come. */
static bk_status rd_whole(struct bk_reader *r, struct bk_error *err)
{
	bk_status st = rd_first(r, err);

	if (st != BK_OK)
		return st;
	if (!r->call.length && !r->call.done) {
		st = l3_link_drive(r->call.link, rd_done, r, 0, "get", err);
		if (st != BK_OK) {
			l3_link_reset(r->call.link);
			return st;
		}
	}
	if (!r->call.length && r->in.spill.len)
		return bk_fail(err, BK_CORRUPT, 0,
			       L3_NAME ": get: the server does not say the size");
	r->total = r->end = r->call.length;
	snprintf(r->etag, sizeof(r->etag), "%s", r->call.etag);
	return BK_OK;
}

/* libs3 does not show how large the object is of which a part is asked for: HEAD says it. */
static bk_status rd_range(struct bk_reader *r, uint64_t offset, uint64_t len, struct bk_error *err)
{
	struct bk_session *s = r->session;
	bk_status st = l3_head(s, "get", r->key.data, err);

	if (st != BK_OK)
		return st;
	r->total = s->call.length;
	if (offset > r->total)
		return bk_fail(err, BK_INVALID, 0,
			       L3_NAME ": get: offset %llu of a binary of %llu bytes",
			       (unsigned long long)offset, (unsigned long long)r->total);
	r->at = offset;
	r->end = len < r->total - offset ? offset + len : r->total;
	snprintf(r->etag, sizeof(r->etag), "%s", s->call.etag);
	return r->at < r->end ? rd_first(r, err) : BK_OK;
}

bk_status l3_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
		       uint64_t offset, uint64_t len, struct bk_binary_info *info,
		       struct bk_error *err)
{
	struct bk_reader *r = &s->reader;
	bk_status st;

	l3_link_enter(&s->link);
	if (r->open)
		return bk_fail(err, BK_STATE, 0, L3_NAME ": get: the session has a reader open");
	st = l3_key_full(&r->key, s->store, key, err);
	if (st != BK_OK)
		return st;
	r->tried = 0;
	r->at = 0;
	r->end = UINT64_MAX;
	r->etag[0] = '\0';
	r->call.done = true;
	s3_intake_empty(&r->in);
	if (offset || len != BK_SIZE_UNKNOWN) {
		st = rd_range(r, offset, len, err);
	} else {
		st = rd_whole(r, err);
	}
	if (st != BK_OK)
		return st;
	r->open = true;
	info->size_bytes = r->total;
	*out = r;
	return BK_OK;
}

static bool rd_enough(void *ctx)
{
	struct bk_reader *r = ctx;

	return r->in.got || r->call.done;
}

static bk_status rd_more(struct bk_reader *r, void *buf, size_t cap, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bool again;
	bk_status st;

	for (;;) {
		s3_intake_aim(&r->in, buf, cap);
		if (!r->call.done) {
			r->call.link->moved_ns = s3_now_ns();
			st = l3_link_drive(r->call.link, rd_enough, r, 0, "get", err);
			if (st != BK_OK)
				return st;
		}
		r->in.room = 0;
		if (r->in.got)
			return BK_OK;
		if (r->call.status == S3StatusOK && !r->call.failed)
			r->call.status = S3StatusConnectionFailed; /* cut short */
		st = l3_outcome(&again, &r->call, r->tried, &here);
		if (!again) {
			s3_error_pass(err, &here);
			return st;
		}
		st = l3_link_wait_again(r->call.link, r->tried++, "get", err);
		if (st == BK_OK)
			st = rd_first(r, err);
		if (st != BK_OK)
			return st;
		if (s3_intake_waits(&r->in))
			return BK_OK;
	}
}

bk_status l3_read(struct bk_reader *r, void *buf, size_t cap, size_t *n, struct bk_error *err)
{
	bk_status st;

	if (r->at == r->end)
		return BK_END;
	l3_link_enter(&r->session->link);
	if ((uint64_t)cap > r->end - r->at)
		cap = (size_t)(r->end - r->at);
	if (!s3_intake_waits(&r->in)) {
		st = rd_more(r, buf, cap, err);
		if (st != BK_OK)
			return st;
	}
	*n = s3_intake_give(&r->in, buf, cap);
	r->at += *n;
	return BK_OK;
}

void l3_read_close(struct bk_reader *r)
{
	struct bk_error ignored = bk_error_init();

	if (!r->open)
		return;
	r->open = false;
	r->in.room = 0;
	l3_link_enter(&r->session->link);
	/* What is read to its end is done, but for libs3's noticing. */
	if (r->at == r->end && !r->call.done)
		l3_link_drive(&r->session->link, rd_done, r, s3_now_ns() + UINT64_C(100000000),
			      "get", &ignored);
	if (!r->call.done)
		l3_link_reset(&r->session->link);
}
