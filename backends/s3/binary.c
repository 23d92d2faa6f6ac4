/*
 * binary.c - stat, remove, the listing; the table of the binary operations.
 *
 * The one invariant: each call sets its deadline first.
 */
#include "s3.h"

bk_status s3_head(struct bk_session *s, const char *what, struct bk_slice full_key,
		  struct bk_error *err)
{
	struct s3_request r = {.what = what,
			       .method = "HEAD",
			       .bucket = s->store->config.at.bucket,
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
			       .bucket = s->store->config.at.bucket,
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
	struct bk_cursor *c = &s->cursor;

	if (c->open)
		return bk_fail(err, BK_STATE, 0, "s3: list: the session has a cursor open");
	s3_listing_start(&c->page, S3_LIST_OBJECTS);
	c->next = 0;
	c->open = true;
	*out = c;
	return BK_OK;
}

static bk_status bin_list_page(struct bk_cursor *c, struct bk_error *err)
{
	struct bk_session *s = c->session;
	const struct s3_config *config = &s->store->config;

	c->next = 0;
	return s3_listing_page(&c->page, &s->call, &s->link, config->at.bucket, config->at.space,
			       config->options->page, err);
}

static bk_status bin_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			       size_t cap, size_t *n, struct bk_error *err)
{
	const struct s3_config *config = &c->session->store->config;
	size_t got = 0;
	bk_status st;

	s3_link_enter(&c->session->link);
	for (;;) {
		while (got < cap && c->next < c->page.count) {
			keys[got] = s3_key_own(config, s3_listing_key(&c->page, c->next));
			sizes_bytes[got] = c->page.items[c->next++].size_bytes;
			got += keys[got].len != 0;
		}
		if (got) {
			*n = got;
			return BK_OK;
		}
		if (c->page.begun && !c->page.more)
			return BK_END;
		st = bin_list_page(c, err);
		if (st != BK_OK)
			return st;
	}
}

static void bin_list_close(struct bk_cursor *c)
{
	c->open = false;
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
