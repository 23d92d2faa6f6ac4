/*
 * doors.c - how own.c reaches the server through libs3.  The control thread's.
 */
#include "l3.h"

static struct l3_call *dor_call(struct bk_store *store, const char *what, const char *key,
				void (*begin)(struct l3_call *call))
{
	struct l3_call *c = &store->call;

	c->link = &store->link;
	c->what = what;
	c->bucket = NULL;
	c->key = key;
	c->begin = begin;
	c->changes = false;
	c->from = c->count = 0;
	c->if_match = NULL;
	return c;
}

static bk_status dor_read(void *ctx, enum own_found *found, struct s3_buf *text, const char *key,
			  struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "get", key, l3_begin_get);
	struct bk_error here = bk_error_init();
	bk_status st = l3_call(c, &here);

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
	return l3_call(c, err);
}

static bk_status dor_remove(void *ctx, const char *key, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "delete", key, l3_begin_delete);

	c->changes = true;
	return l3_call(c, err);
}

static bk_status dor_first(void *ctx, size_t *count, struct s3_buf *key, const char *bucket,
			   const char *prefix, unsigned most, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "list", NULL, l3_begin_list);
	bk_status st;

	c->bucket = bucket;
	c->prefix = prefix;
	c->marker = NULL;
	c->most = (int)most;
	st = l3_call(c, err);
	if (st != BK_OK)
		return st;
	*count = c->listed;
	if (c->listed)
		s3_buf_puts(key, c->text.data);
	return BK_OK;
}

static bk_status dor_bucket_make(void *ctx, bool *refused, const char *name, struct bk_error *err)
{
	struct l3_call *c = dor_call(ctx, "create", NULL, l3_begin_create);
	struct bk_error here = bk_error_init();
	bk_status st;

	c->bucket = name;
	c->changes = true;
	st = l3_call(c, &here);
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
	st = l3_call(c, &here);
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
	st = l3_call(c, &here);
	*out = st == BK_OK;
	if (st == BK_OK || st == BK_NOT_FOUND)
		return BK_OK;
	s3_error_pass(err, &here);
	return st;
}

struct own_doors l3_doors(struct bk_store *store)
{
	return (struct own_doors){
		.ctx = store,
		.backend = L3_NAME,
		.bucket = store->at.bucket,
		.root = store->at.root,
		.space = store->at.space,
		.mark = store->mark,
		.read = dor_read,
		.write = dor_write,
		.remove = dor_remove,
		.first = dor_first,
		.bucket_make = dor_bucket_make,
		.bucket_remove = dor_bucket_remove,
		.bucket_exists = dor_bucket_exists,
	};
}
