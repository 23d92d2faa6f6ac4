/*
 * stmt.c - prepared statements of a session: prepared at first use, kept, run, fetched from.
 *
 * The one invariant: when a function of this file returns, no unread result hangs on the
 * connection, but between my_rows() and the my_row() that answers END (or my_rows_end()).
 */
#include "session.h"

#include <errmsg.h>
#include <stdlib.h>

static const char *const texts[MY_SQL_COUNT] = {
#define X(name, text) [MY_SQL_##name] = text,
	MY_SQL_LIST(X)
#undef X
};

/* Every failure of a statement goes through here: what it means for the session. */
static bk_status failed(struct bk_session *s, unsigned code, const char *sqlstate,
			const char *message, const char *what, struct bk_error *err)
{
	bk_status st = my_fail(err, s->store, code, sqlstate, message, what);

	if (st == BK_CONFLICT || my_lost(code))
		my_txn_ended(s, st);
	if (s->deciding && (st == BK_CANCELLED || st == BK_TIMEOUT))
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	if (my_lost(code) || st == BK_UNAVAILABLE) {
		if (s->timeout_ns &&
		    s->store->host->now_ns(s->store->host->ctx) >= s->deadline_ns) {
			st = err->status = BK_TIMEOUT;
			my_txn_ended(s, st);
		}
		/* Lost while committing, or in a statement that commits by itself. */
		if (s->deciding || (s->writing && s->txn == MY_TXN_NONE && !s->unit))
			err->flags |= BK_ERR_OUTCOME_UNKNOWN;
		s->dead = s->dead || my_lost(code);
	}
	return st;
}

bk_status my_fail_stmt(struct bk_session *s, MYSQL_STMT *stmt, const char *what,
		       struct bk_error *err)
{
	/* libmariadb notes an error among the rows on the connection only. */
	if (!mysql_stmt_errno(stmt))
		return failed(s, mysql_errno(s->conn), mysql_sqlstate(s->conn),
			      mysql_error(s->conn), what, err);
	return failed(s, mysql_stmt_errno(stmt), mysql_stmt_sqlstate(stmt), mysql_stmt_error(stmt),
		      what, err);
}

/* Between statements: has somebody called cancel(), is the time up? */
static bk_status check(struct bk_session *s, const char *what, struct bk_error *err)
{
	if (s->dead)
		return bk_fail(err, BK_UNAVAILABLE, CR_SERVER_LOST,
			       "mysql: %s: the connection was lost; open another session", what);
	if (my_cancelled(s))
		return bk_fail(err, BK_CANCELLED, 0, "mysql: %s: cancelled", what);
	if (s->timeout_ns && s->store->host->now_ns(s->store->host->ctx) > s->deadline_ns)
		return bk_fail(err, BK_TIMEOUT, 0, "mysql: %s: the deadline passed", what);
	return BK_OK;
}

bk_status my_query(struct bk_session *s, const char *text, const char *what, struct bk_error *err)
{
	if (s->dead)
		return bk_fail(err, BK_UNAVAILABLE, CR_SERVER_LOST,
			       "mysql: %s: the connection was lost; open another session", what);
	s->requests++;
	if (!mysql_query(s->conn, text))
		return BK_OK;
	return failed(s, mysql_errno(s->conn), mysql_sqlstate(s->conn), mysql_error(s->conn), what,
		      err);
}

bk_status my_prepare(MYSQL_STMT **out, struct bk_session *s, const char *text, struct bk_error *err)
{
	MYSQL_STMT *stmt = mysql_stmt_init(s->conn);
	bk_status st;

	if (!stmt)
		return my_nomem(err);
	s->requests++;
	if (!my_expand(&s->text, s->store->prefix, text)) {
		st = my_nomem(err);
	} else if (mysql_stmt_prepare(stmt, s->text.data, s->text.len - 1)) {
		st = my_fail_stmt(s, stmt, "preparing a statement", err);
	} else {
		*out = stmt;
		return BK_OK;
	}
	mysql_stmt_close(stmt);
	return st;
}

bk_status my_stmt(MYSQL_STMT **out, struct bk_session *s, enum my_sql which, struct bk_error *err)
{
	if (!s->stmt[which]) {
		bk_status st = my_prepare(&s->stmt[which], s, texts[which], err);

		if (st)
			return st;
	}
	*out = s->stmt[which];
	return BK_OK;
}

const char *my_sql_text(enum my_sql which)
{
	return texts[which];
}

bk_status my_stmt_text(MYSQL_STMT **out, struct bk_session *s, const char *text,
		       struct bk_error *err)
{
	struct my_dynamic *d = NULL;
	MYSQL_STMT *stmt;
	char *copy;
	bk_status st;
	size_t i;

	for (i = 0; i < MY_DYNAMIC; i++) {
		struct my_dynamic *at = &s->dynamic[i];

		if (at->text && !strcmp(at->text, text)) {
			at->used = ++s->clock;
			*out = at->stmt;
			return BK_OK;
		}
		if (!d || at->used < d->used)
			d = at;
	}
	copy = strdup(text);
	if (!copy)
		return my_nomem(err);
	st = my_prepare(&stmt, s, text, err);
	if (st) {
		free(copy);
		return st;
	}
	if (d->text) {
		mysql_stmt_close(d->stmt);
		free(d->text);
	}
	d->text = copy;
	d->stmt = *out = stmt;
	d->used = ++s->clock;
	return BK_OK;
}

void my_stmts_close(struct bk_session *s)
{
	size_t i;

	for (i = 0; i < MY_SQL_COUNT; i++) {
		if (s->stmt[i])
			mysql_stmt_close(s->stmt[i]);
	}
	for (i = 0; i < MY_DYNAMIC; i++) {
		if (s->dynamic[i].text)
			mysql_stmt_close(s->dynamic[i].stmt);
		free(s->dynamic[i].text);
	}
	for (i = 0; i < 4; i++) {
		if (s->get_flat[i])
			mysql_stmt_close(s->get_flat[i]);
	}
	for (i = 0; i < 8; i++) {
		if (s->get_union[i])
			mysql_stmt_close(s->get_union[i]);
	}
	for (i = 0; i < MY_COLUMNS; i++) {
		free(s->cols[i].buf);
		free(s->handle_cols[i].buf);
	}
}

/* ---- Parameters ----------------------------------------------------------------- */

void my_bind_num(MYSQL_BIND *b, uint64_t *v)
{
	memset(b, 0, sizeof(*b));
	b->buffer_type = MYSQL_TYPE_LONGLONG;
	b->is_unsigned = 1;
	b->buffer = v;
}

void my_bind_null(MYSQL_BIND *b)
{
	memset(b, 0, sizeof(*b));
	b->buffer_type = MYSQL_TYPE_NULL;
}

void my_bind_bytes(MYSQL_BIND *b, struct bk_slice v)
{
	memset(b, 0, sizeof(*b));
	b->buffer_type = MYSQL_TYPE_BLOB;
	/* The library only reads what it sends. */
	b->buffer = v.len ? (void *)(uintptr_t)v.data : (void *)(uintptr_t) "";
	b->buffer_length = (unsigned long)v.len;
}

bk_status my_exec(struct bk_session *s, MYSQL_STMT *stmt, MYSQL_BIND *params, const char *what,
		  struct bk_error *err)
{
	bk_status st = check(s, what, err);

	if (st)
		return st;
	s->requests++;
	if ((params && mysql_stmt_bind_param(stmt, params)) || mysql_stmt_execute(stmt))
		return my_fail_stmt(s, stmt, what, err);
	return BK_OK;
}

/* ---- Rows ----------------------------------------------------------------------- */

static bool column_reserve(struct my_column *c, size_t len)
{
	char *p;

	if (len <= c->cap)
		return true;
	len += len / 4; /* the next row's value is likely a little longer */
	p = realloc(c->buf, len);
	if (!p)
		return false;
	c->buf = p;
	c->cap = len;
	return true;
}

static void bind_column(MYSQL_BIND *b, struct my_column *c, char kind)
{
	memset(b, 0, sizeof(*b));
	b->is_null = &c->null;
	b->error = &c->cut;
	b->length = &c->len;
	if (kind == 'n') {
		b->buffer_type = MYSQL_TYPE_LONGLONG;
		b->is_unsigned = 1;
		b->buffer = &c->num;
	} else {
		b->buffer_type = MYSQL_TYPE_BLOB;
		b->buffer = c->buf;
		b->buffer_length = (unsigned long)c->cap;
	}
}

static bool bind_columns(struct bk_session *s, MYSQL_STMT *stmt, const char *columns)
{
	MYSQL_BIND b[MY_COLUMNS];
	size_t i;

	for (i = 0; columns[i]; i++)
		bind_column(&b[i], &s->col[i], columns[i]);
	return !mysql_stmt_bind_result(stmt, b);
}

bk_status my_rows(struct bk_session *s, MYSQL_STMT *stmt, const char *columns, const char *what,
		  struct bk_error *err)
{
	size_t i;

	for (i = 0; columns[i]; i++) {
		if (columns[i] == 'b' && !column_reserve(&s->col[i], 4096))
			return my_nomem(err);
	}
	if (!bind_columns(s, stmt, columns))
		return my_fail_stmt(s, stmt, what, err);
	return BK_OK;
}

/* Fetches again what did not fit, into buffers that do; binds those for the rows to come. */
static bk_status refetch(struct bk_session *s, MYSQL_STMT *stmt, const char *columns,
			 const char *what, struct bk_error *err)
{
	unsigned i;

	for (i = 0; columns[i]; i++) {
		struct my_column *c = &s->col[i];
		MYSQL_BIND b;

		if (columns[i] != 'b' || c->null || c->len <= c->cap)
			continue;
		if (!column_reserve(c, c->len))
			return my_nomem(err);
		bind_column(&b, c, 'b');
		if (mysql_stmt_fetch_column(stmt, &b, i, 0))
			return my_fail_stmt(s, stmt, what, err);
	}
	return bind_columns(s, stmt, columns) ? BK_OK : my_fail_stmt(s, stmt, what, err);
}

/* An error came in the place of a row, and nothing comes behind it.  libmariadb 3.3 does not take
 * note of that: whatever touches the statement next would wait for the rest of its rows. */
static void abandon(struct bk_session *s, MYSQL_STMT *stmt)
{
#ifdef LIBMARIADB
	s->conn->status = MYSQL_STATUS_READY;
	stmt->state = MYSQL_STMT_FETCH_DONE;
#else
	(void)s;
	mysql_stmt_free_result(stmt);
#endif
}

bk_status my_row(struct bk_session *s, MYSQL_STMT *stmt, const char *columns, const char *what,
		 struct bk_error *err)
{
	bk_status st;

	switch (mysql_stmt_fetch(stmt)) {
	case 0:
		return BK_OK;
	case MYSQL_NO_DATA:
		mysql_stmt_free_result(stmt);
		return BK_END;
	case MYSQL_DATA_TRUNCATED:
		st = refetch(s, stmt, columns, what, err);
		if (st)
			mysql_stmt_free_result(stmt);
		return st;
	default:
		st = my_fail_stmt(s, stmt, what, err);
		abandon(s, stmt);
		return st;
	}
}

void my_rows_end(MYSQL_STMT *stmt)
{
	mysql_stmt_free_result(stmt);
}

bk_status my_one(struct bk_session *s, enum my_sql which, MYSQL_BIND *params, const char *columns,
		 const char *what, struct bk_error *err)
{
	MYSQL_STMT *stmt;
	bk_status st = my_stmt(&stmt, s, which, err);

	if (!st)
		st = my_exec(s, stmt, params, what, err);
	if (!st)
		st = my_rows(s, stmt, columns, what, err);
	if (!st)
		st = my_row(s, stmt, columns, what, err);
	if (!st)
		my_rows_end(stmt);
	return st;
}

bk_status my_do(struct bk_session *s, enum my_sql which, MYSQL_BIND *params, uint64_t *affected,
		const char *what, struct bk_error *err)
{
	MYSQL_STMT *stmt;
	bk_status st = my_stmt(&stmt, s, which, err);

	if (!st)
		st = my_exec(s, stmt, params, what, err);
	if (!st) {
		s->dirty = true;
		if (affected)
			*affected = mysql_stmt_affected_rows(stmt);
	}
	return st;
}
