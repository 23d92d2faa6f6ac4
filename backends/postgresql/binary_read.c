/*
 * binary_read.c - binaries on their way out, and the table of binary operations.
 *
 * The invariant: a reader holds one page of rows and a position; nothing stays open on the server.
 * A binary that is replaced or removed while it is read ends the reader with CONFLICT: its rows
 * bear a number that is never used again, so two contents are never mixed.
 */
#include "binary.h"

#include <stdlib.h>

static bool rd_is_large(const struct bk_session *s)
{
	return s->store->options->binaries == PG_LARGE_OBJECT;
}

static bk_status rd_absent(const char *what, struct bk_slice key, struct bk_error *err)
{
	return bk_fail(err, BK_NOT_FOUND, 0, "%s: no binary '%.*s'", what, (int)key.len,
		       (const char *)key.data);
}

/* ---- reading ---------------------------------------------------------------------------- */

static void rd_drop_page(struct bk_reader *r)
{
	PQclear(r->page);
	r->page = NULL;
	r->row = r->rows = 0;
	r->row_at = 0;
}

static void rd_take_page(struct bk_reader *r, int field)
{
	struct pg_wire *w = &r->session->wire;
	int row;

	rd_drop_page(r);
	r->page = w->result;
	r->field = field;
	w->result = NULL;
	r->rows = PQntuples(r->page);
	for (row = 0; row < r->rows; row++)
		r->next += (uint64_t)PQgetlength(r->page, row, field);
	if (r->next > r->end)
		r->next = r->end;
}

bk_status pg_binary_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			      uint64_t offset, uint64_t len, struct bk_binary_info *info,
			      struct bk_error *err)
{
	struct bk_reader *r = &s->reader;
	struct pg_params p;
	uint64_t size;
	bk_status status = pg_check_text("key", key, pg_limits_of(s->store)->key, err);

	if (status < 0)
		return status;
	if (r->open)
		return bk_fail(err, BK_STATE, 0, "read: the session has a reader open");
	status = pg_begin_read(s, "read", err);
	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_bytes(&p, key);
	pg_params_int(&p, offset > INT64_MAX ? INT64_MAX : offset);
	pg_params_int(&p, len > INT64_MAX ? INT64_MAX : len);
	pg_send(&s->wire, rd_is_large(s) ? PG_LO_READ_FIRST : PG_BIN_READ_FIRST, &p, NULL,
		PG_NO_ITEM);
	status = pg_end(s, "read", false, err);
	if (status < 0)
		return status;
	if (PQntuples(s->wire.result) == 0)
		return rd_absent("read", key, err);
	size = pg_get_u64(PQgetvalue(s->wire.result, 0, 1));
	if (offset > size)
		return bk_fail(err, BK_INVALID, 0, "read: offset %llu of a binary of %llu bytes",
			       (unsigned long long)offset, (unsigned long long)size);
	r->id = pg_get_u64(PQgetvalue(s->wire.result, 0, 0));
	r->at = r->next = offset;
	r->end = len < size - offset ? offset + len : size;
	rd_take_page(r, 2);
	r->open = true;
	info->size_bytes = size;
	*out = r;
	return BK_OK;
}

static bk_status rd_fetch(struct bk_reader *r, struct bk_error *err)
{
	struct bk_session *s = r->session;
	uint64_t first = r->next / PG_CHUNK_BYTES, last = (r->end - 1) / PG_CHUNK_BYTES;
	uint64_t want = r->end - r->next;
	struct pg_params p;
	bk_status status = pg_begin_handle(s, "read", err);

	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_int(&p, r->id);
	if (rd_is_large(s)) {
		pg_params_int(&p, r->next);
		pg_params_int(&p, want < PG_READ_CHUNKS * PG_CHUNK_BYTES
					  ? want
					  : PG_READ_CHUNKS * PG_CHUNK_BYTES);
	} else {
		pg_params_int(&p, first);
		pg_params_int(&p,
			      last < first + PG_READ_CHUNKS ? last : first + PG_READ_CHUNKS - 1);
	}
	pg_send(&s->wire, rd_is_large(s) ? PG_LO_READ : PG_BIN_READ, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "read", false, err);
	if (status < 0)
		return status;
	first = r->next;
	rd_take_page(r, 0);
	if (r->next == first) {
		bk_fail(err, BK_CONFLICT, 0,
			"read: the binary was replaced or removed while it was read");
		err->flags |= BK_ERR_RETRY;
		return BK_CONFLICT;
	}
	return BK_OK;
}

bk_status pg_binary_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
			 struct bk_error *err)
{
	size_t len, taken = 0, part;
	bk_status status;

	if (r->at == r->end)
		return BK_END;
	if (r->at == r->next) {
		status = rd_fetch(r, err);
		if (status < 0)
			return status;
	}
	while (taken < cap && r->at < r->next) {
		len = (size_t)PQgetlength(r->page, r->row, r->field) - r->row_at;
		part = len < cap - taken ? len : cap - taken;
		if (part > r->end - r->at)
			part = (size_t)(r->end - r->at);
		memcpy((char *)buf + taken, PQgetvalue(r->page, r->row, r->field) + r->row_at,
		       part);
		taken += part;
		r->at += part;
		r->row_at += part;
		if (part == len) {
			r->row++;
			r->row_at = 0;
		}
	}
	*n = taken;
	return BK_OK;
}

void pg_binary_read_close(struct bk_reader *r)
{
	rd_drop_page(r);
	r->open = false;
}

/* ---- stat, remove, list
 * ------------------------------------------------------------------------------ */

static bk_status bin_stat(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
			  struct bk_error *err)
{
	struct pg_params p;
	bk_status status = pg_check_text("key", key, pg_limits_of(s->store)->key, err);

	if (status == BK_OK)
		status = pg_begin_read(s, "stat", err);
	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_bytes(&p, key);
	pg_send(&s->wire, PG_BIN_STAT, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "stat", false, err);
	if (status < 0)
		return status;
	if (PQntuples(s->wire.result) == 0)
		return rd_absent("stat", key, err);
	info->size_bytes = pg_get_u64(PQgetvalue(s->wire.result, 0, 0));
	return BK_OK;
}

static void bin_take_removed(struct pg_wire *w, PGresult *res, uint64_t item)
{
	w->session->seen.changed = pg_rows(res);
}

static bk_status bin_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	struct pg_params p;
	bk_status status = pg_check_text("key", key, pg_limits_of(s->store)->key, err);

	if (status == BK_OK)
		status = pg_begin_write(s, "remove", err);
	if (status == BK_OK && s->txn == PG_TXN_DEFER)
		status = pg_txn_flush(s, err);
	if (status < 0)
		return status;
	s->seen.changed = 0;
	pg_params_init(&p);
	pg_params_bytes(&p, key);
	pg_send(&s->wire, PG_BIN_LOCK, &p, pg_take_nothing, pg_item(s));
	pg_send(&s->wire, rd_is_large(s) ? PG_LO_REMOVE : PG_BIN_REMOVE, &p, bin_take_removed,
		pg_item(s));
	s->writes++;
	status = pg_end(s, "remove", true, err);
	if (status == BK_OK && s->seen.changed == 0)
		status = rd_absent("remove", key, err);
	return status;
}

bk_status pg_list_page(struct bk_cursor *c, struct bk_error *err)
{
	struct bk_session *s = c->session;
	struct pg_params p;
	bk_status status;

	pg_params_init(&p);
	pg_params_bytes(&p, c->page ? bk_slice_of(PQgetvalue(c->page, c->rows - 1, 0),
						  (size_t)PQgetlength(c->page, c->rows - 1, 0))
				    : bk_slice_of("", 0));
	pg_send(&s->wire, PG_BIN_LIST, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "list", false, err);
	if (status < 0)
		return status;
	pg_cursor_drop_page(c);
	c->page = s->wire.result;
	s->wire.result = NULL;
	c->rows = PQntuples(c->page);
	c->last = c->rows < PG_PAGE;
	return BK_OK;
}

static bk_status bin_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err)
{
	struct bk_cursor *c = &s->cursor;
	bk_status status;

	if (c->open)
		return bk_fail(err, BK_STATE, 0, "list: the session has a cursor open");
	status = pg_begin_read(s, "list", err);
	if (status < 0)
		return status;
	pg_cursor_drop_page(c);
	c->kind = PG_CURSOR_LIST;
	status = pg_list_page(c, err);
	if (status < 0)
		return status;
	c->open = true;
	*out = c;
	return BK_OK;
}

static bk_status bin_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			       size_t cap, size_t *n, struct bk_error *err)
{
	size_t taken = 0;
	bk_status status;

	if (c->row == c->rows && !c->last) {
		status = pg_begin_handle(c->session, "list", err);
		if (status == BK_OK)
			status = pg_list_page(c, err);
		if (status < 0)
			return status;
	}
	if (c->row == c->rows)
		return BK_END;
	for (; taken < cap && c->row < c->rows; taken++, c->row++) {
		keys[taken] = bk_slice_of(PQgetvalue(c->page, c->row, 0),
					  (size_t)PQgetlength(c->page, c->row, 0));
		sizes_bytes[taken] = pg_get_u64(PQgetvalue(c->page, c->row, 1));
	}
	*n = taken;
	return BK_OK;
}

static void bin_list_close(struct bk_cursor *c)
{
	pg_cursor_drop_page(c);
	c->open = false;
}

const struct bk_binary_ops pg_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = pg_binary_write_open,
	.write = pg_binary_write,
	.finish = pg_binary_finish,
	.abort = pg_binary_abort,
	.read_open = pg_binary_read_open,
	.read = pg_binary_read,
	.read_close = pg_binary_read_close,
	.stat = bin_stat,
	.remove = bin_remove,
	.list_open = bin_list_open,
	.list_next = bin_list_next,
	.list_close = bin_list_close,
};
