/*
 * bin_read.c - binaries on their way out: read, stat, list.
 *
 * A reader asks for a few chunks at a time and holds those only.  The first chunk comes with the
 * size, in one statement.
 *
 * The one invariant: r->buf holds the bytes from r->at on, and r->seq is the chunk behind them.
 */
#include "session.h"

#include <stdlib.h>

#define GROUP 4u /* chunks in one answer */

struct bk_reader {
	struct bk_session *s;
	uint64_t n, size, chunk;
	uint64_t at, end, seq;
	struct my_buf buf;
	size_t used; /* bytes of buf handed out */
};

static bk_status absent(struct bk_error *err, const char *what)
{
	return bk_fail(err, BK_NOT_FOUND, 0, "mysql: %s: no such binary", what);
}

/* The number of a chunk is known, and the chunk is not there. */
static bk_status vanished(struct bk_error *err)
{
	bk_fail(err, BK_CONFLICT, 0,
		"mysql: read: the binary was replaced or removed while it was read");
	err->flags = BK_ERR_RETRY;
	return BK_CONFLICT;
}

/* The chunk at hand, in column `c`, from byte `skip` on. */
static bk_status take_chunk(struct bk_reader *r, unsigned c, uint64_t skip, struct bk_error *err)
{
	struct bk_slice data = my_bytes(r->s, c);

	if (r->s->col[c].null)
		return vanished(err);
	if (skip > data.len)
		skip = data.len;
	if (!my_buf_add(&r->buf, (const char *)data.data + skip, data.len - (size_t)skip))
		return my_nomem(err);
	r->seq++;
	return BK_OK;
}

static bk_status read_first(struct bk_reader *r, struct bk_slice key, uint64_t offset, uint64_t len,
			    struct bk_error *err)
{
	MYSQL_BIND b[2];
	bk_status st;

	my_bind_num(&b[0], &offset);
	my_bind_bytes(&b[1], key);
	st = my_one(r->s, MY_SQL_BIN_FIRST, b, "nnnb", "read", err);
	if (st == BK_END)
		return absent(err, "read");
	if (st)
		return st;
	r->n = r->s->col[0].num;
	r->size = r->s->col[1].num;
	r->chunk = r->s->col[2].num;
	if (offset > r->size)
		return bk_fail(err, BK_INVALID, 0,
			       "mysql: read: offset %llu of a binary of %llu bytes",
			       (unsigned long long)offset, (unsigned long long)r->size);
	r->at = offset;
	r->end = len < r->size - offset ? offset + len : r->size;
	r->seq = offset / r->chunk;
	return r->at < r->end ? take_chunk(r, 3, offset % r->chunk, err) : BK_OK;
}

bk_status my_bin_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			   uint64_t offset, uint64_t len, struct bk_binary_info *info,
			   struct bk_error *err)
{
	bk_status st = my_check_text(key, "key", MY_KEY_MAX, err);
	struct bk_reader *r;

	if (!st && s->reader)
		st = bk_fail(err, BK_STATE, 0, "mysql: read: the session has a reader open");
	if (!st)
		st = my_enter(s, MY_READS, err);
	if (st)
		return st;
	r = calloc(1, sizeof(*r));
	if (r) {
		r->s = s;
		st = read_first(r, key, offset, len, err);
	} else {
		st = my_nomem(err);
	}
	my_leave(s);
	if (st) {
		if (r)
			my_buf_free(&r->buf);
		free(r);
		return st;
	}
	info->size_bytes = r->size;
	*out = s->reader = r;
	return BK_OK;
}

static bk_status read_more(struct bk_reader *r, struct bk_error *err)
{
	uint64_t last = (r->end - 1) / r->chunk + 1, to = r->seq + GROUP;
	MYSQL_STMT *stmt;
	MYSQL_BIND b[3];
	bk_status st;

	if (to > last)
		to = last;
	r->buf.len = r->used = 0;
	my_bind_num(&b[0], &r->n);
	my_bind_num(&b[1], &r->seq);
	my_bind_num(&b[2], &to);
	st = my_stmt(&stmt, r->s, MY_SQL_CHUNKS_READ, err);
	if (!st)
		st = my_exec(r->s, stmt, b, "read", err);
	if (!st)
		st = my_rows(r->s, stmt, "b", "read", err);
	while (!st && !(st = my_row(r->s, stmt, "b", "read", err))) {
		st = take_chunk(r, 0, 0, err);
		if (st)
			my_rows_end(stmt);
	}
	if (st == BK_END)
		st = r->buf.len ? BK_OK : vanished(err);
	return st;
}

bk_status my_bin_read(struct bk_reader *r, void *buf, size_t cap, size_t *n, struct bk_error *err)
{
	uint64_t left = r->end - r->at;
	size_t have;
	bk_status st;

	if (left == 0)
		return BK_END;
	if (r->used == r->buf.len) {
		uint64_t seq = r->seq;

		st = my_enter(r->s, MY_HANDLE, err);
		if (st)
			return st;
		st = read_more(r, err);
		if (st)
			r->seq = seq;
		my_leave(r->s);
		if (st)
			return st;
	}
	have = r->buf.len - r->used;
	if (have > cap)
		have = cap;
	if (have > left)
		have = (size_t)left;
	memcpy(buf, r->buf.data + r->used, have);
	r->used += have;
	r->at += have;
	*n = have;
	return BK_OK;
}

void my_bin_read_close(struct bk_reader *r)
{
	if (!r)
		return;
	r->s->reader = NULL;
	my_buf_free(&r->buf);
	free(r);
}

bk_status my_bin_stat(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
		      struct bk_error *err)
{
	bk_status st = my_check_text(key, "key", MY_KEY_MAX, err);
	MYSQL_BIND b;

	if (!st)
		st = my_enter(s, MY_READS, err);
	if (st)
		return st;
	my_bind_bytes(&b, key);
	st = my_one(s, MY_SQL_BIN_STAT, &b, "n", "stat", err);
	if (st == BK_END)
		st = absent(err, "stat");
	else if (!st)
		info->size_bytes = s->col[0].num;
	my_leave(s);
	return st;
}

/* ---- List: pages by key -----------------------------------------------------------------------
 */

#define PAGE 512u

struct my_list {
	struct bk_slice keys[PAGE]; /* in the session's cursor_views */
	uint64_t sizes[PAGE];
	size_t count, next;
	struct my_buf last;
	bool ended;
};

bk_status my_bin_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err)
{
	struct my_list *l;
	bk_status st;

	if (s->cursor.open)
		return bk_fail(err, BK_STATE, 0, "mysql: list: the session has a cursor open");
	st = my_enter(s, MY_READS, err);
	if (st)
		return st;
	my_leave(s);
	l = calloc(1, sizeof(*l));
	if (!l)
		return my_nomem(err);
	s->cursor.s = s;
	s->cursor.list = l;
	s->cursor.open = true;
	*out = &s->cursor;
	return BK_OK;
}

static bk_status list_page(struct my_list *l, struct bk_session *s, struct bk_error *err)
{
	MYSQL_STMT *stmt;
	MYSQL_BIND b;
	bk_status st;

	my_arena_reset(&s->cursor_views);
	l->count = l->next = 0;
	my_bind_bytes(&b, bk_slice_of(l->last.data, l->last.len));
	st = my_stmt(&stmt, s, MY_SQL_BIN_LIST, err);
	if (!st)
		st = my_exec(s, stmt, &b, "list", err);
	if (!st)
		st = my_rows(s, stmt, "bn", "list", err);
	while (!st && !(st = my_row(s, stmt, "bn", "list", err))) {
		if (l->count == PAGE ||
		    !my_copy(&s->cursor_views, &l->keys[l->count], my_bytes(s, 0))) {
			my_rows_end(stmt);
			return my_nomem(err);
		}
		l->sizes[l->count++] = s->col[1].num;
	}
	if (st != BK_END)
		return st;
	l->ended = l->count < PAGE;
	l->last.len = 0;
	if (l->count &&
	    !my_buf_add(&l->last, l->keys[l->count - 1].data, l->keys[l->count - 1].len))
		return my_nomem(err);
	return BK_OK;
}

bk_status my_bin_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			   size_t cap, size_t *n, struct bk_error *err)
{
	struct my_list *l = c->list;
	size_t left;
	bk_status st;

	if (l->next == l->count && !l->ended) {
		st = my_enter(c->s, MY_HANDLE, err);
		if (st)
			return st;
		st = list_page(l, c->s, err);
		my_leave(c->s);
		if (st)
			return st;
	}
	left = l->count - l->next;
	if (left == 0)
		return BK_END;
	if (left > cap)
		left = cap;
	memcpy(keys, l->keys + l->next, left * sizeof(*keys));
	memcpy(sizes_bytes, l->sizes + l->next, left * sizeof(*sizes_bytes));
	l->next += left;
	*n = left;
	return BK_OK;
}

void my_bin_list_close(struct bk_cursor *c)
{
	if (!c)
		return;
	my_buf_free(&c->list->last);
	free(c->list);
	c->list = NULL;
	c->open = false;
}
