/*
 * write.c - an object written: held as a whole, put at finish.
 *
 * libs3 2.0 wants the size before the first byte, knows no parts, and cannot wait for data: so it
 * all stands in memory, and the backend does not claim to stream.
 */
#include "l3.h"

#define WR_TRUSTED (UINT64_C(64) << 20) /* declared sizes up to this are reserved at once */

bk_status l3_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	struct bk_writer *w = &s->writer;
	bk_status st;

	st = s3_put_check(&s->store->site, w->open, mode, size_bytes, L3_BINARY_MAX, err);
	if (st != BK_OK)
		return st;
	if (mode == BK_PUT_CREATE)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       L3_NAME ": put: libs3 2.0 cannot create only what is absent");
	st = l3_key_full(&w->key, s->store, key, err);
	if (st != BK_OK)
		return st;
	w->declared_bytes = size_bytes;
	w->written_bytes = 0;
	w->hold.len = 0;
	w->open = true;
	*out = w;
	return BK_OK;
}

bk_status l3_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err)
{
	w->written_bytes += len;
	if (w->declared_bytes != BK_SIZE_UNKNOWN && w->written_bytes > w->declared_bytes)
		return BK_OK; /* finish() will say so; nothing of it is kept */
	if (w->written_bytes > L3_BINARY_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       L3_NAME ": put: without parts an object may have 5 GiB");
	if (!s3_hold_put(&w->hold, data, len, w->declared_bytes, WR_TRUSTED, L3_BINARY_MAX))
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": put: out of memory");
	return BK_OK;
}

bk_status l3_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_session *s = w->session;
	struct l3_call *c = &s->call;
	bk_status st;

	l3_link_enter(&s->link);
	w->open = false;
	st = s3_put_whole(&s->store->site, w->declared_bytes, w->written_bytes, err);
	if (st != BK_OK)
		return st;
	if (w->hold.len != w->written_bytes)
		return bk_fail(err, BK_INVALID, 0, L3_NAME ": finish: a write had failed");
	c->what = "put";
	c->key = w->key.data;
	c->begin = l3_begin_put;
	c->body = w->hold.data;
	c->body_len = w->hold.len;
	c->changes = true;
	st = l3_call(c, err);
	c->changes = false;
	if (st == BK_OK)
		info->size_bytes = w->written_bytes;
	return st;
}

void l3_abort(struct bk_writer *w)
{
	w->open = false;
}
