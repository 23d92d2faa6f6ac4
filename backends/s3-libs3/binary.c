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
	*out = &s->cursor;
	return s3_cursor_open(&s->cursor.list, L3_NAME, err);
}

static bk_status bin_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			       size_t cap, size_t *n, struct bk_error *err)
{
	struct l3_hand hand = {&c->session->link, &c->session->call};
	const struct own_doors doors = l3_doors(&hand);

	l3_link_enter(hand.link);
	return s3_cursor_next(&c->list, &doors, L3_PAGE, keys, sizes_bytes, cap, n, err);
}

static void bin_list_close(struct bk_cursor *c)
{
	c->list.open = false;
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
