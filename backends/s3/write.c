/*
 * write.c - an object written as a stream: held and put in one request while it is small, cut into
 * parts (multipart.c) when it is not.
 *
 * The one invariant: the object appears whole, at finish: by the one PUT, or by the completion of
 * its parts.
 */
#include "s3.h"

#define WR_FIRST ((size_t)64 * 1024)
#define WR_MIB   (UINT64_C(1) << 20)

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
		free(w->parts[i].data);
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
	if (w->open)
		return bk_fail(err, BK_STATE, 0, "s3: put: the session has a writer open");
	if (mode != BK_PUT_CREATE && mode != BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "s3: put: mode must be create or upsert");
	if (mode == BK_PUT_CREATE && !s->store->config.create)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "s3: put: create-if-absent is not offered here (option "
			       "conditional-create)");
	if (size_bytes != BK_SIZE_UNKNOWN && size_bytes > S3_BINARY_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "s3: put: %llu bytes; an object may have 5 TiB",
			       (unsigned long long)size_bytes);
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
	w->parts[0].len = 0;
	w->failed.status = BK_OK;
	w->open = true;
	*out = w;
	return BK_OK;
}

/* Room for `more` bytes in the current buffer, which may grow to `most`. */
static bool wr_reserve(struct bk_writer *w, size_t more, uint64_t most)
{
	struct s3_part *p = &w->parts[w->current];
	size_t need = p->len + more, cap = p->cap ? p->cap : WR_FIRST;
	unsigned char *bigger;

	if (need <= p->cap)
		return true;
	if (w->declared_bytes <= most && w->declared_bytes >= need)
		cap = (size_t)w->declared_bytes;
	while (cap < need)
		cap = cap * 2 < most ? cap * 2 : (size_t)most;
	bigger = realloc(p->data, cap);
	if (!bigger)
		return false;
	p->data = bigger;
	p->cap = cap;
	return true;
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

		if (p->len == most) {
			if (s3_parts_send(w, &here) != BK_OK)
				return wr_fail(w, &here, err);
			continue;
		}
		n = most - p->len < len ? (size_t)(most - p->len) : len;
		if (!wr_reserve(w, n, most)) {
			bk_fail(&here, BK_NOMEM, 0, "s3: put: out of memory for a part");
			return wr_fail(w, &here, err);
		}
		memcpy(p->data + p->len, data, n);
		p->len += n;
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
	s3_md5(hash, &s->link.signer, p->data, p->len);
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
			       .bucket = s->store->config.at.bucket,
			       .key = bk_slice_of(w->key.data, w->key.len),
			       .body = p->data,
			       .body_len = p->len,
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
	} else if (w->declared_bytes != BK_SIZE_UNKNOWN && w->declared_bytes != w->written_bytes) {
		st = bk_fail(err, BK_INVALID, 0,
			     "s3: finish: %llu bytes were declared, %llu written",
			     (unsigned long long)w->declared_bytes,
			     (unsigned long long)w->written_bytes);
	} else if (w->upload_id.len) {
		st = s3_parts_finish(w, err);
	} else {
		st = wr_put(w, err);
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
