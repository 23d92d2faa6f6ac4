/*
 * doors.c - how s3-common reaches the server through libs3.
 *
 * The one invariant: only keys that a listing below the store's prefix gave, and that do begin with
 * it, are deleted.
 */
#include "l3.h"

static struct l3_call *dor_call(void *hand, const char *what, const char *key,
				void (*begin)(struct l3_call *call))
{
	struct l3_call *c = ((struct l3_hand *)hand)->call;

	c->link = ((struct l3_hand *)hand)->link;
	c->what = what;
	c->bucket = NULL;
	c->key = key;
	c->begin = begin;
	c->changes = false;
	c->from = c->count = 0;
	c->if_match = NULL;
	return c;
}

/* A session's next call begins from this. */
static bk_status dor_run(struct l3_call *c, struct bk_error *err)
{
	bk_status st = l3_call(c, err);

	c->bucket = NULL;
	c->page = NULL;
	c->changes = false;
	return st;
}

static bk_status dor_read(void *ctx, const char *what, enum own_found *found, struct s3_buf *text,
			  const char *key, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, what, key, l3_begin_get);
	struct bk_error here = bk_error_init();
	bk_status st = dor_run(c, &here);

	if (l3_is_missing(c) && st == BK_NOT_FOUND) {
		*found = c->status == S3StatusErrorNoSuchBucket ? OWN_NO_BUCKET : OWN_NO_OBJECT;
		return BK_OK;
	}
	if (st != BK_OK) {
		s3_error_pass(err, &here);
		return st;
	}
	*found = OWN_THERE;
	s3_buf_put(text, s3_buf_str(&c->text), c->text.len);
	return text->failed ? bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory") : BK_OK;
}

static bk_status dor_write(void *ctx, const char *key, const char *text, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "put", key, l3_begin_put);

	c->body = text;
	c->body_len = strlen(text);
	c->changes = true;
	return dor_run(c, err);
}

static bk_status dor_remove(void *ctx, const char *key, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "delete", key, l3_begin_delete);

	c->changes = true;
	return dor_run(c, err);
}

static bk_status dor_page(void *ctx, struct s3_page *page, const char *bucket, const char *prefix,
			  unsigned most, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "list", NULL, l3_begin_list);
	bk_status st;

	c->bucket = bucket;
	c->prefix = prefix;
	c->marker = page->begun && page->more ? page->next.data : NULL;
	c->most = (int)most;
	c->page = page;
	st = dor_run(c, err);
	if (st != BK_OK)
		return st;
	page->begun = true;
	page->more = page->more && page->count;
	s3_buf_reset(&page->next); /* the last key: libs3 2.0 asks by marker */
	if (page->count)
		s3_buf_put(&page->next, s3_page_key(page, page->count - 1).data,
			   s3_page_key(page, page->count - 1).len);
	return page->next.failed ? s3_no_memory(&c->link->store->site, err) : BK_OK;
}

/* libs3 2.0 deletes one object a request. */
static bk_status dor_purge_page(void *ctx, const struct s3_page *page, const char *keep,
				struct bk_error *err)
{
	const char *space = ((struct l3_hand *)ctx)->link->store->site.at.space;
	size_t prefix = strlen(space), i;
	struct s3_buf key = {0};
	struct bk_slice full;
	bk_status st = BK_OK;

	for (i = 0; st == BK_OK && i < page->count; i++) {
		full = s3_page_key(page, i);
		if (full.len < prefix || memcmp(full.data, space, prefix) != 0 ||
		    (keep && bk_slice_eq(full, bk_slice_str(keep))))
			continue;
		s3_buf_reset(&key);
		s3_buf_put(&key, full.data, full.len);
		st = key.failed ? bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory")
				: dor_remove(ctx, key.data, err);
	}
	s3_buf_free(&key);
	return st;
}

static bk_status dor_purge(void *ctx, const char *keep, struct bk_error *err)
{
	const struct s3_endpoint *at = &((struct l3_hand *)ctx)->link->store->site.at;
	struct s3_page page = {.count = 0};
	bk_status st = BK_OK;

	while (st == BK_OK && (!page.begun || page.more)) {
		st = dor_page(ctx, &page, at->bucket, at->space, L3_PAGE, err);
		if (st == BK_OK)
			st = dor_purge_page(ctx, &page, keep, err);
	}
	s3_page_free(&page);
	return st;
}

static bk_status dor_bucket_make(void *ctx, bool *refused, const char *name, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "create", NULL, l3_begin_create);
	struct bk_error here = bk_error_init();
	bk_status st;

	c->bucket = name;
	c->changes = true;
	st = dor_run(c, &here);
	if (st == BK_OK || c->status == S3StatusErrorBucketAlreadyOwnedByYou)
		return BK_OK;
	*refused = c->status == S3StatusErrorBucketAlreadyExists || st == BK_AUTH;
	if (*refused)
		return BK_OK;
	s3_error_pass(err, &here);
	return st;
}

static bk_status dor_bucket_remove(void *ctx, const char *name, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "remove", NULL, l3_begin_remove);
	struct bk_error here = bk_error_init();
	bk_status st;

	c->bucket = name;
	c->changes = true;
	st = dor_run(c, &here);
	if (st == BK_OK || st == BK_NOT_FOUND)
		return BK_OK;
	s3_error_pass(err, &here);
	return st;
}

static bk_status dor_bucket_exists(void *ctx, bool *out, const char *name, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "look", NULL, l3_begin_test);
	struct bk_error here = bk_error_init();
	bk_status st;

	c->bucket = name;
	st = dor_run(c, &here);
	*out = st == BK_OK;
	if (st == BK_OK || st == BK_NOT_FOUND)
		return BK_OK;
	s3_error_pass(err, &here);
	return st;
}

struct own_doors l3_doors(struct l3_hand *hand)
{
	return (struct own_doors){
		.ctx = hand,
		.site = &hand->link->store->site,
		.read = dor_read,
		.write = dor_write,
		.remove = dor_remove,
		.page = dor_page,
		.purge = dor_purge,
		.bucket_make = dor_bucket_make,
		.bucket_remove = dor_bucket_remove,
		.bucket_exists = dor_bucket_exists,
		.own_key = l3_key_own,
	};
}
