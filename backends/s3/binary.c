/*
 * binary.c - stat, remove, the listing; the table of the binary operations.
 *
 * The one invariant: each call sets its deadline first.
 */
#include "bucket.h"
#include "s3.h"

bk_status s3_head(struct bk_session *s, const char *what, struct bk_slice full_key,
		  struct bk_error *err)
{
	struct s3_request r = {.what = what,
			       .method = "HEAD",
			       .bucket = s->store->config.site.at.bucket,
			       .key = full_key};
	bk_status st = s3_call(&s->call, &s->link, &r, err);

	if (st == BK_OK && s->call.answer.length == UINT64_MAX)
		return bk_fail(err, BK_CORRUPT, 0, "s3: %s: the server does not say the size",
			       what);
	return st;
}

static bk_status bin_stat(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
			  struct bk_error *err)
{
	bk_status st = s3_key_full(&s->key, &s->store->config, key, err);

	s3_link_enter(&s->link);
	if (st == BK_OK)
		st = s3_head(s, "stat", bk_slice_of(s->key.data, s->key.len), err);
	if (st == BK_OK)
		info->size_bytes = s->call.answer.length;
	return st;
}

/* DELETE answers alike whether anything was there; the contract asks for NOT_FOUND, so HEAD comes
 * first. */
static bk_status bin_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	struct s3_request r = {.what = "remove",
			       .method = "DELETE",
			       .bucket = s->store->config.site.at.bucket,
			       .flags = S3_CHANGES};
	bk_status st = s3_key_full(&s->key, &s->store->config, key, err);

	s3_link_enter(&s->link);
	if (st != BK_OK)
		return st;
	r.key = bk_slice_of(s->key.data, s->key.len);
	st = s3_head(s, "remove", r.key, err);
	return st == BK_OK ? s3_call(&s->call, &s->link, &r, err) : st;
}

/* ---- Listing ------------------------------------------------------------------------------- */

static bk_status bin_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err)
{
	*out = &s->cursor;
	return s3_cursor_open(&s->cursor.list, "s3", err);
}

static bk_status bin_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			       size_t cap, size_t *n, struct bk_error *err)
{
	struct bk_session *s = c->session;
	struct s3_hand hand = {&s->link, &s->call};
	const struct own_doors doors = s3_doors(&hand);
	unsigned most = (unsigned)s->store->config.options->page;

	s3_link_enter(&s->link);
	return s3_cursor_next(&c->list, &doors, most, keys, sizes_bytes, cap, n, err);
}

static void bin_list_close(struct bk_cursor *c)
{
	c->list.open = false;
}

const struct bk_binary_ops s3_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = s3_write_open,
	.write = s3_write,
	.finish = s3_finish,
	.abort = s3_abort,
	.read_open = s3_read_open,
	.read = s3_read,
	.read_close = s3_read_close,
	.stat = bin_stat,
	.remove = bin_remove,
	.list_open = bin_list_open,
	.list_next = bin_list_next,
	.list_close = bin_list_close,
};
