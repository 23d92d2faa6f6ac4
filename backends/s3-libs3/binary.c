/*
 * binary.c - stat, remove, the listing; the table of the binary operations.
 *
 * The one invariant: each call sets its deadline first.
 */
#include "l3.h"

bk_status l3_head(struct bk_session *s, const char *what, const char *full_key,
		  struct bk_error *err)
{
	struct l3_call *c = &s->call;

	c->what = what;
	c->key = full_key;
	c->begin = l3_begin_head;
	return l3_call(c, err);
}

static bk_status bin_stat(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
			  struct bk_error *err)
{
	bk_status st = l3_key_full(&s->key, s->store, key, err);

	l3_link_enter(&s->link);
	if (st == BK_OK)
		st = l3_head(s, "stat", s->key.data, err);
	if (st == BK_OK)
		info->size_bytes = s->call.length;
	return st;
}

/* DELETE answers alike whether anything was there; the contract asks for NOT_FOUND, so HEAD comes
 * first. */
static bk_status bin_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	struct l3_call *c = &s->call;
	bk_status st = l3_key_full(&s->key, s->store, key, err);

	l3_link_enter(&s->link);
	if (st == BK_OK)
		st = l3_head(s, "remove", s->key.data, err);
	if (st != BK_OK)
		return st;
	c->begin = l3_begin_delete;
	c->changes = true;
	st = l3_call(c, err);
	c->changes = false;
	return st;
}

/* ---- Listing -------------------------------------------------------------- */

static bk_status bin_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err)
{
	struct bk_cursor *c = &s->cursor;

	if (c->open)
		return bk_fail(err, BK_STATE, 0, L3_NAME ": list: the session has a cursor open");
	c->open = true;
	c->begun = false;
	c->left = 0;
	*out = c;
	return BK_OK;
}

static bk_status bin_list_page(struct bk_cursor *c, struct bk_error *err)
{
	struct l3_call *p = &c->page;
	bk_status st;

	p->what = "list";
	p->begin = l3_begin_list;
	p->prefix = c->session->store->at.space;
	p->marker = c->begun ? c->marker.data : NULL;
	p->most = L3_PAGE;
	st = l3_call(p, err);
	if (st != BK_OK)
		return st;
	c->begun = true;
	c->left = p->listed;
	c->next = s3_buf_str(&p->text);
	return BK_OK;
}

/* The keys are decoded one behind the other; slices get their pointers when no more are put. */
static size_t bin_list_take(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			    size_t cap)
{
	size_t got = 0, at = 0, i;

	s3_buf_reset(&c->keys);
	while (got < cap && c->left) {
		size_t len = l3_key_own(&c->keys, c->session->store, c->next);

		keys[got].len = len;
		sizes_bytes[got] = c->page.sizes[c->page.listed - c->left];
		got += len != 0;
		s3_buf_reset(&c->marker);
		s3_buf_puts(&c->marker, c->next);
		c->next += strlen(c->next) + 1;
		c->left--;
	}
	for (i = 0; i < got; i++) {
		keys[i].data = c->keys.data + at;
		at += keys[i].len;
	}
	return got;
}

static bk_status bin_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			       size_t cap, size_t *n, struct bk_error *err)
{
	size_t got;
	bk_status st;

	l3_link_enter(&c->session->link);
	for (;;) {
		got = bin_list_take(c, keys, sizes_bytes, cap);
		if (c->keys.failed || c->marker.failed)
			return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
		if (got) {
			*n = got;
			return BK_OK;
		}
		if (c->begun && (!c->page.more || !c->page.listed))
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

const struct bk_binary_ops l3_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = l3_write_open,
	.write = l3_write,
	.finish = l3_finish,
	.abort = l3_abort,
	.read_open = l3_read_open,
	.read = l3_read,
	.read_close = l3_read_close,
	.stat = bin_stat,
	.remove = bin_remove,
	.list_open = bin_list_open,
	.list_next = bin_list_next,
	.list_close = bin_list_close,
};
