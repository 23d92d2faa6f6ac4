/*
 * page.c - see page.h: pages and the cursor over them.
 */
#include "own.h"

void s3_page_start(struct s3_page *page)
{
	page->count = 0;
	page->begun = page->more = false;
}

void s3_page_empty(struct s3_page *page)
{
	s3_buf_reset(&page->text);
	page->count = 0;
	page->more = page->failed = false;
}

void s3_page_add(struct s3_page *page, const struct s3_item *item)
{
	size_t cap = page->cap ? page->cap * 2 : 64;
	struct s3_item *more;

	if (page->count == page->cap) {
		more = realloc(page->items, cap * sizeof(*more));
		if (!more) {
			page->failed = true;
			return;
		}
		page->items = more;
		page->cap = cap;
	}
	page->items[page->count++] = *item;
}

void s3_page_put(struct s3_page *page, const char *key, uint64_t size_bytes)
{
	struct s3_item item = {
		.key = page->text.len, .key_len = strlen(key), .size_bytes = size_bytes};

	s3_buf_puts(&page->text, key);
	s3_page_add(page, &item);
}

bool s3_page_failed(const struct s3_page *page)
{
	return page->failed || page->text.failed || page->next.failed;
}

void s3_page_free(struct s3_page *page)
{
	free(page->items);
	s3_buf_free(&page->text);
	s3_buf_free(&page->next);
	memset(page, 0, sizeof(*page));
}

/* ---- The cursor -------------------------------------------------------------------------- */

bk_status s3_cursor_open(struct s3_cursor *c, const char *backend, struct bk_error *err)
{
	if (c->open)
		return bk_fail(err, BK_STATE, 0, "%s: list: the session has a cursor open",
			       backend);
	s3_page_start(&c->page);
	c->at = 0;
	c->open = true;
	return BK_OK;
}

/* The keys are put one behind the other; slices get their pointers when no more are put. */
static size_t page_take(struct s3_cursor *c, const struct own_doors *d, struct bk_slice *keys,
			uint64_t *sizes_bytes, size_t cap)
{
	size_t got = 0, at = 0, i;

	s3_buf_reset(&c->keys);
	while (got < cap && c->at < c->page.count) {
		keys[got].len = d->own_key(&c->keys, d->site, s3_page_key(&c->page, c->at));
		sizes_bytes[got] = c->page.items[c->at++].size_bytes;
		got += keys[got].len != 0;
	}
	for (i = 0; i < got; i++) {
		keys[i].data = c->keys.data + at;
		at += keys[i].len;
	}
	return got;
}

bk_status s3_cursor_next(struct s3_cursor *c, const struct own_doors *d, unsigned most,
			 struct bk_slice *keys, uint64_t *sizes_bytes, size_t cap, size_t *n,
			 struct bk_error *err)
{
	bk_status st;
	size_t got;

	for (;;) {
		got = page_take(c, d, keys, sizes_bytes, cap);
		if (c->keys.failed)
			return s3_no_memory(d->site, err);
		if (got) {
			*n = got;
			return BK_OK;
		}
		if (c->page.begun && !c->page.more)
			return BK_END;
		c->at = 0;
		st = d->page(d->ctx, &c->page, d->site->at.bucket, d->site->at.space, most, err);
		if (st != BK_OK)
			return st;
	}
}

void s3_cursor_free(struct s3_cursor *c)
{
	s3_page_free(&c->page);
	s3_buf_free(&c->keys);
}
