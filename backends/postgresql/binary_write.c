/*
 * binary_write.c - binaries on their way in, a row (or a piece of a large object) at a time.
 *
 * The invariant: rows become a binary only by the last statement, which enters the key; until then
 * nobody can see them.  So the writer's own transaction may be cut short whenever the session needs
 * the connection for something else: what was sent is committed, unseen, and aborting removes it.
 */
#include "binary.h"

#include <stdlib.h>

static bool wr_is_large(const struct bk_session *s)
{
	return s->store->options->binaries == PG_LARGE_OBJECT;
}

void pg_writer_free(struct bk_writer *w)
{
	pg_buffer_free(&w->key);
	pg_buffer_free(&w->chunk);
}

static void wr_close(struct bk_writer *w)
{
	pg_buffer_reset(&w->key);
	pg_buffer_reset(&w->chunk);
	w->open = w->own_txn = w->left_rows = false;
}

/* Keep what the wire has to report: it is the writer's, whoever asks next.  In a deferred
 * transaction it may be another write's; there it waits for flush or commit. */
static void wr_keep_failure(struct bk_writer *w)
{
	struct pg_wire *wire = &w->session->wire;

	if (!wire->failed || w->session->txn == PG_TXN_DEFER)
		return;
	if (!w->failed)
		w->failure = wire->failure;
	w->failed = true;
	wire->failed = false;
}

static bk_status wr_failed(struct bk_writer *w, const char *what, struct bk_error *err)
{
	return pg_error_copy(err, &w->failure, what);
}

/* ---- the writer's own transaction ------------------------------------------------------- */

static void wr_enter_txn(struct bk_writer *w)
{
	struct bk_session *s = w->session;

	if (s->txn != PG_TXN_NONE || w->own_txn)
		return;
	pg_send(&s->wire, PG_BEGIN, NULL, pg_take_nothing, PG_NO_ITEM);
	w->own_txn = true;
}

void pg_writer_park(struct bk_writer *w)
{
	struct bk_session *s = w->session;
	struct pg_wire *wire = &s->wire;

	if (!w->own_txn && wire->due_count == 0)
		return;
	if (s->txn == PG_TXN_DEFER) /* its writes answer for themselves; rows are sent outside */
		return;
	if (w->own_txn) { /* nothing that anybody waits for: no flush */
		pg_send(wire, PG_BEGIN_ASYNC, NULL, pg_take_nothing, PG_NO_ITEM);
		pg_send(wire, PG_COMMIT, NULL, pg_take_nothing, PG_NO_ITEM);
	}
	pg_wire_settle(wire);
	wr_keep_failure(w);
	if (w->own_txn && w->failed && !wire->dead) {
		pg_send(wire, PG_ROLLBACK, NULL, pg_take_nothing, PG_NO_ITEM);
		pg_wire_settle(wire);
		wire->failed = false;
	}
	w->left_rows = w->left_rows || (w->own_txn && !w->failed);
	if (!w->own_txn && w->failed && s->txn == PG_TXN_OPEN) {
		s->txn_error = w->failure;
		s->txn = PG_TXN_FAILED;
	}
	w->own_txn = false;
}

void pg_writer_disown(struct bk_writer *w)
{
	if (!w->failed)
		bk_fail(&w->failure, BK_STATE, 0, "the transaction around it has ended");
	w->failed = true;
	w->seq = 0;
}

/* ---- rows
 * ------------------------------------------------------------------------------------------ */

static bk_status wr_draw_id(struct bk_session *s, struct bk_error *err)
{
	bk_status status;

	if (s->binary_id < s->binary_id_end)
		return BK_OK;
	pg_send(&s->wire, PG_BIN_IDS, NULL, NULL, PG_NO_ITEM);
	status = pg_end(s, "write", false, err);
	if (status < 0)
		return status;
	s->binary_id = pg_get_u64(PQgetvalue(s->wire.result, 0, 0));
	s->binary_id_end = s->binary_id + PG_BINARY_IDS;
	return BK_OK;
}

/* The first piece of a large object makes it; its number is needed for the next. */
static void wr_send_large(struct bk_writer *w, struct bk_slice data)
{
	struct pg_wire *wire = &w->session->wire;
	struct pg_params p;

	pg_params_init(&p);
	if (w->seq == 0) {
		pg_params_bytes(&p, data);
		pg_send(wire, PG_LO_NEW, &p, NULL, pg_item(w->session));
		pg_wire_settle(wire);
		if (!wire->failed)
			w->id = pg_get_u64(PQgetvalue(wire->result, 0, 0));
		return;
	}
	pg_params_int(&p, w->id);
	pg_params_int(&p, w->sent_bytes);
	pg_params_bytes(&p, data);
	pg_send(wire, PG_LO_PUT, &p, pg_take_nothing, pg_item(w->session));
}

static void wr_send_chunk(struct bk_writer *w, struct bk_slice data)
{
	struct bk_session *s = w->session;
	struct pg_params p;

	wr_enter_txn(w);
	if (wr_is_large(s)) {
		wr_send_large(w, data);
	} else {
		pg_params_init(&p);
		pg_params_int(&p, w->id);
		pg_params_int(&p, w->seq);
		pg_params_bytes(&p, data);
		pg_send(&s->wire, PG_BIN_CHUNK, &p, pg_take_nothing, pg_item(s));
	}
	w->seq++;
	w->sent_bytes += data.len;
	wr_keep_failure(w);
}

bk_status pg_binary_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			       uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	const struct pg_limits *max = pg_limits_of(s->store);
	struct bk_writer *w = &s->writer;
	bk_status status = pg_check_text("key", key, max->key, err);

	if (status < 0)
		return status;
	if (mode != BK_PUT_CREATE && mode != BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "write: mode must be create or upsert");
	if (size_bytes != BK_SIZE_UNKNOWN && size_bytes > max->binary)
		return bk_fail(err, BK_TOO_LARGE, 0, "write: %llu bytes; the limit is %llu",
			       (unsigned long long)size_bytes, (unsigned long long)max->binary);
	if (w->open)
		return bk_fail(err, BK_STATE, 0, "write: the session has a writer open");
	status = pg_begin_write(s, "write", err);
	if (status == BK_OK && !wr_is_large(s))
		status = wr_draw_id(s, err);
	if (status < 0)
		return status;
	pg_buffer_reset(&w->key);
	pg_buffer_reset(&w->chunk);
	pg_buffer_add(&w->key, key.data, key.len);
	if (!pg_buffer_grow(&w->chunk, PG_CHUNK_BYTES) || w->key.failed)
		return bk_fail(err, BK_NOMEM, 0, "write: out of memory");
	w->id = wr_is_large(s) ? 0 : s->binary_id++;
	w->declared_bytes = size_bytes;
	w->sent_bytes = 0;
	w->seq = 0;
	w->mode = mode;
	w->failed = w->own_txn = w->left_rows = false;
	w->open = true;
	*out = w;
	return BK_OK;
}

/* Other calls of the session may come between two writes; they have parked the writer then. */
static bk_status wr_go_on(struct bk_writer *w, struct bk_error *err)
{
	struct bk_session *s = w->session;

	if (w->failed)
		return wr_failed(w, "write", err);
	if (s->wire.dead)
		return bk_fail(err, BK_UNAVAILABLE, 0,
			       "write: the connection to the server is gone");
	if (s->txn == PG_TXN_FAILED)
		return pg_error_copy(err, &s->txn_error, "write");
	pg_wire_start(&s->wire);
	return BK_OK;
}

bk_status pg_binary_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err)
{
	const char *p = data;
	size_t n;
	bk_status status = wr_go_on(w, err);

	if (status < 0)
		return status;
	if (w->sent_bytes + w->chunk.len + len > pg_limits_of(w->session->store)->binary)
		return bk_fail(err, BK_TOO_LARGE, 0, "write: more bytes than the limit of %llu",
			       (unsigned long long)pg_limits_of(w->session->store)->binary);
	while (len && !w->failed) {
		if (w->chunk.len == PG_CHUNK_BYTES) { /* only when more follows: see finish */
			wr_send_chunk(w, pg_buffer_slice(&w->chunk));
			w->chunk.len = 0;
		}
		if (w->chunk.len == 0 && len > PG_CHUNK_BYTES) { /* straight from the caller */
			wr_send_chunk(w, bk_slice_of(p, PG_CHUNK_BYTES));
			n = PG_CHUNK_BYTES;
		} else {
			n = PG_CHUNK_BYTES - w->chunk.len < len ? PG_CHUNK_BYTES - w->chunk.len
								: len;
			pg_buffer_add(&w->chunk, p, n);
		}
		p += n;
		len -= n;
	}
	return w->failed ? wr_failed(w, "write", err) : BK_OK;
}

/* ---- the end
 * ----------------------------------------------------------------------------------------- */

static void wr_take_rows(struct pg_wire *wire, PGresult *res, uint64_t item)
{
	wire->session->seen.changed += pg_rows(res);
}

static void wr_send_key(struct bk_writer *w, enum pg_statement st, pg_take take)
{
	struct pg_params p;

	pg_params_init(&p);
	pg_params_bytes(&p, pg_buffer_slice(&w->key));
	pg_params_int(&p, w->id);
	pg_params_int(&p, w->sent_bytes);
	pg_send(&w->session->wire, st, &p, take, pg_item(w->session));
}

static void wr_send_key_only(struct bk_writer *w, enum pg_statement st)
{
	struct pg_params p;

	pg_params_init(&p);
	pg_params_bytes(&p, pg_buffer_slice(&w->key));
	pg_send(&w->session->wire, st, &p, pg_take_nothing, pg_item(w->session));
}

/* One row, or none: key and content in one statement. */
static void wr_send_small_create(struct bk_writer *w)
{
	struct pg_params p;

	w->sent_bytes = w->chunk.len;
	pg_params_init(&p);
	pg_params_bytes(&p, pg_buffer_slice(&w->key));
	pg_params_int(&p, w->id);
	pg_params_int(&p, w->sent_bytes);
	pg_params_bytes(&p, pg_buffer_slice(&w->chunk));
	pg_send(&w->session->wire, PG_BIN_SMALL_CREATE, &p, wr_take_rows, pg_item(w->session));
}

static void wr_send_last(struct bk_writer *w)
{
	bool large = wr_is_large(w->session);

	if (w->mode == BK_PUT_CREATE && w->seq == 0 && !large) {
		wr_send_small_create(w);
		return;
	}
	if (w->chunk.len || (large && w->seq == 0))
		wr_send_chunk(w, pg_buffer_slice(&w->chunk));
	if (w->failed)
		return;
	if (w->mode == BK_PUT_CREATE) { /* in its own transaction the COMMIT is sent with it */
		wr_send_key(w, w->own_txn ? PG_BIN_CREATE_OR_FAIL : PG_BIN_CREATE, wr_take_rows);
	} else {
		wr_send_key_only(w, PG_BIN_LOCK);
		wr_send_key_only(w, large ? PG_LO_UNLINK_OLD : PG_BIN_DROP_OLD);
		wr_send_key(w, PG_BIN_REPLACE, wr_take_rows);
	}
	if (w->own_txn)
		pg_send(&w->session->wire, PG_COMMIT, NULL, pg_take_nothing, PG_NO_ITEM);
}

/* Take back what has been sent: by the transaction, or row by row where that is not ours. */
static void wr_take_back(struct bk_writer *w)
{
	struct bk_session *s = w->session;
	struct pg_params p;

	if (s->wire.dead || s->txn == PG_TXN_FAILED)
		return;
	if (w->own_txn)
		pg_send(&s->wire, PG_ROLLBACK, NULL, pg_take_nothing, PG_NO_ITEM);
	if (w->left_rows || (!w->own_txn && w->seq && w->id)) {
		pg_params_init(&p);
		pg_params_int(&p, w->id);
		pg_send(&s->wire, wr_is_large(s) ? PG_LO_UNLINK : PG_BIN_FORGET, &p,
			pg_take_nothing, PG_NO_ITEM);
	}
	if (s->txn == PG_TXN_DEFER)
		return;
	pg_wire_settle(&s->wire);
	s->wire.failed = false;
}

void pg_binary_abort(struct bk_writer *w)
{
	pg_wire_start(&w->session->wire);
	if (w->own_txn || w->left_rows || w->seq) {
		if (w->session->txn != PG_TXN_DEFER)
			pg_wire_settle(&w->session->wire);
		wr_keep_failure(w);
		wr_take_back(w);
	}
	wr_close(w);
}

static bk_status wr_taken(struct bk_writer *w, struct bk_error *err)
{
	return bk_fail(err, BK_EXISTS, 0, "finish: the key '%.*s' is taken", (int)w->key.len,
		       w->key.data);
}

static bk_status wr_complete(struct bk_writer *w, struct bk_error *err)
{
	struct bk_session *s = w->session;
	bool own;
	bk_status status;

	s->seen.changed = 0;
	wr_send_last(w);
	if (w->failed)
		return wr_failed(w, "finish", err);
	own = w->own_txn;
	status = pg_end(s, "finish", true, err);
	if (status == BK_OK && s->seen.changed == 0)
		status = wr_taken(w, err);
	else if (status == BK_EXISTS && own)
		wr_taken(w, err);
	else if (status == BK_OK)
		w->own_txn = false;
	return status;
}

bk_status pg_binary_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_session *s = w->session;
	uint64_t total = w->sent_bytes + w->chunk.len;
	bk_status status = wr_go_on(w, err);

	if (status == BK_OK && w->declared_bytes != BK_SIZE_UNKNOWN && w->declared_bytes != total)
		status = bk_fail(err, BK_INVALID, 0,
				 "finish: %llu bytes were declared, %llu written",
				 (unsigned long long)w->declared_bytes, (unsigned long long)total);
	else if (status == BK_OK && s->txn == PG_TXN_DEFER)
		status = pg_txn_flush(s, err);
	if (status == BK_OK)
		status = wr_complete(w, err);
	s->writes++;
	if (status == BK_OK)
		info->size_bytes = total;
	else if (w->own_txn || w->left_rows || w->seq)
		wr_take_back(w);
	wr_close(w);
	return status;
}
