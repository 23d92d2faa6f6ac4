/*
 * multipart.c - an upload in parts at its end: completed or aborted.
 *
 * The one invariant: an upload that was begun is completed or aborted; one that cannot be aborted
 * now (the server does not answer) is an orphan, tried again later, and at the latest gone with
 * clear() or unmake(), which look for uploads below their prefix.
 */
#include "s3.h"
#include "xml.h"

#define MP_ABORT_NS UINT64_C(2000000000) /* an abort may cost no more */

/* The ETag that an object of these parts gets: the MD5 of their MD5s, and how many. */
static bool mp_expected(char out[48], struct bk_writer *w)
{
	unsigned char hash[16];
	struct s3_buf all = {0};
	unsigned i, k, byte;
	bool ok;

	for (i = 0; i < w->part_count; i++) {
		for (k = 0; strlen(w->etags[i]) == 32 && k < 16; k++) {
			unsigned char c;

			if (sscanf(w->etags[i] + 2 * k, "%2x", &byte) != 1)
				break;
			c = (unsigned char)byte;
			s3_buf_put(&all, &c, 1);
		}
	}
	ok = !all.failed && all.len == 16u * w->part_count;
	if (ok) {
		s3_md5(hash, &w->session->link.signer, all.data, all.len);
		s3_hex(out, hash, sizeof(hash));
		snprintf(out + 32, 16, "-%u", w->part_count);
	}
	s3_buf_free(&all);
	return ok;
}

/* The upload is not known any more: was it an earlier try of ours that completed it? */
static bool mp_was_completed(struct bk_writer *w)
{
	struct bk_session *s = w->session;
	struct bk_error ignored = bk_error_init();
	char expected[48];

	return mp_expected(expected, w) &&
	       s3_head(s, "put", bk_slice_of(w->key.data, w->key.len), &ignored) == BK_OK &&
	       strcmp(s->call.answer.etag, expected) == 0;
}

static bk_status mp_check_etag(struct bk_writer *w, struct bk_error *err)
{
	struct bk_session *s = w->session;
	char expected[48], etag[128] = "";

	s3_xml_text(bk_slice_of(s3_buf_str(&s->call.answer.body), s->call.answer.body.len),
		    "/CompleteMultipartUploadResult/ETag", etag, sizeof(etag));
	/* Ceph 16 leaves it empty; some put it in quotes */
	if (!s->store->config.options->verify || !strchr(etag, '-') || !mp_expected(expected, w) ||
	    strstr(etag, expected))
		return BK_OK;
	return bk_fail(err, BK_CORRUPT, 0,
		       "s3: completion of an upload: the ETag should be %s, the server says %s",
		       expected, etag);
}

static bool mp_list(struct s3_buf *out, struct bk_writer *w)
{
	const char *quote = w->etag_bare ? "" : "\"";
	unsigned i;

	s3_buf_puts(out, "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/"
			 "\">");
	for (i = 0; i < w->part_count; i++) {
		s3_buf_putf(out, "<Part><PartNumber>%u</PartNumber><ETag>%s", i + 1, quote);
		s3_buf_put_xml(out, bk_slice_str(w->etags[i]));
		s3_buf_putf(out, "%s</ETag></Part>", quote);
	}
	s3_buf_puts(out, "</CompleteMultipartUpload>");
	return !out->failed;
}

/* Not every server minds If-None-Match here (Ceph 16 does not), so a look comes first. */
static bk_status mp_check_absent(struct bk_writer *w, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = s3_head(w->session, "put", bk_slice_of(w->key.data, w->key.len), &here);

	if (st == BK_NOT_FOUND)
		return BK_OK;
	if (st == BK_OK)
		return bk_fail(err, BK_EXISTS, 0, "s3: put: the key is taken");
	s3_error_pass(err, &here);
	return st;
}

static bk_status mp_complete(struct bk_writer *w, struct bk_error *err)
{
	struct bk_session *s = w->session;
	struct s3_request r = s3_parts_request(w, "completion of an upload", "POST");
	struct bk_error here = bk_error_init();
	uint64_t retries = s->link.pace.retries;
	struct s3_buf list = {0};
	bk_status st;

	if (!mp_list(&list, w)) {
		s3_buf_free(&list);
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	}
	r.query[0] = (struct s3_param){"uploadId", w->upload_id.data};
	r.body = list.data;
	r.body_len = list.len;
	r.flags |= S3_LATE;
	r.headers[0] = (struct s3_param){"content-type", "application/xml"};
	if (w->mode == BK_PUT_CREATE)
		r.headers[1] = (struct s3_param){"if-none-match", "*"};
	st = s3_call(&s->call, &s->link, &r, &here);
	s3_buf_free(&list);
	if (st == BK_OK)
		return mp_check_etag(w, err);
	/* 412: what is there already may be what the earlier try has made */
	if (s->link.pace.retries != retries &&
	    (st == BK_EXISTS || strcmp(s->call.answer.code, "NoSuchUpload") == 0) &&
	    mp_was_completed(w))
		return BK_OK;
	s3_error_pass(err, &here);
	return st;
}

bk_status s3_parts_finish(struct bk_writer *w, struct bk_error *err)
{
	bk_status st = s3_parts_send(w, err);

	if (st == BK_OK)
		st = s3_parts_await(w, 0, err);
	if (st == BK_OK && w->mode == BK_PUT_CREATE)
		st = mp_check_absent(w, err);
	if (st == BK_OK)
		st = mp_complete(w, err);
	if (st == BK_OK)
		s3_buf_reset(&w->upload_id);
	return st;
}

/* ---- Aborting ---------------------------------------------------------------------------------
 */

static bk_status mp_abort_one(struct bk_session *s, struct bk_slice key, const char *upload_id)
{
	struct s3_request r = {.what = "abort of an upload",
			       .method = "DELETE",
			       .bucket = s->store->config.site.at.bucket,
			       .key = key,
			       .query = {{"uploadId", upload_id}},
			       .flags = S3_CHANGES | S3_NO_RETRY};
	struct bk_error here = bk_error_init();
	uint64_t soon_ns = s3_now_ns() + MP_ABORT_NS;
	bk_status st;

	if (!s->link.pace.deadline_ns || s->link.pace.deadline_ns > soon_ns)
		s->link.pace.deadline_ns = soon_ns;
	st = s3_call(&s->call, &s->link, &r, &here);
	return s->call.answer.status == 404 ? BK_OK : st;
}

static void mp_orphan(struct bk_writer *w)
{
	struct bk_session *s = w->session;
	struct s3_orphan *o = calloc(1, sizeof(*o));

	if (o) {
		o->key = malloc(w->key.len);
		o->upload_id = strdup(w->upload_id.data);
		o->key_len = w->key.len;
	}
	if (!o || !o->key || !o->upload_id) {
		if (o)
			free(o->key);
		if (o)
			free(o->upload_id);
		free(o);
		return;
	}
	memcpy(o->key, w->key.data, w->key.len);
	o->next = s->orphans;
	s->orphans = o;
}

/* Who is late, or gone, will not answer an abort now either, and who cancels does not want to wait
 * for one. */
static bool mp_is_hopeless(bk_status st)
{
	return st == BK_TIMEOUT || st == BK_UNAVAILABLE || st == BK_CANCELLED;
}

void s3_parts_abort(struct bk_writer *w, bk_status why)
{
	struct bk_slice key = bk_slice_of(w->key.data, w->key.len);
	size_t i;

	for (i = 0; i < w->part_slots; i++) {
		s3_transfer_drop(&w->parts[i].transfer);
		w->parts[i].busy = false;
	}
	s3_link_enter(&w->session->link);
	if (mp_is_hopeless(why) || mp_abort_one(w->session, key, w->upload_id.data) != BK_OK)
		mp_orphan(w);
	s3_buf_reset(&w->upload_id);
}

void s3_orphans_end(struct bk_session *s)
{
	bool hopeless = false;
	struct s3_orphan *o;
	size_t left = 0;
	char line[160];
	bk_status st;

	while ((o = s->orphans) != NULL) {
		s3_link_enter(&s->link);
		st = hopeless ? BK_UNAVAILABLE
			      : mp_abort_one(s, bk_slice_of(o->key, o->key_len), o->upload_id);
		hopeless = mp_is_hopeless(st);
		left += st != BK_OK;
		s->orphans = o->next;
		free(o->key);
		free(o->upload_id);
		free(o);
	}
	if (!left)
		return;
	snprintf(line, sizeof(line),
		 "s3: %zu unfinished uploads could not be aborted; clear or unmake removes them",
		 left);
	s3_log(s->store, BK_LOG_WARNING, line);
}
