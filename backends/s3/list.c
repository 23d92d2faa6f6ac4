/*
 * list.c - see list.h: one page asked for and read.
 */
#include "list.h"
#include "xml.h"

/* ---- Reading a page ---------------------------------------------------------------------------
 */

static int lst_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* As forms encode it: some servers write a blank as '+', all write a plus as %2B. */
static void lst_put_decoded(struct s3_buf *out, struct bk_slice text)
{
	const char *p = text.data;
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = p[i] == '+' ? ' ' : p[i];

		if (p[i] == '%' && i + 2 < text.len && lst_digit(p[i + 1]) >= 0 &&
		    lst_digit(p[i + 2]) >= 0) {
			c = (char)(lst_digit(p[i + 1]) * 16 + lst_digit(p[i + 2]));
			i += 2;
		}
		s3_buf_put(out, &c, 1);
	}
}

static void lst_put(struct s3_listing *l, size_t *at, size_t *len, struct bk_slice text,
		    bool encoded)
{
	*at = l->page.text.len;
	if (encoded)
		lst_put_decoded(&l->page.text, text);
	else
		s3_buf_put(&l->page.text, text.data, text.len);
	*len = l->page.text.len - *at;
}

static void lst_set(struct s3_buf *out, struct bk_slice text, bool encoded)
{
	s3_buf_reset(out);
	if (encoded)
		lst_put_decoded(out, text);
	else
		s3_buf_put(out, text.data, text.len);
}

static const char *lst_root(enum s3_list_kind kind)
{
	switch (kind) {
	case S3_LIST_VERSIONS:
		return "/ListVersionsResult";
	case S3_LIST_UPLOADS:
		return "/ListMultipartUploadsResult";
	default:
		return "/ListBucketResult";
	}
}

static void lst_end_item(struct s3_listing *l)
{
	s3_page_add(&l->page, &l->item);
	memset(&l->item, 0, sizeof(l->item));
}

static void lst_item(struct s3_listing *l, const char *name, struct bk_slice text)
{
	if (strcmp(name, "/Key") == 0)
		lst_put(l, &l->item.key, &l->item.key_len, text, l->encoded);
	else if (strcmp(name, "/VersionId") == 0 || strcmp(name, "/UploadId") == 0)
		lst_put(l, &l->item.id, &l->item.id_len, text, false);
	else if (strcmp(name, "/Size") == 0)
		l->item.size_bytes = strtoull(text.data, NULL, 10);
	else if (name[0] == '\0')
		lst_end_item(l);
}

static void lst_element(void *ctx, const char *path, struct bk_slice text)
{
	static const char *const items[] = {"/Contents", "/Version", "/DeleteMarker", "/Upload"};
	struct s3_listing *l = ctx;
	size_t i, len = strlen(lst_root(l->kind));

	if (strncmp(path, lst_root(l->kind), len) != 0)
		return;
	path += len;
	for (i = 0; i < 4; i++) {
		len = strlen(items[i]);
		if (strncmp(path, items[i], len) == 0 && (path[len] == '/' || path[len] == '\0')) {
			lst_item(l, path + len, text);
			return;
		}
	}
	if (strcmp(path, "/EncodingType") == 0)
		l->encoded = text.len == 3 && memcmp(text.data, "url", 3) == 0;
	else if (strcmp(path, "/IsTruncated") == 0)
		l->page.more = text.len == 4 && memcmp(text.data, "true", 4) == 0;
	else if (strcmp(path, "/NextContinuationToken") == 0)
		lst_set(&l->page.next, text, false);
	else if (strcmp(path, "/NextKeyMarker") == 0)
		lst_set(&l->page.next, text, l->encoded);
	else if (strcmp(path, "/NextVersionIdMarker") == 0 ||
		 strcmp(path, "/NextUploadIdMarker") == 0)
		lst_set(&l->next_id, text, false);
}

/* The encoding is needed before the first key, and its element may stand behind them. */
static void lst_encoding(void *ctx, const char *path, struct bk_slice text)
{
	struct s3_listing *l = ctx;

	if (strcmp(path + strcspn(path + 1, "/") + 1, "/EncodingType") == 0)
		l->encoded = text.len == 3 && memcmp(text.data, "url", 3) == 0;
}

static bk_status lst_read(struct s3_listing *l, struct bk_slice body, const char *bucket,
			  struct bk_error *err)
{
	char *before = l->page.begun ? strdup(s3_buf_str(&l->page.next)) : NULL;
	bk_status st = BK_OK;
	bool stuck;

	l->encoded = false;
	s3_page_empty(&l->page);
	s3_buf_reset(&l->page.next);
	s3_buf_reset(&l->next_id);
	memset(&l->item, 0, sizeof(l->item));
	if (!s3_xml_parse(body, lst_encoding, l) || !s3_xml_parse(body, lst_element, l))
		st = bk_fail(err, BK_CORRUPT, 0,
			     "s3: list: bucket '%s': the answer is not well-formed XML", bucket);
	else if (s3_page_failed(&l->page) || l->next_id.failed)
		st = bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	stuck = l->page.more && (l->page.next.len == 0 || (before && l->page.count == 0 &&
							   strcmp(before, l->page.next.data) == 0));
	if (st == BK_OK && stuck)
		st = bk_fail(err, BK_CORRUPT, 0,
			     "s3: list: bucket '%s': the server says that there is more, and not "
			     "where",
			     bucket);
	free(before);
	l->page.begun = true;
	return st;
}

/* ---- Asking for one ---------------------------------------------------------------------------
 */

static void lst_query(struct s3_request *r, const struct s3_listing *l, const char *prefix,
		      const char *page)
{
	static const char *const first[] = {"list-type", "versions", "uploads"};
	static const char *const most[] = {"max-keys", "max-keys", "max-uploads"};
	struct s3_param *q = r->query;

	*q++ = (struct s3_param){first[l->kind], l->kind == S3_LIST_OBJECTS ? "2" : NULL};
	*q++ = (struct s3_param){"encoding-type", "url"};
	*q++ = (struct s3_param){most[l->kind], page};
	*q++ = (struct s3_param){"prefix", prefix};
	if (!l->page.begun || !l->page.more)
		return;
	if (l->kind == S3_LIST_OBJECTS) {
		*q = (struct s3_param){"continuation-token", l->page.next.data};
		return;
	}
	*q++ = (struct s3_param){"key-marker", l->page.next.data};
	if (l->next_id.len)
		*q = (struct s3_param){l->kind == S3_LIST_VERSIONS ? "version-id-marker"
								   : "upload-id-marker",
				       l->next_id.data};
}

void s3_listing_start(struct s3_listing *l, enum s3_list_kind kind)
{
	l->kind = kind;
	s3_page_start(&l->page);
}

bk_status s3_listing_page(struct s3_listing *l, struct s3_transfer *t, struct s3_link *link,
			  const char *bucket, const char *prefix, uint64_t page,
			  struct bk_error *err)
{
	struct s3_request r = {.what = "list", .method = "GET", .bucket = bucket};
	char most[24];
	bk_status st;

	snprintf(most, sizeof(most), "%llu", (unsigned long long)page);
	lst_query(&r, l, prefix, most);
	st = s3_call(t, link, &r, err);
	if (st != BK_OK)
		return st;
	return lst_read(l, bk_slice_of(s3_buf_str(&t->answer.body), t->answer.body.len), bucket,
			err);
}

bk_status s3_page_next(struct s3_page *page, struct s3_transfer *t, struct s3_link *link,
		       const char *bucket, const char *prefix, uint64_t most, struct bk_error *err)
{
	struct s3_listing l = {.kind = S3_LIST_OBJECTS, .page = *page};
	bk_status st = s3_listing_page(&l, t, link, bucket, prefix, most, err);

	*page = l.page;
	s3_buf_free(&l.next_id);
	return st;
}

void s3_listing_free(struct s3_listing *l)
{
	s3_page_free(&l->page);
	s3_buf_free(&l->next_id);
	memset(l, 0, sizeof(*l));
}
