/*
 * txn.c - transactions: BEGIN travels with the first statement; deferred writes stay in the
 * pipeline.
 *
 * The invariant: PG_TXN_FAILED means that the server has given the transaction up and waits for
 * ROLLBACK.  A deferred write's failure ends the transaction when it is reported: by then the
 * ROLLBACK has been sent.
 */
#include "pg.h"

/* PostgreSQL's repeatable read is snapshot isolation, which is more than was asked for. */
static uint32_t txn_level(const char *name)
{
	if (strcmp(name, "serializable") == 0)
		return BK_ISO_SERIALIZABLE;
	if (strcmp(name, "repeatable read") == 0)
		return BK_ISO_SNAPSHOT;
	return BK_ISO_READ_COMMITTED;
}

static const char *txn_begin_sql(uint32_t isolation, bool read_only)
{
	switch (isolation) {
	case BK_ISO_READ_COMMITTED:
		return read_only ? "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
				 : "BEGIN ISOLATION LEVEL READ COMMITTED";
	case BK_ISO_REPEATABLE_READ:
	case BK_ISO_SNAPSHOT:
		return read_only ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
				 : "BEGIN ISOLATION LEVEL REPEATABLE READ";
	case BK_ISO_SERIALIZABLE:
		return read_only ? "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY"
				 : "BEGIN ISOLATION LEVEL SERIALIZABLE";
	default:
		return read_only ? "BEGIN READ ONLY" : "BEGIN READ WRITE";
	}
}

static bk_status txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
			   struct bk_error *err)
{
	bk_status status;

	if (s->txn != PG_TXN_NONE)
		return bk_fail(err, BK_STATE, 0, "begin: a transaction is open already");
	if (*isolation > BK_ISO_SERIALIZABLE)
		return bk_fail(err, BK_INVALID, 0, "begin: no such isolation level: %u",
			       *isolation);
	status = pg_begin_read(s, "begin", err);
	if (status < 0)
		return status;
	s->txn_read_only = flags & BK_TXN_READ_ONLY;
	pg_send_sql(&s->wire, txn_begin_sql(*isolation, s->txn_read_only), NULL, pg_take_nothing,
		    PG_NO_ITEM);
	s->txn = flags & BK_TXN_DEFER ? PG_TXN_DEFER : PG_TXN_OPEN;
	s->writes = 0;
	if (*isolation == 0)
		*isolation = txn_level(s->in_force.isolation);
	else if (*isolation == BK_ISO_REPEATABLE_READ)
		*isolation = BK_ISO_SNAPSHOT;
	return BK_OK;
}

/* Cursors that were declared inside go with the transaction; a holdable one stays. */
static void txn_over(struct bk_session *s)
{
	s->txn = PG_TXN_NONE;
	if (s->server_cursor == PG_HELD_IN_TXN)
		s->server_cursor = PG_HELD_NONE;
}

/* A transaction that has failed unnoticed answers COMMIT with ROLLBACK. */
static void txn_take_commit(struct pg_wire *w, PGresult *res, uint64_t item)
{
	if (strcmp(PQcmdStatus(res), "COMMIT") != 0)
		pg_wire_refuse(w, BK_CONFLICT, PG_NO_ITEM, "the server rolled it back");
}

/* Send ROLLBACK; what becomes of it changes nothing for the caller. */
static void txn_undo(struct bk_session *s)
{
	struct bk_error ignored = bk_error_init();

	if (s->wire.dead)
		return;
	pg_send(&s->wire, PG_ROLLBACK, NULL, pg_take_nothing, PG_NO_ITEM);
	pg_wire_finish(&s->wire, "rollback", &ignored);
}

bk_status pg_txn_flush(struct bk_session *s, struct bk_error *err)
{
	bk_status status = s->unit ? pg_doc_unit_flush(s, err) : BK_OK;

	if (status == BK_OK && (s->wire.due_count || s->wire.failed || s->wire.dead))
		status = pg_wire_finish(&s->wire, "deferred write", err);
	if (status < 0) {
		if (s->writer.open)
			pg_writer_disown(&s->writer);
		txn_undo(s);
		txn_over(s);
	}
	return status;
}

static bk_status txn_flush(struct bk_session *s, struct bk_error *err)
{
	if (s->txn == PG_TXN_NONE)
		return bk_fail(err, BK_STATE, 0, "flush: no transaction is open");
	if (s->txn == PG_TXN_FAILED)
		return pg_error_copy(err, &s->txn_error, "flush");
	if (s->txn == PG_TXN_OPEN)
		return BK_OK;
	pg_wire_start(&s->wire);
	if (s->writer.open)
		pg_writer_park(&s->writer);
	return pg_txn_flush(s, err);
}

/* What must be closed before a transaction ends; the transaction ends all the same. */
static const char *txn_open_handle(const struct bk_session *s)
{
	return s->cursor.open   ? "cursor"
	       : s->reader.open ? "reader"
	       : s->writer.open ? "writer"
				: NULL;
}

/* Whatever was queued and whatever it came to, nothing of the transaction stays. */
static void txn_abandon(struct bk_session *s)
{
	if (s->unit)
		pg_doc_unit_forget(s->unit);
	if (s->writer.open) /* its rows go too */
		pg_writer_disown(&s->writer);
	if (s->txn == PG_TXN_DEFER && !s->wire.dead)
		pg_wire_settle(&s->wire);
	s->wire.failed = false;
	txn_undo(s);
	txn_over(s);
}

static bk_status txn_held(struct bk_session *s, const char *what, const char *handle,
			  struct bk_error *err)
{
	txn_abandon(s);
	return bk_fail(err, BK_STATE, 0, "%s: a %s is still open; all has been rolled back", what,
		       handle);
}

static bk_status txn_commit(struct bk_session *s, struct bk_error *err)
{
	const char *handle = txn_open_handle(s);
	bk_status status;

	if (s->txn == PG_TXN_NONE)
		return bk_fail(err, BK_STATE, 0, "commit: no transaction is open");
	pg_drop_views(s);
	pg_wire_start(&s->wire);
	if (handle)
		return txn_held(s, "commit", handle, err);
	if (s->txn == PG_TXN_FAILED) {
		txn_undo(s);
		txn_over(s);
		return pg_error_copy(err, &s->txn_error, "commit");
	}
	if (s->txn == PG_TXN_DEFER) {
		status = pg_txn_flush(s, err);
		if (status < 0)
			return status;
	}
	txn_over(s); /* first: then a lost connection leaves the outcome open */
	pg_send(&s->wire, PG_COMMIT, NULL, txn_take_commit, PG_NO_ITEM);
	return pg_end(s, "commit", true, err);
}

static bk_status txn_rollback(struct bk_session *s, struct bk_error *err)
{
	const char *handle = txn_open_handle(s);

	if (s->txn == PG_TXN_NONE)
		return bk_fail(err, BK_STATE, 0, "rollback: no transaction is open");
	pg_drop_views(s);
	pg_wire_start(&s->wire);
	if (handle)
		return txn_held(s, "rollback", handle, err);
	txn_abandon(s);
	if (s->wire.dead)
		return bk_fail(err, BK_UNAVAILABLE, 0,
			       "rollback: the connection to the server is gone, and the "
			       "transaction with it");
	return BK_OK;
}

const struct bk_txn_ops pg_txn_ops = {
	.struct_size = sizeof(struct bk_txn_ops),
	.begin = txn_begin,
	.flush = txn_flush,
	.commit = txn_commit,
	.rollback = txn_rollback,
};
