/*
 * place_clone.c - a database's copy, made by statements: MySQL and MariaDB have no templates.
 *
 * Tables as SHOW CREATE TABLE spells them, rows by INSERT ... SELECT, then views, routines,
 * triggers and events, as SHOW CREATE spells them.  What names the old database in so many words
 * goes on naming it.
 *
 * The one invariant: triggers come after the rows, so that they do not fire.
 */
#include "my.h"

struct clone {
	struct bk_store *admin;
	MYSQL *conn;
	struct bk_slice to, from;
};

static bk_status use(struct clone *c, struct bk_slice database, struct bk_error *err)
{
	return my_run(c->admin, c->conn, "cloning", err, "USE %n", database);
}

/* Runs a text that the server gave us, as it stands. */
static bk_status replay(struct clone *c, const char *text, const char *sql_mode,
			struct bk_error *err)
{
	bk_status st = BK_OK;

	if (sql_mode)
		st = my_run(c->admin, c->conn, "cloning", err, "SET SESSION sql_mode=%s", sql_mode);
	if (!st && mysql_query(c->conn, text))
		st = my_fail_conn(err, c->admin, c->conn, "cloning");
	return st;
}

static bk_status list(MYSQL_RES **out, struct clone *c, const char *type, struct bk_error *err)
{
	return my_ask(out, c->admin, c->conn, "cloning", err,
		      "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA=%b AND "
		      "TABLE_TYPE=%s ORDER BY TABLE_NAME",
		      c->from, type);
}

static int field_at(MYSQL_RES *rows, const char *name)
{
	unsigned n = mysql_num_fields(rows), i;
	MYSQL_FIELD *fields = mysql_fetch_fields(rows);

	for (i = 0; i < n; i++) {
		if (!strcmp(fields[i].name, name))
			return (int)i;
	}
	return -1;
}

/* SHOW CREATE <what> <name> in the old database, its text run in the new one. */
static bk_status recreate(struct clone *c, const char *what, const char *column, const char *name,
			  struct bk_error *err)
{
	struct my_text t = {.failed = false};
	MYSQL_RES *rows = NULL;
	MYSQL_ROW row;
	int text, mode;
	bk_status st = use(c, c->from, err);

	if (st)
		return st;
	my_text_add(&t, c->admin, c->conn, "SHOW CREATE ");
	my_text_add(&t, c->admin, c->conn, what);
	my_text_add(&t, c->admin, c->conn, " %n", bk_slice_str(name));
	st = my_text_send(&rows, &t, c->admin, c->conn, "cloning", err);
	if (st)
		return st;
	row = mysql_fetch_row(rows);
	text = field_at(rows, column);
	mode = field_at(rows, "sql_mode");
	if (!row || text < 0 || !row[text])
		st = bk_fail(err, BK_AUTH, 0, "mysql: cloning: the definition of %s '%s' is hidden",
			     what, name);
	else
		st = use(c, c->to, err);
	if (!st)
		st = replay(c, row[text], mode >= 0 ? row[mode] : NULL, err);
	mysql_free_result(rows);
	return st;
}

/* ---- Tables ------------------------------------------------------------------------------------
 */

/* All columns but the computed ones. */
static bk_status copy_rows(struct clone *c, const char *table, struct bk_error *err)
{
	struct my_text names = {.failed = false}, t = {.failed = false};
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st = my_ask(&rows, c->admin, c->conn, "cloning", err,
			      "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE "
			      "TABLE_SCHEMA=%b AND TABLE_NAME=%s AND "
			      "COALESCE(GENERATION_EXPRESSION,'')='' ORDER BY ORDINAL_POSITION",
			      c->from, table);

	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		my_text_add(&names, c->admin, c->conn, names.buf.len ? ",%n" : "%n",
			    bk_slice_str(row[0]));
	}
	mysql_free_result(rows);
	my_text_add(&names, c->admin, c->conn, "");
	if (names.buf.len == 0)
		return BK_OK;
	my_text_add(&t, c->admin, c->conn, "INSERT INTO %n.%n (", c->to, bk_slice_str(table));
	t.failed = t.failed || !my_buf_add(&t.buf, names.buf.data, names.buf.len);
	my_text_add(&t, c->admin, c->conn, ") SELECT ");
	t.failed = t.failed || !my_buf_add(&t.buf, names.buf.data, names.buf.len);
	my_text_add(&t, c->admin, c->conn, " FROM %n.%n", c->from, bk_slice_str(table));
	t.failed = t.failed || names.failed;
	my_buf_free(&names.buf);
	return my_text_send(NULL, &t, c->admin, c->conn, "cloning", err);
}

static bk_status clone_tables(struct clone *c, struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st = list(&rows, c, "BASE TABLE", err);

	if (st)
		return st;
	while (!st && (row = mysql_fetch_row(rows)) != NULL)
		st = recreate(c, "TABLE", "Create Table", row[0], err);
	mysql_data_seek(rows, 0);
	while (!st && (row = mysql_fetch_row(rows)) != NULL)
		st = copy_rows(c, row[0], err);
	mysql_free_result(rows);
	return st;
}

/* SETVAL takes a number as it stands, not a quoted one. */
static bk_status set_sequence(struct clone *c, const char *name, const char *digits,
			      struct bk_error *err)
{
	struct my_text t = {.failed = false};

	my_text_add(&t, c->admin, c->conn, "SELECT SETVAL(%n.%n,", c->to, bk_slice_str(name));
	my_text_add(&t, c->admin, c->conn, digits);
	my_text_add(&t, c->admin, c->conn, ",0)");
	return my_text_send(NULL, &t, c->admin, c->conn, "cloning", err);
}

/* MariaDB: a sequence begins anew; then it is set to where the old one stands. */
static bk_status clone_sequences(struct clone *c, struct bk_error *err)
{
	MYSQL_RES *rows, *at;
	MYSQL_ROW row, value;
	bk_status st = list(&rows, c, "SEQUENCE", err);

	if (st)
		return st;
	while (!st && (row = mysql_fetch_row(rows)) != NULL) {
		st = recreate(c, "SEQUENCE", "Create Table", row[0], err);
		if (!st)
			st = my_ask(&at, c->admin, c->conn, "cloning", err,
				    "SELECT next_not_cached_value FROM %n.%n", c->from,
				    bk_slice_str(row[0]));
		if (st)
			break;
		value = mysql_fetch_row(at);
		if (value && value[0] && strspn(value[0], "-0123456789") == strlen(value[0]))
			st = set_sequence(c, row[0], value[0], err);
		mysql_free_result(at);
	}
	mysql_free_result(rows);
	return st;
}

/* ---- The rest ------------------------------------------------------------------- */

/* A view may stand on another: round after round, as long as one more succeeds. */
static bk_status clone_views(struct clone *c, struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	struct bk_error last = bk_error_init();
	uint64_t left, before;
	bool *done;
	bk_status st = list(&rows, c, "VIEW", err);
	size_t i;

	if (st)
		return st;
	left = mysql_num_rows(rows);
	my_arena_reset(&c->admin->views);
	done = my_alloc(&c->admin->views, (size_t)left + 1);
	if (!done)
		st = my_nomem(err);
	else
		memset(done, 0, (size_t)left + 1);
	do {
		before = left;
		mysql_data_seek(rows, 0);
		for (i = 0; done && (row = mysql_fetch_row(rows)) != NULL; i++) {
			if (done[i])
				continue;
			st = recreate(c, "VIEW", "Create View", row[0], &last);
			if (!st) {
				done[i] = true;
				left--;
			}
			st = BK_OK;
		}
	} while (done && left > 0 && left < before);
	mysql_free_result(rows);
	if (!done || left == 0)
		return st;
	*err = last;
	return last.status;
}

static bk_status clone_named(struct clone *c, const char *what, const char *column,
			     const char *query, struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st = my_ask(&rows, c->admin, c->conn, "cloning", err, query, c->from);

	if (st)
		return st;
	while (!st && (row = mysql_fetch_row(rows)) != NULL)
		st = recreate(c, what, column, row[0], err);
	mysql_free_result(rows);
	return st;
}

static bk_status clone_all(struct clone *c, struct bk_error *err)
{
	bk_status st = clone_sequences(c, err);

	if (!st)
		st = clone_tables(c, err);
	if (!st)
		st = clone_named(c, "FUNCTION", "Create Function",
				 "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE "
				 "ROUTINE_SCHEMA=%b AND ROUTINE_TYPE='FUNCTION'",
				 err);
	if (!st)
		st = clone_named(c, "PROCEDURE", "Create Procedure",
				 "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE "
				 "ROUTINE_SCHEMA=%b AND ROUTINE_TYPE='PROCEDURE'",
				 err);
	if (!st)
		st = clone_views(c, err);
	if (!st)
		st = clone_named(c, "TRIGGER", "SQL Original Statement",
				 "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE "
				 "TRIGGER_SCHEMA=%b ORDER BY ACTION_ORDER",
				 err);
	if (!st)
		st = clone_named(c, "EVENT", "Create Event",
				 "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE "
				 "EVENT_SCHEMA=%b",
				 err);
	return st;
}

bk_status my_place_clone(struct bk_store *admin, struct bk_slice to, struct bk_slice from,
			 struct bk_error *err)
{
	struct clone c = {.admin = admin, .to = to, .from = from};
	bk_status st = my_connect(&c.conn, admin, 0, err);

	/* A connection of its own: its settings and its database are not the control thread's. */
	if (st)
		return st;
	st = my_run(admin, c.conn, "cloning", err,
		    "SET SESSION foreign_key_checks=0,unique_checks=0,"
		    "sql_mode='NO_AUTO_VALUE_ON_ZERO'");
	if (!st)
		st = clone_all(&c, err);
	mysql_close(c.conn);
	return st;
}
