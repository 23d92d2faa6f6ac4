/*
 * parts.c - the parts of an upload on their way: begun, sent side by side, tried again.
 *
 * The one invariant: a part's bytes stay where they are until the server has acknowledged them.
 */
#include "s3.h"
#include "xml.h"

struct s3_request s3_parts_request(const struct bk_writer *w, const char *what, const char *method)
{
	return (struct s3_request){.what = what,
				   .method = method,
				   .bucket = w->session->store->config.site.at.bucket,
				   .key = bk_slice_of(w->key.data, w->key.len),
				   .flags = S3_CHANGES};
}

static bk_status prt_begin(struct bk_writer *w, struct bk_error *err)
{
	struct bk_session *s = w->session;
	struct s3_request r = s3_parts_request(w, "begin of an upload", "POST");
	char id[1024] = "";
	bk_status st;

	r.query[0] = (struct s3_param){"uploads", NULL};
	st = s3_call(&s->call, &s->link, &r, err);
	if (st != BK_OK)
		return st;
	s3_xml_text(bk_slice_of(s3_buf_str(&s->call.answer.body), s->call.answer.body.len),
		    "/InitiateMultipartUploadResult/UploadId", id, sizeof(id));
	if (!id[0])
		return bk_fail(err, BK_CORRUPT, 0,
			       "s3: begin of an upload: the server gives no upload id");
	s3_buf_reset(&w->upload_id);
	s3_buf_puts(&w->upload_id, id);
	return w->upload_id.failed ? bk_fail(err, BK_NOMEM, 0, "s3: out of memory") : BK_OK;
}

/* ---- Parts on their way -----------------------------------------------------------------------
 */

static bk_status prt_start(struct bk_writer *w, struct s3_part *p, struct bk_error *err)
{
	struct s3_request *r = &p->request;

	*r = s3_parts_request(w, "put of a part", "PUT");
	snprintf(p->number, sizeof(p->number), "%u", p->index + 1);
	r->query[0] = (struct s3_param){"partNumber", p->number};
	r->query[1] = (struct s3_param){"uploadId", w->upload_id.data};
	r->body = p->hold.data;
	r->body_len = p->hold.len;
	r->flags = S3_PAYLOAD | S3_CHANGES;
	p->again_ns = 0;
	p->busy = true;
	return s3_transfer_start(&p->transfer, &w->session->link, r, err);
}

static bk_status prt_note(struct bk_writer *w, struct s3_part *p, struct bk_error *err)
{
	struct s3_signer *signer = &w->session->link.signer;
	const char *etag = p->transfer.answer.etag;
	unsigned char hash[16];
	char hex[33];

	if (!etag[0] || strlen(etag) >= sizeof(*w->etags))
		return bk_fail(err, BK_CORRUPT, 0,
			       "s3: put of a part: the server gives no ETag for part %u",
			       p->index + 1);
	if (w->session->store->config.options->verify && strlen(etag) == 32) {
		s3_md5(hash, signer, p->hold.data, p->hold.len);
		s3_hex(hex, hash, sizeof(hash));
		if (strcmp(hex, etag) != 0)
			return bk_fail(err, BK_CORRUPT, 0,
				       "s3: put of a part: the MD5 of part %u is %s, the server's "
				       "ETag %s",
				       p->index + 1, hex, etag);
	}
	memcpy(w->etags[p->index], etag, strlen(etag) + 1);
	w->etag_bare = p->transfer.answer.etag_bare;
	p->busy = false;
	p->hold.len = 0;
	return BK_OK;
}

/* One part, as far as it has come. */
static bk_status prt_step(struct bk_writer *w, struct s3_part *p, struct bk_error *err)
{
	struct s3_link *link = &w->session->link;
	struct bk_error here = bk_error_init();
	bool again = false;
	bk_status st;

	if (!p->busy)
		return BK_OK;
	if (p->again_ns) {
		if (s3_now_ns() < p->again_ns)
			return BK_OK;
		link->pace.retries++;
		return prt_start(w, p, err);
	}
	if (!p->transfer.done)
		return BK_OK;
	st = s3_outcome(&again, &p->transfer, &p->request, p->tried, &here);
	s3_transfer_drop(&p->transfer);
	if (st == BK_OK)
		return prt_note(w, p, err);
	if (!again) {
		s3_error_pass(err, &here);
		return st;
	}
	p->again_ns = s3_now_ns() + s3_pace_jitter_ns(&link->pace, p->tried++);
	return BK_OK;
}

static bool prt_any_done(void *ctx)
{
	const struct bk_writer *w = ctx;
	size_t i;

	for (i = 0; i < w->part_slots; i++) {
		if (w->parts[i].busy && !w->parts[i].again_ns && w->parts[i].transfer.done)
			return true;
	}
	return false;
}

static size_t prt_busy(const struct bk_writer *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->part_slots; i++)
		n += w->parts[i].busy;
	return n;
}

/* Until no more than `most` parts are on their way. */
bk_status s3_parts_await(struct bk_writer *w, size_t most, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = BK_OK;
	uint64_t wake_ns;
	size_t i;

	for (;;) {
		for (i = 0; st == BK_OK && i < w->part_slots; i++)
			st = prt_step(w, &w->parts[i], &here);
		if (st != BK_OK || prt_busy(w) <= most)
			break;
		for (wake_ns = 0, i = 0; i < w->part_slots; i++) {
			const struct s3_part *p = &w->parts[i];

			if (p->busy && p->again_ns && (!wake_ns || p->again_ns < wake_ns))
				wake_ns = p->again_ns;
		}
		st = s3_link_drive(&w->session->link, prt_any_done, w, wake_ns, "put of a part",
				   &here);
	}
	if (st != BK_OK)
		s3_error_pass(err, &here);
	return st;
}

static bool prt_room(struct bk_writer *w)
{
	size_t cap = w->etag_cap ? w->etag_cap * 2 : 64;
	void *more;

	if (w->part_count < w->etag_cap)
		return true;
	more = realloc(w->etags, cap * sizeof(*w->etags));
	if (!more)
		return false;
	w->etags = more;
	w->etag_cap = cap;
	return true;
}

bk_status s3_parts_send(struct bk_writer *w, struct bk_error *err)
{
	struct s3_part *p = &w->parts[w->current];
	bk_status st = BK_OK;
	size_t i;

	if (w->part_count == S3_PARTS_MAX)
		return bk_fail(
			err, BK_TOO_LARGE, 0,
			"s3: put: over %u parts of %llu bytes; name the size, or set a larger "
			"part-size",
			S3_PARTS_MAX, (unsigned long long)w->part_bytes);
	if (!prt_room(w))
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	if (!w->upload_id.len)
		st = prt_begin(w, err);
	if (st != BK_OK)
		return st;
	p->index = w->part_count++;
	p->tried = 0;
	st = prt_start(w, p, err);
	if (st == BK_OK)
		st = s3_parts_await(w, w->part_slots - 1, err);
	for (i = 0; st == BK_OK && i < w->part_slots; i++) {
		if (!w->parts[i].busy) {
			w->current = i;
			w->parts[i].hold.len = 0;
			break;
		}
	}
	return st;
}
