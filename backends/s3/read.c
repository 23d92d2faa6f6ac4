/*
 * read.c - an object read as a stream.
 *
 * The one invariant: bytes go to the caller in order and once; what came too early waits in a spill
 * of fixed size, and when that is full the connection waits.  A connection that breaks is begun
 * again where it broke, on the same object or not at all (If-Match).
 */
#include "s3.h"

#define RD_SPILL ((size_t)256 * 1024 - 1) /* and the NUL of a buffer */

static size_t rd_sink(void *ctx, const void *data, size_t len)
{
	struct bk_reader *r = ctx;

	if (!data) {
		s3_intake_empty(&r->in);
		return 0;
	}
	return s3_intake_take(&r->in, data, len, RD_SPILL) ? len : S3_PAUSE;
}

static bk_status rd_begin(struct bk_reader *r, uint64_t from, bool to_end, const char *etag,
			  struct bk_error *err)
{
	struct bk_session *s = r->session;
	struct s3_request q = {.what = "get",
			       .method = "GET",
			       .bucket = s->store->config.site.at.bucket,
			       .key = bk_slice_of(r->key.data, r->key.len)};
	char range[64], quoted[140];
	size_t n = 0;

	if (to_end)
		snprintf(range, sizeof(range), "bytes=%llu-", (unsigned long long)from);
	else
		snprintf(range, sizeof(range), "bytes=%llu-%llu", (unsigned long long)from,
			 (unsigned long long)r->end - 1);
	if (from || !to_end)
		q.headers[n++] = (struct s3_param){"range", range};
	if (etag && etag[0]) {
		snprintf(quoted, sizeof(quoted), r->etag_bare ? "%s" : "\"%s\"", etag);
		q.headers[n++] = (struct s3_param){"if-match", quoted};
	}
	r->transfer.sink = rd_sink;
	r->transfer.sink_ctx = r;
	s3_intake_empty(&r->in);
	return s3_begin(&r->transfer, &s->link, &q, err);
}

/* The head of the answer against what was asked for. */
static bk_status rd_check(struct bk_reader *r, uint64_t from, struct bk_error *err)
{
	struct s3_answer *a = &r->transfer.answer;
	uint64_t total = a->status == 206 ? a->total : a->length;

	if (total == UINT64_MAX)
		return bk_fail(err, BK_CORRUPT, 0, "s3: get: the server does not say the size");
	if (a->status != 206 && from)
		return bk_fail(err, BK_UNSUPPORTED, a->status,
			       "s3: get: the server ignores the range that it is asked for");
	/* Where others answer 416, versitygw has a part of no bytes. */
	if (from > total)
		return bk_fail(err, BK_INVALID, 0, "s3: get: offset %llu of a binary of %llu bytes",
			       (unsigned long long)from, (unsigned long long)total);
	if (r->end > total)
		r->end = total;
	if (a->status == 206 && a->from != from && r->end > from)
		return bk_fail(err, BK_CORRUPT, 0,
			       "s3: get: bytes from %llu on were asked for, the server sends other "
			       "ones",
			       (unsigned long long)from);
	if (a->status == 206 && a->length != r->end - from)
		return bk_fail(err, BK_CORRUPT, 0,
			       "s3: get: %llu bytes were asked for, the server announces %llu",
			       (unsigned long long)(r->end - from), (unsigned long long)a->length);
	r->total = total;
	return BK_OK;
}

/* Nothing is to be read: only how much there is. */
static bk_status rd_empty(struct bk_reader *r, uint64_t offset, struct bk_error *err)
{
	struct bk_session *s = r->session;
	bk_status st = s3_head(s, "get", bk_slice_of(r->key.data, r->key.len), err);

	if (st != BK_OK)
		return st;
	r->total = s->call.answer.length;
	if (offset > r->total)
		return bk_fail(err, BK_INVALID, 0, "s3: get: offset %llu of a binary of %llu bytes",
			       (unsigned long long)offset, (unsigned long long)r->total);
	r->at = r->end = offset;
	return BK_OK;
}

static bk_status rd_first(struct bk_reader *r, uint64_t offset, uint64_t len, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st;

	r->at = offset;
	/* Nothing is larger; some servers trip over numbers of more digits. */
	r->end = offset < S3_BINARY_MAX && len < S3_BINARY_MAX - offset ? offset + len : UINT64_MAX;
	if (len == 0)
		return rd_empty(r, offset, err);
	st = rd_begin(r, offset, r->end == UINT64_MAX, NULL, &here);
	if (st == BK_OK)
		st = rd_check(r, offset, &here);
	else if (r->transfer.answer.status == 416) /* at the end, or beyond it */
		return rd_empty(r, offset, err);
	if (st != BK_OK) {
		s3_transfer_drop(&r->transfer);
		s3_error_pass(err, &here);
		return st;
	}
	memcpy(r->etag, r->transfer.answer.etag, sizeof(r->etag));
	r->etag_bare = r->transfer.answer.etag_bare;
	return BK_OK;
}

bk_status s3_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
		       uint64_t offset, uint64_t len, struct bk_binary_info *info,
		       struct bk_error *err)
{
	struct bk_reader *r = &s->reader;
	bk_status st;

	s3_link_enter(&s->link);
	if (r->open)
		return bk_fail(err, BK_STATE, 0, "s3: get: the session has a reader open");
	if (!r->md5)
		r->md5 = EVP_MD_CTX_new();
	if (!s3_buf_reserve(&r->in.spill, RD_SPILL - r->in.spill.len) || !r->md5)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	r->tried = 0;
	st = s3_key_full(&r->key, &s->store->config, key, err);
	if (st == BK_OK)
		st = rd_first(r, offset, len, err);
	if (st != BK_OK)
		return st;
	r->hashing = s->store->config.options->verify && r->at == 0 && r->end == r->total &&
		     r->end && strlen(r->etag) == 32; /* a longer one is of parts */
	if (r->hashing)
		EVP_DigestInit_ex2(r->md5, s->link.signer.md5, NULL);
	r->open = true;
	info->size_bytes = r->total;
	*out = r;
	return BK_OK;
}

/* ---- Reading on -------------------------------------------------------------------------------
 */

static bool rd_enough(void *ctx)
{
	struct bk_reader *r = ctx;

	return r->in.got || r->transfer.done;
}

/* The connection broke: the rest is asked for, of the same object. */
static bk_status rd_again(struct bk_reader *r, struct bk_error *err)
{
	bk_status st = s3_link_wait_again(&r->session->link, r->tried++, "get", err);

	if (st != BK_OK)
		return st;
	st = rd_begin(r, r->at, false, r->etag, err);
	if (st == BK_EXISTS) /* 412 */
		return bk_fail(err, BK_CONFLICT, 412,
			       "s3: get: the connection broke after %llu bytes, and the object is "
			       "another one now",
			       (unsigned long long)r->at);
	if (st != BK_OK)
		return st;
	st = r->transfer.answer.status == 206 || r->at == 0
		     ? rd_check(r, r->at, err)
		     : bk_fail(err, BK_UNSUPPORTED, 0,
			       "s3: get: the server ignores the range that it is asked for");
	if (st != BK_OK)
		s3_transfer_drop(&r->transfer);
	return st;
}

static bk_status rd_more(struct bk_reader *r, void *buf, size_t cap, struct bk_error *err)
{
	struct s3_link *link = &r->session->link;
	struct s3_request q = {.what = "get",
			       .bucket = link->config->site.at.bucket,
			       .key = bk_slice_of(r->key.data, r->key.len)};
	struct bk_error here = bk_error_init();
	bool again;
	bk_status st;

	for (;;) {
		s3_intake_aim(&r->in, buf, cap);
		if (r->transfer.active) {
			s3_transfer_resume(&r->transfer);
			st = s3_link_drive(link, rd_enough, r, 0, "get", err);
			if (st != BK_OK)
				return st;
		}
		r->in.room = 0;
		if (r->in.got)
			return BK_OK;
		st = s3_outcome(&again, &r->transfer, &q, r->tried, &here);
		s3_transfer_drop(&r->transfer);
		if (st == BK_OK)
			return bk_fail(err, BK_CORRUPT, 0,
				       "s3: get: the server ended after %llu of %llu bytes",
				       (unsigned long long)r->at, (unsigned long long)r->end);
		if (!again) {
			s3_error_pass(err, &here);
			return st;
		}
		st = rd_again(r, err);
		if (st != BK_OK)
			return st;
		if (s3_intake_waits(&r->in))
			return BK_OK;
	}
}

/* All is read. */
static bk_status rd_end(struct bk_reader *r, struct bk_error *err)
{
	unsigned char hash[16];
	char hex[33];

	if (r->hashing) {
		r->hashing = false;
		EVP_DigestFinal_ex(r->md5, hash, NULL);
		s3_hex(hex, hash, sizeof(hash));
		if (strcmp(hex, r->etag) != 0)
			return bk_fail(err, BK_CORRUPT, 0,
				       "s3: get: the MD5 of what came is %s, the server's ETag %s",
				       hex, r->etag);
	}
	return BK_END;
}

bk_status s3_read(struct bk_reader *r, void *buf, size_t cap, size_t *n, struct bk_error *err)
{
	bk_status st;

	if (r->at == r->end)
		return rd_end(r, err);
	s3_link_enter(&r->session->link);
	if ((uint64_t)cap > r->end - r->at)
		cap = (size_t)(r->end - r->at);
	if (!s3_intake_waits(&r->in)) {
		st = rd_more(r, buf, cap, err);
		if (st != BK_OK)
			return st;
	}
	*n = s3_intake_give(&r->in, buf, cap);
	if (r->hashing)
		EVP_DigestUpdate(r->md5, buf, *n);
	r->at += *n;
	return BK_OK;
}

static bool rd_done(void *ctx)
{
	return ((struct s3_transfer *)ctx)->done;
}

void s3_read_close(struct bk_reader *r)
{
	struct bk_error ignored = bk_error_init();

	if (!r->open)
		return;
	/* What is read to its end is done, but for libcurl's noticing. */
	if (r->at == r->end && r->transfer.active && !r->transfer.done) {
		s3_link_enter(&r->session->link);
		s3_transfer_resume(&r->transfer);
		s3_link_drive(&r->session->link, rd_done, &r->transfer,
			      s3_now_ns() + UINT64_C(100000000), "get", &ignored);
	}
	s3_transfer_drop(&r->transfer);
	r->open = false;
}

void s3_reader_free(struct bk_reader *r)
{
	s3_transfer_free(&r->transfer);
	s3_buf_free(&r->key);
	EVP_MD_CTX_free(r->md5);
	s3_buf_free(&r->in.spill);
	memset(r, 0, sizeof(*r));
}
