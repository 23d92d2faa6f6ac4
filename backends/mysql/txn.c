/*
 * txn.c - transactions of the caller, and the small ones around an operation of several
 * statements.
 *
 * The one invariant: once the server has undone a transaction, nothing more runs on the session
 * until the caller has said commit or rollback; it would run, and stay, on its own.
 */
#include "session.h"

static const char *level_name(uint32_t isolation)
{
	switch (isolation) {
	case BK_ISO_READ_COMMITTED:
		return "READ COMMITTED";
	case BK_ISO_SERIALIZABLE:
		return "SERIALIZABLE";
	default:
		return "REPEATABLE READ";
	}
}

/* InnoDB's REPEATABLE READ lets a transaction overwrite what changed since its snapshot, unless
 * innodb_snapshot_isolation is on.  Where that setting is missing only SERIALIZABLE is as strong.
 */
static uint32_t level_for(const struct bk_session *s, uint32_t wanted)
{
	if (wanted == 0)
		return s->server.isolation ? s->server.isolation : BK_ISO_READ_COMMITTED;
	if (wanted == BK_ISO_SNAPSHOT && !s->server.has_snapshot)
		return BK_ISO_SERIALIZABLE;
	return wanted;
}

/* One statement a call: of several in one text, a KILL between two lets the server end without the
 * answers that it has announced, and the client waits for them for good. */
static bk_status set_level(struct bk_session *s, uint32_t level, struct bk_error *err)
{
	char text[80];
	bk_status st;

	if (s->level == level)
		return BK_OK;
	s->level = 0;
	snprintf(text, sizeof(text), "SET SESSION TRANSACTION ISOLATION LEVEL %s",
		 level_name(level));
	st = my_query(s, text, "begin", err);
	if (!st)
		s->level = level;
	return st;
}

static bk_status set_snapshot(struct bk_session *s, bool on, struct bk_error *err)
{
	bk_status st;

	if (s->snapshot_on == on)
		return BK_OK;
	st = my_query(s,
		      on ? "SET SESSION innodb_snapshot_isolation=ON"
			 : "SET SESSION innodb_snapshot_isolation=DEFAULT",
		      "begin", err);
	if (!st)
		s->snapshot_on = on;
	return st;
}

static bk_status txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
			   struct bk_error *err)
{
	uint32_t level = level_for(s, *isolation);
	bool snapshot = level == BK_ISO_SNAPSHOT;
	char text[80];
	bk_status st;

	if (s->txn != MY_TXN_NONE)
		return bk_fail(err, BK_STATE, 0, "mysql: a transaction is open already");
	if (s->writer || s->reader || s->cursor.open)
		return bk_fail(err, BK_STATE, 0,
			       "mysql: begin with a cursor, reader or writer still open");
	if (*isolation > BK_ISO_SERIALIZABLE)
		return bk_fail(err, BK_INVALID, 0, "mysql: isolation level %u is unknown",
			       (unsigned)*isolation);
	st = my_enter(s, 0, err);
	if (st)
		return st;
	st = set_snapshot(s, snapshot, err);
	if (!st)
		st = set_level(s, level, err);
	snprintf(text, sizeof(text), "START TRANSACTION%s%s%s",
		 snapshot ? " WITH CONSISTENT SNAPSHOT" : "",
		 snapshot && (flags & BK_TXN_READ_ONLY) ? "," : "",
		 flags & BK_TXN_READ_ONLY ? " READ ONLY" : "");
	if (!st)
		st = my_query(s, text, "begin", err);
	if (!st) {
		s->txn = MY_TXN_OPEN;
		s->defer = (flags & BK_TXN_DEFER) != 0;
		s->read_only = (flags & BK_TXN_READ_ONLY) != 0;
		s->undone = false;
		s->writes = 0;
		*isolation = level;
	}
	my_leave(s);
	return st;
}

/* Also when a KILL meant for the statement before it hits the ROLLBACK. */
void my_rollback(struct bk_session *s)
{
	int tries;

	for (tries = 0; tries < 5 && !s->dead; tries++) {
		if (!mysql_query(s->conn, "ROLLBACK"))
			return;
		s->dead = my_lost(mysql_errno(s->conn));
	}
	s->dead = true; /* nobody knows what state it is in */
}

/* The caller knows that it is over: nothing of it is left here or on the server. */
void my_txn_end(struct bk_session *s)
{
	my_deferred_drop(s);
	my_parents_forget(s);
	if (s->txn != MY_TXN_NONE && !(s->txn == MY_TXN_ENDED && s->undone))
		my_rollback(s);
	s->txn = MY_TXN_NONE;
}

/* The server has undone it, or must; the caller has still to say commit or rollback. */
void my_txn_ended(struct bk_session *s, bk_status why)
{
	if (s->txn == MY_TXN_OPEN) {
		s->txn = MY_TXN_ENDED;
		s->ended = why;
		s->undone = false;
	}
	my_deferred_drop(s);
}

/* A cursor, reader or writer still open: STATE, and the transaction is rolled back. */
static bk_status no_handles(struct bk_session *s, const char *what, struct bk_error *err)
{
	const char *open = s->cursor.open ? "cursor"
			   : s->reader    ? "reader"
			   : s->writer    ? "writer"
					  : NULL;

	if (s->txn == MY_TXN_NONE)
		return bk_fail(err, BK_STATE, 0, "mysql: %s without a transaction", what);
	if (!open)
		return BK_OK;
	my_txn_end(s);
	return bk_fail(err, BK_STATE, 0, "mysql: %s with a %s still open", what, open);
}

static bk_status txn_flush(struct bk_session *s, struct bk_error *err)
{
	bk_status st;

	if (s->txn == MY_TXN_NONE)
		return bk_fail(err, BK_STATE, 0, "mysql: flush without a transaction");
	st = my_enter(s, MY_READS, err);
	if (!st)
		my_leave(s);
	return st;
}

static bk_status txn_commit(struct bk_session *s, struct bk_error *err)
{
	bk_status st = no_handles(s, "commit", err);

	if (st)
		return st;
	st = my_enter(s, MY_READS, err);
	if (!st) {
		s->deciding = true;
		st = my_query(s, "COMMIT", "commit", err);
		s->deciding = false;
		if (st)
			my_rollback(s);
		s->txn = MY_TXN_NONE;
		my_leave(s);
	}
	s->txn = MY_TXN_NONE;
	return st;
}

static bk_status txn_rollback(struct bk_session *s, struct bk_error *err)
{
	bk_status st = no_handles(s, "rollback", err);
	bool undone;

	if (st)
		return st;
	undone = s->txn == MY_TXN_ENDED;
	my_deferred_drop(s);
	my_parents_forget(s);
	s->txn = MY_TXN_NONE;
	if (undone)
		return BK_OK; /* my_leave() did it, or the connection is gone */
	st = my_enter(s, 0, err);
	if (!st) {
		my_rollback(s);
		if (s->dead)
			st = my_fail_conn(err, s->store, s->conn, "rollback");
		my_leave(s);
	}
	return st;
}

const struct bk_txn_ops my_txn_ops = {
	.struct_size = sizeof(struct bk_txn_ops),
	.begin = txn_begin,
	.flush = txn_flush,
	.commit = txn_commit,
	.rollback = txn_rollback,
};

/* ---- Units ---------------------------------------------------------------------- */

bk_status my_unit_begin(struct bk_session *s, bool savepoint, struct bk_error *err)
{
	bk_status st = BK_OK;

	s->savepoint = false;
	if (s->txn == MY_TXN_OPEN) {
		savepoint = savepoint && !s->sending_deferred; /* a failure there ends it all */
		if (savepoint)
			st = my_query(s, "SAVEPOINT bakeoff", "savepoint", err);
		s->savepoint = savepoint && !st;
		return st;
	}
	/* READ COMMITTED: no gap locks, on which two inserts of different rows could deadlock. */
	st = set_level(s, BK_ISO_READ_COMMITTED, err);
	if (!st)
		st = my_query(s, "START TRANSACTION", "begin", err);
	s->unit = !st;
	return st;
}

bk_status my_unit_end(struct bk_session *s, bk_status st, struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();

	if (s->txn == MY_TXN_OPEN) {
		if (st < 0 && s->savepoint) {
			if (my_query(s, "ROLLBACK TO SAVEPOINT bakeoff", "undoing", &ignored))
				my_txn_ended(s, st);
		} else if (st < 0 && s->dirty) {
			my_txn_ended(s, st);
		}
		return st;
	}
	if (!s->unit)
		return st;
	if (st >= 0) {
		s->deciding = true;
		st = my_query(s, "COMMIT", "commit", err);
		s->deciding = false;
		if (!st) {
			s->unit = false;
			return BK_OK;
		}
	}
	my_rollback(s);
	s->unit = false;
	return st;
}
