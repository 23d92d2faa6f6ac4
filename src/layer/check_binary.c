/*
 * check_binary.c - binary operations, checked.
 *
 * The one invariant: bytes are counted on both ways, so that a size which does not fit them shows.
 */
#include "layer/check.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

/* A caller's info of this version, with something behind it that must stay as it is. */
struct guarded_info {
	struct bk_binary_info info;
	uint64_t beyond;
};

#define BEYOND UINT64_C(0x5a5a5a5a5a5a5a5a)

static void info_arm(struct guarded_info *g)
{
	g->info.struct_size = sizeof(g->info);
	g->info.reserved = 0;
	g->info.size_bytes = BK_SIZE_UNKNOWN;
	g->beyond = BEYOND;
}

static bk_status info_check(bk_status st, bk_status raw, const struct guarded_info *g,
			    const char *op, struct bk_error *err)
{
	if (bk_check_found(st, raw))
		return st;
	if (g->beyond != BEYOND)
		return bk_check_breach(err, op, "it writes beyond info->struct_size");
	if (st && g->info.size_bytes != BK_SIZE_UNKNOWN)
		return bk_check_breach(err, op, "it answers %d and has written info", st);
	if (!st && g->info.size_bytes == BK_SIZE_UNKNOWN)
		return bk_check_breach(err, op, "it answers OK without info->size_bytes");
	return st;
}

/* ---- Writing ----------------------------------------------------------- */

static bk_status check_binary_write_open(struct bk_writer **out, struct bk_session *s,
					 struct bk_slice key, uint64_t size_bytes, uint32_t mode,
					 struct bk_error *err)
{
	static const char op[] = "binary.write_open";
	const struct bk_pass_session *p = &s->pass;
	struct bk_writer *w, *inner = BK_CHECK_UNWRITTEN;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err), raw;

	bk_check_slice(op, "key", key);
	if (s->writers && s->writers->open)
		bk_check_die(op, "the session has a writer open; it may have one at a time");
	w = calloc(1, sizeof(*w));
	if (!w)
		bk_check_die(op, "out of memory");
	w->session = s;
	w->next = s->writers;
	s->writers = w;
	if (st)
		return st;
	bk_check_error_arm(&armed);
	raw = p->next->binary.write_open(&inner, p->s, key, size_bytes, mode, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	st = bk_check_handle(st, raw, inner, op, err);
	if (st)
		return st;
	w->inner = inner;
	w->declared_bytes = size_bytes;
	w->open = true;
	*out = w;
	return BK_OK;
}

static void writer_check(const struct bk_writer *w, const char *op)
{
	bk_check_thread(w->session, op);
	if (!w->open)
		bk_check_die(op, "called on a writer that is finished or aborted");
}

static bk_status check_binary_write(struct bk_writer *w, const void *data, size_t len,
				    struct bk_error *err)
{
	static const char op[] = "binary.write";
	struct bk_error armed;
	bk_status st;

	writer_check(w, op);
	bk_check_slice(op, "data", bk_slice_of(data, len));
	st = bk_check_enter_handle(w->session, op, err);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	st = bk_check_answer(w->session->pass.next->binary.write(w->inner, data, len, &armed),
			     &armed, false, op, err);
	if (!st)
		w->written_bytes += len;
	return st;
}

static bk_status check_binary_finish(struct bk_writer *w, struct bk_binary_info *info,
				     struct bk_error *err)
{
	static const char op[] = "binary.finish";
	struct guarded_info g;
	struct bk_error armed;
	bk_status st, raw;

	writer_check(w, op);
	st = bk_check_enter_handle(w->session, op, err);
	info_arm(&g);
	bk_check_error_arm(&armed);
	w->open = false;
	if (st) {
		w->session->pass.next->binary.abort(w->inner);
		return st;
	}
	raw = w->session->pass.next->binary.finish(w->inner, &g.info, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	st = info_check(st, raw, &g, op, err);
	if (st)
		return st;
	if (w->declared_bytes != BK_SIZE_UNKNOWN && w->declared_bytes != w->written_bytes)
		return bk_check_breach(err, op,
				       "it answers OK though %llu bytes were declared and %llu "
				       "written",
				       (unsigned long long)w->declared_bytes,
				       (unsigned long long)w->written_bytes);
	if (g.info.size_bytes != w->written_bytes)
		return bk_check_breach(err, op, "info->size_bytes is %llu, and %llu were written",
				       (unsigned long long)g.info.size_bytes,
				       (unsigned long long)w->written_bytes);
	info->size_bytes = g.info.size_bytes;
	return BK_OK;
}

static void check_binary_abort(struct bk_writer *w)
{
	writer_check(w, "binary.abort");
	w->open = false;
	w->session->pass.next->binary.abort(w->inner);
}

/* ---- Reading ----------------------------------------------------------- */

static bk_status check_binary_read_open(struct bk_reader **out, struct bk_session *s,
					struct bk_slice key, uint64_t offset, uint64_t len,
					struct bk_binary_info *info, struct bk_error *err)
{
	static const char op[] = "binary.read_open";
	const struct bk_pass_session *p = &s->pass;
	struct bk_reader *r, *inner = BK_CHECK_UNWRITTEN;
	struct guarded_info g;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err), raw;

	bk_check_slice(op, "key", key);
	if (s->readers && s->readers->open)
		bk_check_die(op, "the session has a reader open; it may have one at a time");
	r = calloc(1, sizeof(*r));
	if (!r)
		bk_check_die(op, "out of memory");
	r->session = s;
	r->next = s->readers;
	s->readers = r;
	if (st)
		return st;
	info_arm(&g);
	bk_check_error_arm(&armed);
	raw = p->next->binary.read_open(&inner, p->s, key, offset, len, &g.info, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	st = bk_check_handle(st, raw, inner, op, err);
	st = info_check(st, raw, &g, op, err);
	if (st)
		return st;
	r->inner = inner;
	r->open = true;
	if (offset > g.info.size_bytes) {
		p->next->binary.read_close(inner);
		r->open = false;
		return bk_check_breach(err, op, "it answers OK for an offset beyond the end");
	}
	r->left_bytes = g.info.size_bytes - offset;
	if (len < r->left_bytes)
		r->left_bytes = len;
	info->size_bytes = g.info.size_bytes;
	*out = r;
	return BK_OK;
}

static void reader_check(const struct bk_reader *r, const char *op)
{
	bk_check_thread(r->session, op);
	if (!r->open)
		bk_check_die(op, "called on a reader that is closed");
}

static bk_status check_binary_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
				   struct bk_error *err)
{
	static const char op[] = "binary.read";
	size_t got = SIZE_MAX;
	struct bk_error armed;
	bk_status st;

	reader_check(r, op);
	if (!cap || !buf)
		bk_check_die(op, "room for no bytes");
	st = bk_check_enter_handle(r->session, op, err);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	st = bk_check_answer(r->session->pass.next->binary.read(r->inner, buf, cap, &got, &armed),
			     &armed, true, op, err);
	if (st == BK_END && r->left_bytes)
		return bk_check_breach(err, op, "it ends %llu bytes before the end",
				       (unsigned long long)r->left_bytes);
	if (st)
		return st;
	if (got < 1 || got > cap)
		return bk_check_breach(err, op, "it answers OK with n = %zu of %zu", got, cap);
	if (got > r->left_bytes)
		return bk_check_breach(err, op, "it gives more bytes than there are to read");
	r->left_bytes -= got;
	*n = got;
	return BK_OK;
}

static void check_binary_read_close(struct bk_reader *r)
{
	reader_check(r, "binary.read_close");
	r->open = false;
	r->session->pass.next->binary.read_close(r->inner);
}

/* ---- The rest ---------------------------------------------------------- */

static bk_status check_binary_stat(struct bk_session *s, struct bk_slice key,
				   struct bk_binary_info *info, struct bk_error *err)
{
	static const char op[] = "binary.stat";
	const struct bk_pass_session *p = &s->pass;
	struct guarded_info g;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err), raw;

	bk_check_slice(op, "key", key);
	if (st)
		return st;
	info_arm(&g);
	bk_check_error_arm(&armed);
	raw = p->next->binary.stat(p->s, key, &g.info, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	st = info_check(st, raw, &g, op, err);
	if (!st)
		info->size_bytes = g.info.size_bytes;
	return st;
}

static bk_status check_binary_remove(struct bk_session *s, struct bk_slice key,
				     struct bk_error *err)
{
	static const char op[] = "binary.remove";
	const struct bk_pass_session *p = &s->pass;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err);

	bk_check_slice(op, "key", key);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	return bk_check_answer(p->next->binary.remove(p->s, key, &armed), &armed, false, op, err);
}

static bk_status check_binary_list_open(struct bk_cursor **out, struct bk_session *s,
					struct bk_error *err)
{
	static const char op[] = "binary.list_open";
	const struct bk_pass_session *p = &s->pass;
	struct bk_cursor *c, *inner = BK_CHECK_UNWRITTEN;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err), raw;

	c = bk_check_cursor_new(s, op);
	c->is_list = true;
	if (st)
		return st;
	bk_check_error_arm(&armed);
	raw = p->next->binary.list_open(&inner, p->s, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	st = bk_check_handle(st, raw, inner, op, err);
	if (st)
		return st;
	c->inner = inner;
	c->open = true;
	*out = c;
	return BK_OK;
}

static bk_status check_binary_list_next(struct bk_cursor *c, struct bk_slice *keys,
					uint64_t *sizes_bytes, size_t cap, size_t *n,
					struct bk_error *err)
{
	static const char op[] = "binary.list_next";
	const struct bk_tables *next = c->session->pass.next;
	bk_status st = bk_check_cursor_enter(c, true, cap, op, err);
	size_t got = SIZE_MAX, i;
	struct bk_error armed;

	if (st)
		return st;
	bk_check_error_arm(&armed);
	st = bk_check_answer(next->binary.list_next(c->inner, keys, sizes_bytes, cap, &got, &armed),
			     &armed, true, op, err);
	if (st)
		return st;
	if (got < 1 || got > cap)
		return bk_check_breach(err, op, "it answers OK with n = %zu of %zu", got, cap);
	for (i = 0; i < got; i++) {
		if (!keys[i].len || !bk_check_keep(&keys[i], &c->views))
			return bk_check_breach(err, op, "a key is empty or NULL");
	}
	*n = got;
	return BK_OK;
}

static void check_binary_list_close(struct bk_cursor *c)
{
	bk_check_cursor_end(c, true, "binary.list_close");
	c->session->pass.next->binary.list_close(c->inner);
}

const struct bk_binary_ops bk_check_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = check_binary_write_open,
	.write = check_binary_write,
	.finish = check_binary_finish,
	.abort = check_binary_abort,
	.read_open = check_binary_read_open,
	.read = check_binary_read,
	.read_close = check_binary_read_close,
	.stat = check_binary_stat,
	.remove = check_binary_remove,
	.list_open = check_binary_list_open,
	.list_next = check_binary_list_next,
	.list_close = check_binary_list_close,
};
