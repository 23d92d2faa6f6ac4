/*
 * place.c - databases for other people's tests, each with an account of its own.
 *
 * The one invariant: a database without the mark, and an account that create() did not make, are
 * never dropped.
 */
#include "place.h"

#include <time.h>

#define ER_CANNOT_USER_NUMBER 1396 /* CREATE USER: it is there */

/* Messages of statements that hold a password do not repeat it. */
static bk_status blot(bk_status st, struct bk_error *err, struct bk_slice password)
{
	if (st)
		my_mask(err->message, password);
	return st;
}

static bk_status check_name(struct bk_slice name, const char *what, size_t max,
			    struct bk_error *err)
{
	bk_status st = my_check_text(name, what, max, err);

	if (st)
		return st;
	/* The server strips or refuses these, and then it would not be the name that was asked for.
	 */
	if (memchr(name.data, '/', name.len) || ((const char *)name.data)[name.len - 1] == ' ')
		return bk_fail(err, BK_INVALID, 0, "mysql: a %s with '/' or a blank at the end",
			       what);
	return BK_OK;
}

/* ---- Accounts ---------------------------------------------------------------------------------
 */

static bk_status make_account(struct bk_store *admin, MYSQL *conn, struct bk_slice user,
			      const char *host, struct bk_slice password, bool *made,
			      struct bk_error *err)
{
	struct bk_error failed = bk_error_init();
	bk_status st = my_run(admin, conn, "making an account", &failed,
			      "CREATE USER %b@%s IDENTIFIED BY %b", user, host, password);

	*made = st == BK_OK;
	if (!st || failed.vendor_code == ER_CANNOT_USER_NUMBER)
		return BK_OK;
	*err = failed;
	return blot(st, err, password);
}

/* 'user'@'%' reaches everywhere, but an anonymous 'localhost' account of old installations comes
 * before it: hence one for localhost too, unless the user was there before. */
static bk_status make_accounts(struct bk_store *admin, MYSQL *conn, struct my_place *p,
			       struct bk_slice password, struct bk_error *err)
{
	bool made;
	bk_status st = make_account(admin, conn, p->user, "%", password, &made, err);

	if (st || !made)
		return st;
	p->owned = MY_OWNED_ANY;
	st = my_place_write_mark(admin, conn, p, err);
	if (!st)
		st = make_account(admin, conn, p->user, "localhost", password, &made, err);
	if (st || !made)
		return st;
	p->owned |= MY_OWNED_LOCAL;
	return my_place_write_mark(admin, conn, p, err);
}

static bk_status grant(struct bk_store *admin, MYSQL *conn, const struct my_place *p,
		       struct bk_error *err)
{
	bk_status st = my_run(admin, conn, "granting", err, "GRANT ALL PRIVILEGES ON %g.* TO %b@%s",
			      p->name, p->user, "%");

	if (!st && (p->owned & MY_OWNED_LOCAL))
		st = my_run(admin, conn, "granting", err, "GRANT ALL PRIVILEGES ON %g.* TO %b@%s",
			    p->name, p->user, "localhost");
	return st;
}

static bk_status drop_accounts(struct bk_store *admin, MYSQL *conn, const struct my_place *p,
			       struct bk_error *err)
{
	bk_status st = BK_OK;

	if (p->owned & MY_OWNED_LOCAL)
		st = my_run(admin, conn, "dropping an account", err, "DROP USER IF EXISTS %b@%s",
			    p->user, "localhost");
	if (!st && (p->owned & MY_OWNED_ANY))
		st = my_run(admin, conn, "dropping an account", err, "DROP USER IF EXISTS %b@%s",
			    p->user, "%");
	return st;
}

/* A client that was left connected would hold the database. */
static bk_status drop_clients(struct bk_store *admin, MYSQL *conn, struct bk_slice name,
			      struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st = my_ask(&rows, admin, conn, "looking for clients", err,
			      "SELECT ID FROM information_schema.PROCESSLIST WHERE DB=%b AND "
			      "ID<>CONNECTION_ID()",
			      name);

	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		uint64_t id = 0;
		const char *p;

		for (p = row[0]; p && *p >= '0' && *p <= '9'; p++)
			id = id * 10 + (uint64_t)(*p - '0');
		my_run(admin, conn, "ending a client", &ignored, "KILL %u", id);
	}
	mysql_free_result(rows);
	return BK_OK;
}

/* ---- Create --------------------------------------------------------------------- */

struct charset {
	char name[64], collation[96];
};

static bk_status charset_of(struct charset *out, struct bk_store *admin, MYSQL *conn,
			    struct bk_slice from, struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st;

	snprintf(out->name, sizeof(out->name), "utf8mb4");
	snprintf(out->collation, sizeof(out->collation), "%s",
		 admin->server.mariadb ? "utf8mb4_unicode_ci" : "utf8mb4_0900_ai_ci");
	if (from.len == 0)
		return BK_OK;
	st = my_ask(&rows, admin, conn, "reading the place to clone", err,
		    "SELECT DEFAULT_CHARACTER_SET_NAME,DEFAULT_COLLATION_NAME FROM "
		    "information_schema.SCHEMATA WHERE SCHEMA_NAME=%b",
		    from);
	if (st)
		return st;
	row = mysql_fetch_row(rows);
	if (row) {
		snprintf(out->name, sizeof(out->name), "%s", row[0]);
		snprintf(out->collation, sizeof(out->collation), "%s", row[1]);
	} else {
		st = bk_fail(err, BK_NOT_FOUND, 0, "mysql: place: there is no '%.*s' to clone",
			     (int)from.len, (const char *)from.data);
	}
	mysql_free_result(rows);
	return st;
}

static bk_status furnish(struct bk_store *admin, MYSQL *conn, struct my_place *p,
			 struct bk_slice password, struct bk_slice from, struct bk_error *err)
{
	bk_status st = p->user.len ? make_accounts(admin, conn, p, password, err) : BK_OK;

	if (!st && p->user.len)
		st = grant(admin, conn, p, err);
	if (!st && from.len)
		st = my_place_clone(admin, p->name, from, err);
	return st;
}

static bk_status place_create(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			      struct bk_slice user, struct bk_slice password, struct bk_slice from,
			      struct bk_error *err)
{
	struct my_place p = {.name = name, .mark = mark, .user = user, .marked = true};
	struct bk_error ignored = bk_error_init();
	struct charset charset;
	MYSQL *conn;
	bk_status st = check_name(name, "database name", 64, err);

	if (!st && user.len)
		st = check_name(user, "user name", 80, err);
	if (!st)
		st = my_control(&conn, admin, err);
	if (!st)
		st = charset_of(&charset, admin, conn, from, err);
	if (st)
		return st;
	p.created_unix_s = (uint64_t)time(NULL);
	st = my_place_make_database(admin, conn, &p, charset.name, charset.collation, err);
	if (st)
		return st;
	st = furnish(admin, conn, &p, password, from, err);
	if (st && !my_control(&conn, admin, &ignored)) {
		drop_accounts(admin, conn, &p, &ignored);
		my_place_drop_database(admin, conn, &p, &ignored);
	}
	return blot(st, err, password);
}

/* ---- Drop and list -------------------------------------------------------------- */

static bk_status place_drop(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			    struct bk_error *err)
{
	struct my_place p;
	MYSQL *conn;
	bk_status st = my_control(&conn, admin, err);

	my_arena_reset(&admin->views);
	if (!st)
		st = my_place_read(&p, admin, conn, name, err);
	if (st)
		return st;
	if (!p.marked || !bk_slice_eq(p.mark, mark))
		return bk_fail(err, BK_FOREIGN, 0,
			       "mysql: database '%.*s' does not bear this mark; it was not touched",
			       (int)name.len, (const char *)name.data);
	st = drop_accounts(admin, conn, &p, err);
	if (!st)
		st = drop_clients(admin, conn, name, err);
	return st ? st : my_place_drop_database(admin, conn, &p, err);
}

struct listing {
	struct bk_place *out;
	size_t cap, n;
};

static void list_one(void *ctx, const struct my_place *p)
{
	struct listing *l = ctx;

	if (l->n < l->cap) {
		l->out[l->n].name = p->name;
		l->out[l->n].mark = p->mark;
		l->out[l->n].created_unix_s = p->created_unix_s;
	}
	l->n++;
}

/* Views: until the next call on the store. */
static bk_status place_list(struct bk_store *admin, struct bk_place *out, size_t cap, size_t *n,
			    struct bk_error *err)
{
	struct listing l = {out, cap, 0};
	MYSQL *conn;
	bk_status st = my_control(&conn, admin, err);

	my_arena_reset(&admin->views);
	if (!st)
		st = my_place_each(admin, conn, list_one, &l, err);
	if (!st)
		*n = l.n;
	return st;
}

/* ---- The table: each operation with SIGPIPE held back ------------------------------------------
 */

static bk_status quiet_create(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			      struct bk_slice user, struct bk_slice password, struct bk_slice from,
			      struct bk_error *err)
{
	struct my_pipe pipe;
	bk_status st;

	my_pipe_hold(&pipe, admin);
	st = place_create(admin, name, mark, user, password, from, err);
	my_pipe_release(&pipe);
	return st;
}

static bk_status quiet_drop(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			    struct bk_error *err)
{
	struct my_pipe pipe;
	bk_status st;

	my_pipe_hold(&pipe, admin);
	st = place_drop(admin, name, mark, err);
	my_pipe_release(&pipe);
	return st;
}

static bk_status quiet_list(struct bk_store *admin, struct bk_place *out, size_t cap, size_t *n,
			    struct bk_error *err)
{
	struct my_pipe pipe;
	bk_status st;

	my_pipe_hold(&pipe, admin);
	st = place_list(admin, out, cap, n, err);
	my_pipe_release(&pipe);
	return st;
}

const struct bk_place_ops my_place_ops = {
	.struct_size = sizeof(struct bk_place_ops),
	.create = quiet_create,
	.drop = quiet_drop,
	.list = quiet_list,
};
