/*
 * purge.c - everything below a prefix, deleted page by page.
 *
 * The one invariant: only keys that a listing of that very prefix gave, and that do begin with it,
 * are deleted: a server that lists too much loses nothing.
 */
#include "list.h"
#include "xml.h"

#include <openssl/evp.h>

struct prg {
	struct s3_transfer *t;
	struct s3_link *link;
	const char *bucket, *prefix, *keep;
	struct s3_listing list;
	struct s3_buf body;
	bool one_by_one; /* the server knows no deletion of many */
};

static bool prg_is_ours(const struct prg *p, struct bk_slice key)
{
	size_t n = strlen(p->prefix);

	if (key.len < n || (n && memcmp(key.data, p->prefix, n) != 0))
		return false;
	return !p->keep || !bk_slice_eq(key, bk_slice_str(p->keep));
}

/* The id as a string of its own, "" for none; the caller's to free. */
static char *prg_id(const struct s3_page *l, size_t i)
{
	return strndup(l->items[i].id_len ? l->text.data + l->items[i].id : "", l->items[i].id_len);
}

static bk_status prg_one(struct prg *p, size_t i, struct bk_error *err)
{
	bool upload = p->list.kind == S3_LIST_UPLOADS;
	struct s3_request r = {.what = upload ? "abort of the upload" : "delete",
			       .method = "DELETE",
			       .bucket = p->bucket,
			       .key = s3_page_key(&p->list.page, i),
			       .flags = S3_CHANGES};
	struct bk_error here = bk_error_init();
	char *id = prg_id(&p->list.page, i);
	bk_status st;

	if (!id)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	if (id[0])
		r.query[0] = (struct s3_param){upload ? "uploadId" : "versionId", id};
	st = s3_call(p->t, p->link, &r, &here);
	free(id);
	if (st == BK_OK || p->t->answer.status == 404) /* gone meanwhile */
		return BK_OK;
	s3_error_pass(err, &here);
	return st;
}

/* ---- Many at once ------------------------------------------------------------------------------
 */

struct prg_refusal {
	char code[64], key[200];
	bool found;
};

static void prg_element(void *ctx, const char *path, struct bk_slice text)
{
	struct prg_refusal *f = ctx;

	if (f->found)
		return;
	if (strcmp(path, "/DeleteResult/Error/Code") == 0)
		snprintf(f->code, sizeof(f->code), "%.*s", (int)text.len, (const char *)text.data);
	else if (strcmp(path, "/DeleteResult/Error/Key") == 0)
		snprintf(f->key, sizeof(f->key), "%.*s", (int)(text.len > 190 ? 190 : text.len),
			 (const char *)text.data);
	else if (strcmp(path, "/DeleteResult/Error") == 0)
		f->found =
			strcmp(f->code, "NoSuchKey") != 0 && strcmp(f->code, "NoSuchVersion") != 0;
}

static bk_status prg_send(struct prg *p, struct bk_error *err)
{
	struct s3_request r = {.what = "delete of many",
			       .method = "POST",
			       .bucket = p->bucket,
			       .query = {{"delete", NULL}},
			       .flags = S3_CHANGES | S3_LATE};
	struct prg_refusal refusal = {.found = false};
	unsigned char md5[16], text[32];
	bk_status st;

	s3_buf_puts(&p->body, "</Delete>");
	if (p->body.failed)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	s3_md5(md5, &p->link->signer, p->body.data, p->body.len);
	EVP_EncodeBlock(text, md5, sizeof(md5));
	r.headers[0] = (struct s3_param){"content-md5", (const char *)text};
	r.headers[1] = (struct s3_param){"content-type", "application/xml"};
	r.body = p->body.data;
	r.body_len = p->body.len;
	st = s3_call(p->t, p->link, &r, err);
	if (st != BK_OK)
		return st;
	if (!s3_xml_parse(bk_slice_of(s3_buf_str(&p->t->answer.body), p->t->answer.body.len),
			  prg_element, &refusal))
		return bk_fail(err, BK_CORRUPT, 0,
			       "s3: delete of many: bucket '%s': the answer is not well-formed XML",
			       p->bucket);
	if (refusal.found)
		return bk_fail(err, strcmp(refusal.code, "AccessDenied") == 0 ? BK_AUTH : BK_IO, 0,
			       "s3: delete of many: bucket '%s': '%s' cannot be deleted: %s",
			       p->bucket, refusal.key, refusal.code);
	return BK_OK;
}

/* false: this one needs a request of its own. */
static bool prg_put(struct prg *p, size_t i)
{
	struct s3_item *item = &p->list.page.items[i];
	size_t before = p->body.len;

	s3_buf_puts(&p->body, "<Object><Key>");
	if (!s3_buf_put_xml(&p->body, s3_page_key(&p->list.page, i))) {
		p->body.len = before;
		p->body.data[before] = '\0';
		return false;
	}
	s3_buf_puts(&p->body, "</Key>");
	if (item->id_len) {
		s3_buf_puts(&p->body, "<VersionId>");
		s3_buf_put_xml(&p->body,
			       bk_slice_of(p->list.page.text.data + item->id, item->id_len));
		s3_buf_puts(&p->body, "</VersionId>");
	}
	s3_buf_puts(&p->body, "</Object>");
	return true;
}

static bk_status prg_page(struct prg *p, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = BK_OK;
	size_t i, many = 0;

	s3_buf_reset(&p->body);
	s3_buf_puts(&p->body, "<Delete><Quiet>true</Quiet>");
	for (i = 0; st == BK_OK && i < p->list.page.count; i++) {
		if (!prg_is_ours(p, s3_page_key(&p->list.page, i)))
			continue;
		if (!p->one_by_one && p->list.kind != S3_LIST_UPLOADS && prg_put(p, i))
			many++;
		else
			st = prg_one(p, i, err);
	}
	if (st != BK_OK || !many)
		return st;
	st = prg_send(p, &here);
	if (st == BK_UNSUPPORTED) {
		p->one_by_one = true;
		return prg_page(p, err);
	}
	if (st != BK_OK)
		s3_error_pass(err, &here);
	return st;
}

static bk_status prg_all(struct prg *p, enum s3_list_kind kind, struct bk_error *err)
{
	bk_status st;

	s3_listing_start(&p->list, kind);
	do {
		st = s3_listing_page(&p->list, p->t, p->link, p->bucket, p->prefix, 1000, err);
		if (st == BK_OK)
			st = prg_page(p, err);
	} while (st == BK_OK && p->list.page.more);
	return st;
}

/* Is versioning on, or was it ever? */
static bool prg_has_versions(struct prg *p)
{
	struct s3_request r = {.what = "get of the versioning",
			       .method = "GET",
			       .bucket = p->bucket,
			       .query = {{"versioning", NULL}}};
	struct bk_error ignored = bk_error_init();
	char status[32] = "";

	if (s3_call(p->t, p->link, &r, &ignored) != BK_OK)
		return false;
	s3_xml_text(bk_slice_of(s3_buf_str(&p->t->answer.body), p->t->answer.body.len),
		    "/VersioningConfiguration/Status", status, sizeof(status));
	return status[0] != '\0';
}

bk_status s3_purge(struct s3_transfer *t, struct s3_link *link, const char *bucket,
		   const char *prefix, const char *keep, struct bk_error *err)
{
	struct prg p = {.t = t, .link = link, .bucket = bucket, .prefix = prefix, .keep = keep};
	struct bk_error here = bk_error_init();
	bk_status st = prg_all(&p, S3_LIST_OBJECTS, err);

	if (st == BK_OK && prg_has_versions(&p))
		st = prg_all(&p, S3_LIST_VERSIONS, err);
	if (st == BK_OK) {
		st = prg_all(&p, S3_LIST_UPLOADS, &here);
		if (st == BK_UNSUPPORTED)
			st = BK_OK;
		else if (st != BK_OK)
			s3_error_pass(err, &here);
	}
	s3_listing_free(&p.list);
	s3_buf_free(&p.body);
	return st;
}
