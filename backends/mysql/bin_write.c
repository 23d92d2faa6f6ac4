/*
 * bin_write.c - binaries on their way in.
 *
 * Chunks stand under a number that nobody knows until the row of `binary` names it.  Outside a
 * transaction up to HOLD_BYTES wait in memory and go in with that row, in one transaction; of a
 * larger binary the chunks are committed as they come, with a row in `upload` and a lock of that
 * name held by this connection: rows whose lock is free were left by a session that is gone, and
 * are swept by make().
 *
 * The one invariant: other calls of the session may come between any two calls here, so that no
 * transaction of ours is open when one of these functions returns.
 */
#include "session.h"

#include <stdlib.h>

#define HOLD_BYTES (4u << 20)
#define GROUP      4u /* chunks in one statement */

struct bk_writer {
	struct bk_session *s;
	char *key;
	size_t key_len;
	uint64_t declared, written, n;
	uint64_t seq;      /* of the next chunk */
	struct my_buf buf; /* not sent yet; begins at a chunk's beginning */
	size_t hold;
	uint32_t mode;
	bool numbered, uploading;
};

static void writer_free(struct bk_writer *w)
{
	w->s->writer = NULL;
	my_buf_free(&w->buf);
	free(w->key);
	free(w);
}

static bk_status write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			    uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	bk_status st = my_check_text(key, "key", MY_KEY_MAX, err);
	struct bk_writer *w;

	if (!st && mode != BK_PUT_CREATE && mode != BK_PUT_UPSERT)
		st = bk_fail(err, BK_INVALID, 0, "mysql: write: mode must be create or upsert");
	if (!st && s->writer)
		st = bk_fail(err, BK_STATE, 0, "mysql: write: the session has a writer open");
	if (!st && size_bytes != BK_SIZE_UNKNOWN && size_bytes > s->store->chunk << 32)
		st = bk_fail(err, BK_TOO_LARGE, 0, "mysql: write: a binary of %llu bytes",
			     (unsigned long long)size_bytes);
	if (!st)
		st = my_enter(s, MY_WRITES | MY_HANDLE, err);
	if (st)
		return st;
	my_leave(s);
	w = calloc(1, sizeof(*w));
	if (!w)
		return my_nomem(err);
	w->s = s;
	w->declared = size_bytes;
	w->mode = mode;
	w->hold = s->txn == MY_TXN_OPEN ? s->store->chunk * GROUP : HOLD_BYTES;
	w->key = malloc(key.len);
	if (!w->key || !my_buf_reserve(&w->buf, size_bytes < w->hold ? (size_t)size_bytes : 1)) {
		writer_free(w);
		return my_nomem(err);
	}
	memcpy(w->key, key.data, key.len);
	w->key_len = key.len;
	*out = s->writer = w;
	return BK_OK;
}

/* ---- Chunks --------------------------------------------------------------------- */

static bk_status send_group(struct bk_writer *w, const char *data, size_t chunks, size_t len,
			    struct bk_error *err)
{
	size_t size = w->s->store->chunk, i;
	MYSQL_BIND b[3 * GROUP];
	uint64_t seq[GROUP];
	bk_status st;

	for (i = 0; i < chunks; i++) {
		size_t from = i * size, left = len - from;

		seq[i] = w->seq + i;
		my_bind_num(&b[3 * i], &w->n);
		my_bind_num(&b[3 * i + 1], &seq[i]);
		my_bind_bytes(&b[3 * i + 2], bk_slice_of(data + from, left < size ? left : size));
	}
	st = my_do(w->s, chunks == GROUP ? MY_SQL_CHUNK_4 : MY_SQL_CHUNK_1, b, NULL,
		   "writing a binary", err);
	if (!st)
		w->seq += chunks;
	return st;
}

/* What waits, whole chunks only unless it is the end. */
static bk_status send_chunks(struct bk_writer *w, bool end, struct bk_error *err)
{
	size_t size = w->s->store->chunk, at = 0;
	bk_status st = BK_OK;

	if (!w->numbered)
		st = my_number(&w->n, w->s, err);
	w->numbered = w->numbered || !st;
	while (!st && at < w->buf.len) {
		size_t left = w->buf.len - at, chunks, len;

		if (left < size && !end)
			break;
		chunks = left > size * (GROUP - 1) && (end || left >= size * GROUP) ? GROUP : 1;
		len = left < size * chunks ? left : size * chunks;
		st = send_group(w, w->buf.data + at, chunks, len, err);
		at += len;
	}
	if (st)
		return st;
	if (at) /* else there may be no buffer at all */
		memmove(w->buf.data, w->buf.data + at, w->buf.len - at);
	w->buf.len -= at;
	return BK_OK;
}

static void lock_name(char *out, size_t cap, const struct bk_store *store, uint64_t n)
{
	snprintf(out, cap, "bakeoff_%s%llu", store->prefix, (unsigned long long)n);
}

static bk_status lock_upload(struct bk_writer *w, const char *verb, struct bk_error *err)
{
	char name[80], text[128];

	lock_name(name, sizeof(name), w->s->store, w->n);
	snprintf(text, sizeof(text), "DO %s_LOCK('%s'%s)", verb, name, verb[0] == 'G' ? ",0" : "");
	return my_query(w->s, text, "writing a binary", err);
}

static bk_status begin_upload(struct bk_writer *w, struct bk_error *err)
{
	MYSQL_BIND b;
	bk_status st = my_number(&w->n, w->s, err);

	if (st)
		return st;
	w->numbered = true;
	st = lock_upload(w, "GET", err);
	if (st)
		return st;
	my_bind_num(&b, &w->n);
	st = my_do(w->s, MY_SQL_UPLOAD_INSERT, &b, NULL, "writing a binary", err);
	w->uploading = !st;
	return st;
}

static bk_status spill(struct bk_writer *w, struct bk_error *err)
{
	bk_status st = BK_OK;

	if (w->s->txn == MY_TXN_OPEN)
		return send_chunks(w, false, err);
	if (!w->uploading)
		st = begin_upload(w, err);
	if (!st)
		st = my_unit_begin(w->s, false, err);
	if (!st)
		st = my_unit_end(w->s, send_chunks(w, false, err), err);
	return st;
}

static bk_status binary_write(struct bk_writer *w, const void *data, size_t len,
			      struct bk_error *err)
{
	const char *p = data;
	bk_status st = BK_OK;

	if (w->declared != BK_SIZE_UNKNOWN && len > w->declared - w->written)
		return bk_fail(err, BK_INVALID, 0,
			       "mysql: write: more than the %llu bytes that were declared",
			       (unsigned long long)w->declared);
	w->written += len;
	while (len > 0 && !st) {
		size_t take = w->hold - w->buf.len < len ? w->hold - w->buf.len : len;

		if (!my_buf_add(&w->buf, p, take))
			return my_nomem(err);
		p += take;
		len -= take;
		if (w->buf.len < w->hold || (len == 0 && w->written == w->declared))
			continue;
		st = my_enter(w->s, MY_WRITES | MY_HANDLE, err);
		if (st)
			break;
		st = spill(w, err);
		my_leave(w->s);
	}
	return st;
}

/* ---- The end -------------------------------------------------------------------- */

static bk_status old_number(uint64_t *out, struct bk_writer *w, struct bk_error *err)
{
	MYSQL_BIND b;
	bk_status st;

	my_bind_bytes(&b, bk_slice_of(w->key, w->key_len));
	st = my_one(w->s, MY_SQL_BIN_LOCK, &b, "n", "writing a binary", err);
	if (st == BK_END) {
		*out = 0;
		return BK_OK;
	}
	if (!st)
		*out = w->s->col[0].num;
	return st;
}

static bk_status insert_row(struct bk_writer *w, enum my_sql how, struct bk_error *err)
{
	uint64_t chunk = w->s->store->chunk;
	MYSQL_BIND b[4];

	my_bind_bytes(&b[0], bk_slice_of(w->key, w->key_len));
	my_bind_num(&b[1], &w->n);
	my_bind_num(&b[2], &w->written);
	my_bind_num(&b[3], &chunk);
	return my_do(w->s, how, b, NULL, "writing a binary", err);
}

static bk_status delete_chunks(struct bk_session *s, uint64_t n, struct bk_error *err)
{
	MYSQL_BIND b;

	my_bind_num(&b, &n);
	return my_do(s, MY_SQL_CHUNKS_DELETE, &b, NULL, "writing a binary", err);
}

/* The row that makes the binary visible; the chunks of the one before it go. */
static bk_status name_binary(struct bk_writer *w, struct bk_error *err)
{
	struct bk_error taken = bk_error_init();
	uint64_t old = 0;
	bk_status st = BK_OK;

	if (w->mode == BK_PUT_UPSERT)
		st = old_number(&old, w, err);
	if (!st && !old) {
		st = insert_row(w, MY_SQL_BIN_INSERT, &taken);
		if (st && (st != BK_EXISTS || w->mode == BK_PUT_CREATE))
			*err = taken;
		if (st != BK_EXISTS || w->mode == BK_PUT_CREATE)
			return st;
		st = old_number(&old, w, err); /* somebody was quicker */
	}
	if (!st)
		st = insert_row(w, MY_SQL_BIN_REPLACE, err);
	return st || !old ? st : delete_chunks(w->s, old, err);
}

static bk_status end_upload(struct bk_writer *w, struct bk_error *err)
{
	MYSQL_BIND b;

	if (!w->uploading)
		return BK_OK;
	my_bind_num(&b, &w->n);
	return my_do(w->s, MY_SQL_UPLOAD_DELETE, &b, NULL, "writing a binary", err);
}

/* Takes back what is on the server already.  What this cannot do the sweep will. */
static void take_back(struct bk_writer *w)
{
	struct bk_session *s = w->s;
	struct bk_error ignored = bk_error_init();
	bk_status st;

	if (!w->numbered || s->dead || s->txn == MY_TXN_ENDED)
		return;
	if (s->txn == MY_TXN_OPEN) {
		delete_chunks(s, w->n, &ignored);
	} else if (w->uploading) {
		st = my_unit_begin(s, false, &ignored);
		if (st)
			return;
		st = delete_chunks(s, w->n, &ignored);
		if (!st)
			st = end_upload(w, &ignored);
		my_unit_end(s, st, &ignored);
		lock_upload(w, "RELEASE", &ignored);
	}
}

static bk_status finish_now(struct bk_writer *w, struct bk_error *err)
{
	bk_status st = my_unit_begin(w->s, false, err);

	if (st)
		return st;
	st = send_chunks(w, true, err);
	if (!st)
		st = end_upload(w, err);
	if (!st)
		st = name_binary(w, err);
	if (st == BK_EXISTS)
		w->s->dirty =
			false; /* only chunks that take_back() removes: the transaction lives */
	return my_unit_end(w->s, st, err);
}

static bk_status binary_finish(struct bk_writer *w, struct bk_binary_info *info,
			       struct bk_error *err)
{
	struct bk_session *s = w->s;
	struct bk_error ignored = bk_error_init();
	bk_status st = my_enter(s, MY_WRITES | MY_HANDLE, err);

	if (st) {
		writer_free(w);
		return st;
	}
	if (w->declared != BK_SIZE_UNKNOWN && w->declared != w->written)
		st = bk_fail(err, BK_INVALID, 0,
			     "mysql: finish: %llu bytes were declared, %llu written",
			     (unsigned long long)w->declared, (unsigned long long)w->written);
	else
		st = finish_now(w, err);
	s->writes++;
	if (st)
		take_back(w);
	else if (w->uploading)
		lock_upload(w, "RELEASE", &ignored);
	if (!st)
		info->size_bytes = w->written;
	writer_free(w);
	my_leave(s);
	return st;
}

static void binary_abort(struct bk_writer *w)
{
	struct bk_error ignored = bk_error_init();
	struct bk_session *s;

	if (!w)
		return;
	s = w->s;
	if (w->numbered && !my_enter(s, MY_WRITES | MY_HANDLE, &ignored)) {
		take_back(w);
		my_leave(s);
	}
	writer_free(w);
}

static bk_status binary_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	bk_status st = my_check_text(key, "key", MY_KEY_MAX, err);
	uint64_t affected = 0;
	MYSQL_BIND b;

	if (!st)
		st = my_enter(s, MY_WRITES, err);
	if (st)
		return st;
	my_bind_bytes(&b, key);
	st = my_do(s, MY_SQL_BIN_DELETE, &b, &affected, "removing a binary", err);
	if (!st && affected == 0)
		st = bk_fail(err, BK_NOT_FOUND, 0, "mysql: remove: no such binary");
	s->writes++;
	my_leave(s);
	return st;
}

/* ---- What others left behind -------------------------------------------------------------------
 */

static bk_status sweep_one(struct bk_store *store, MYSQL *conn, uint64_t n, struct bk_error *err)
{
	bk_status st =
		my_run(store, conn, "sweeping", err, "DELETE FROM %t WHERE n=%u", "chunk", n);

	return st ? st
		  : my_run(store, conn, "sweeping", err, "DELETE FROM %t WHERE n=%u", "upload", n);
}

bk_status my_uploads_sweep(struct bk_store *store, MYSQL *conn, struct bk_error *err)
{
	char name[80];
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st;

	lock_name(name, sizeof(name), store, 0);
	name[strlen(name) - 1] = '\0';
	st = my_ask(&rows, store, conn, "sweeping", err,
		    "SELECT n FROM %t WHERE IS_FREE_LOCK(CONCAT(%s,n))", "upload", name);
	if (st)
		return st;
	while (!st && (row = mysql_fetch_row(rows)) != NULL)
		st = sweep_one(store, conn, strtoull(row[0], NULL, 10), err);
	mysql_free_result(rows);
	return st;
}

const struct bk_binary_ops my_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = write_open,
	.write = binary_write,
	.finish = binary_finish,
	.abort = binary_abort,
	.read_open = my_bin_read_open,
	.read = my_bin_read,
	.read_close = my_bin_read_close,
	.stat = my_bin_stat,
	.remove = binary_remove,
	.list_open = my_bin_list_open,
	.list_next = my_bin_list_next,
	.list_close = my_bin_list_close,
};
