/*
 * write.c - an object written as a stream: held and put in one request while it is small, cut into
 * parts (multipart.c) when it is not.
 *
 * The one invariant: the object appears whole, at finish: by the one PUT, or by the completion of
 * its parts.
 */
#include "s3.h"

#define WR_MIB (UINT64_C(1) << 20)

bool s3_writer_init(struct bk_writer *w, struct bk_session *s)
{
	size_t i;

	w->session = s;
	w->part_slots = (size_t)s->store->config.options->part_concurrency;
	w->parts = calloc(w->part_slots, sizeof(*w->parts));
	for (i = 0; w->parts && i < w->part_slots; i++)
		w->parts[i].request.what = "put of a part";
	return w->parts != NULL;
}

void s3_writer_free(struct bk_writer *w)
{
	size_t i;

	for (i = 0; w->parts && i < w->part_slots; i++) {
		s3_transfer_free(&w->parts[i].transfer);
		free(w->parts[i].hold.data);
	}
	free(w->parts);
	free(w->etags);
	s3_buf_free(&w->key);
	s3_buf_free(&w->upload_id);
	memset(w, 0, sizeof(*w));
}

/* Whole mebibytes, and few enough parts. */
static uint64_t wr_part_bytes(const struct s3_options *o, uint64_t size_bytes)
{
	uint64_t least = size_bytes / S3_PARTS_MAX + 1;

	if (size_bytes == BK_SIZE_UNKNOWN || least <= o->part_bytes)
		return o->part_bytes;
	return (least + WR_MIB - 1) / WR_MIB * WR_MIB;
}

/* How many bytes a buffer holds until it is sent as a part. */
static uint64_t wr_most(const struct bk_writer *w)
{
	const struct s3_options *o = w->session->store->config.options;

	if (w->declared_bytes != BK_SIZE_UNKNOWN && w->declared_bytes <= o->threshold_bytes)
		return o->threshold_bytes;
	return w->part_bytes;
}

bk_status s3_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	const struct s3_options *o = s->store->config.options;
	struct bk_writer *w = &s->writer;
	bk_status st;

	s3_link_enter(&s->link);
	st = s3_put_check(&s->store->config.site, w->open, mode, size_bytes, S3_BINARY_MAX, err);
	if (st != BK_OK)
		return st;
	if (mode == BK_PUT_CREATE && !s->store->config.create)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "s3: put: create-if-absent is not offered here (option "
			       "conditional-create)");
	st = s3_key_full(&w->key, &s->store->config, key, err);
	if (st != BK_OK)
		return st;
	s3_buf_reset(&w->upload_id);
	w->declared_bytes = size_bytes;
	w->written_bytes = 0;
	w->mode = mode;
	w->part_bytes = wr_part_bytes(o, size_bytes);
	w->part_count = 0;
	w->current = 0;
	w->parts[0].hold.len = 0;
	w->failed.status = BK_OK;
	w->open = true;
	*out = w;
	return BK_OK;
}

static bk_status wr_fail(struct bk_writer *w, const struct bk_error *why, struct bk_error *err)
{
	w->failed = *why;
	s3_error_pass(err, why);
	return why->status;
}

bk_status s3_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	uint64_t most = wr_most(w);
	size_t n;

	s3_link_enter(&w->session->link);
	if (w->failed.status != BK_OK) {
		s3_error_pass(err, &w->failed);
		return err->status;
	}
	w->written_bytes += len;
	if (w->declared_bytes != BK_SIZE_UNKNOWN && w->written_bytes > w->declared_bytes)
		return BK_OK; /* finish() will say so; nothing of it is kept */
	while (len) {
		struct s3_part *p = &w->parts[w->current];

		if (p->hold.len == most) {
			if (s3_parts_send(w, &here) != BK_OK)
				return wr_fail(w, &here, err);
			continue;
		}
		n = most - p->hold.len < len ? (size_t)(most - p->hold.len) : len;
		if (!s3_hold_put(&p->hold, data, n, w->declared_bytes, most, most)) {
			bk_fail(&here, BK_NOMEM, 0, "s3: put: out of memory for a part");
			return wr_fail(w, &here, err);
		}
		data = (const char *)data + n;
		len -= n;
	}
	return BK_OK;
}

/* ---- In one request ---------------------------------------------------------------------------
 */

static bk_status wr_check_etag(struct bk_writer *w, const struct s3_part *p, struct bk_error *err)
{
	struct bk_session *s = w->session;
	unsigned char hash[16];
	char hex[33];

	if (!s->store->config.options->verify || strlen(s->call.answer.etag) != 32)
		return BK_OK;
	s3_md5(hash, &s->link.signer, p->hold.data, p->hold.len);
	s3_hex(hex, hash, sizeof(hash));
	if (strcmp(hex, s->call.answer.etag) == 0)
		return BK_OK;
	return bk_fail(err, BK_CORRUPT, 0,
		       "s3: put: the MD5 of what was sent is %s, the server's ETag %s", hex,
		       s->call.answer.etag);
}

static bk_status wr_put(struct bk_writer *w, struct bk_error *err)
{
	struct bk_session *s = w->session;
	const struct s3_part *p = &w->parts[0];
	struct s3_request r = {.what = "put",
			       .method = "PUT",
			       .bucket = s->store->config.site.at.bucket,
			       .key = bk_slice_of(w->key.data, w->key.len),
			       .body = p->hold.data,
			       .body_len = p->hold.len,
			       .flags = S3_PAYLOAD | S3_CHANGES};
	bk_status st;

	if (w->mode == BK_PUT_CREATE) {
		r.headers[0] = (struct s3_param){"if-none-match", "*"};
		r.flags |= S3_ONCE;
	}
	st = s3_call(&s->call, &s->link, &r, err);
	return st == BK_OK ? wr_check_etag(w, p, err) : st;
}

static void wr_close(struct bk_writer *w, bk_status why)
{
	if (w->upload_id.len)
		s3_parts_abort(w, why);
	w->open = false;
}

bk_status s3_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err)
{
	bk_status st;

	s3_link_enter(&w->session->link);
	if (w->failed.status != BK_OK) {
		s3_error_pass(err, &w->failed);
		st = err->status;
	} else {
		st = s3_put_whole(&w->session->store->config.site, w->declared_bytes,
				  w->written_bytes, err);
		if (st == BK_OK)
			st = w->upload_id.len ? s3_parts_finish(w, err) : wr_put(w, err);
	}
	if (st == BK_OK)
		info->size_bytes = w->written_bytes;
	wr_close(w, st);
	return st;
}

void s3_abort(struct bk_writer *w)
{
	wr_close(w, w->failed.status);
}
