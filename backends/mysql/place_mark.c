/*
 * place_mark.c - the marks of places.
 *
 * MariaDB has comments on databases from 10.5 on: the mark comes into being with the database and
 * goes with it.  MySQL has none: there marks are rows of `bakeoff_places`.`place`, a database that
 * bakeoff makes on the first occasion and that holds nothing else.  A row is written after the
 * database was made, so that a database that somebody else makes is never taken for ours; a
 * crash in between leaves a database that nobody will drop, rather than one too many dropped.
 *
 * The one invariant: what stands in the mark was encoded, so that it is one line of ASCII words.
 */
#include "place.h"

#include <stdlib.h>

#define HEAD "bakeoff place created="

static bool has_comments(const struct bk_store *admin)
{
#ifdef MY_SIDE_TABLE /* to try the other way on a MariaDB server */
	(void)admin;
	return false;
#else
	return admin->server.mariadb && admin->server.version >= 100500;
#endif
}

/* "bakeoff place created=S owned=N user=U mark=M" */
static bk_status spell(char *out, size_t cap, const struct my_place *p, struct bk_error *err)
{
	char user[256], mark[600];

	if (p->user.len > 80 || p->mark.len > 190)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "mysql: place: a mark or user name too long for a comment");
	my_encode(user, sizeof(user), p->user);
	my_encode(mark, sizeof(mark), p->mark);
	snprintf(out, cap, HEAD "%llu owned=%u user=%s mark=%s",
		 (unsigned long long)p->created_unix_s, (unsigned)p->owned, user, mark);
	return BK_OK;
}

/* A word behind " key=", decoded, in the store's views. */
static struct bk_slice word(struct bk_store *admin, const char *text, const char *key)
{
	const char *p = strstr(text, key);
	struct bk_slice out = bk_slice_of(NULL, 0);
	size_t len;
	char *copy;

	if (!p)
		return out;
	p += strlen(key);
	len = strcspn(p, " ");
	copy = my_alloc(&admin->views, len + 1);
	if (!copy)
		return out;
	memcpy(copy, p, len);
	copy[len] = '\0';
	return bk_slice_of(copy, my_decode(copy));
}

static bk_status parse(struct my_place *out, struct bk_store *admin, const char *name,
		       const char *text, struct bk_error *err)
{
	memset(out, 0, sizeof(*out));
	if (!my_copy(&admin->views, &out->name, bk_slice_str(name)))
		return my_nomem(err);
	if (!text || strncmp(text, HEAD, strlen(HEAD)))
		return BK_OK;
	out->marked = true;
	out->created_unix_s = strtoull(text + strlen(HEAD), NULL, 10);
	out->owned = (uint32_t)strtoul(word(admin, text, " owned=").len
					       ? (const char *)word(admin, text, " owned=").data
					       : "0",
				       NULL, 10);
	out->user = word(admin, text, " user=");
	out->mark = word(admin, text, " mark=");
	return BK_OK;
}

/* ---- Rows beside ------------------------------------------------------------------------------
 */

static bk_status side_make(struct bk_store *admin, MYSQL *conn, struct bk_error *err)
{
	bk_status st = my_run(admin, conn, "keeping the places' marks", err,
			      "CREATE DATABASE IF NOT EXISTS bakeoff_places");

	return st ? st
		  : my_run(admin, conn, "keeping the places' marks", err,
			   "CREATE TABLE IF NOT EXISTS bakeoff_places.place ("
			   "name VARBINARY(64) NOT NULL PRIMARY KEY,"
			   "mark VARCHAR(1024) CHARACTER SET ascii NOT NULL) ENGINE=InnoDB");
}

/* Rows whose database is gone are no places; the answer is none where there is no table yet. */
static bk_status side_rows(MYSQL_RES **out, struct bk_store *admin, MYSQL *conn,
			   const struct bk_slice *name, struct bk_error *err)
{
	struct my_text t = {.failed = false};
	MYSQL_RES *rows;
	bk_status st = my_ask(&rows, admin, conn, "reading the places' marks", err,
			      "SELECT 1 FROM information_schema.TABLES WHERE "
			      "TABLE_SCHEMA='bakeoff_places' AND TABLE_NAME='place'");
	bool there;

	if (st)
		return st;
	there = mysql_num_rows(rows) > 0;
	mysql_free_result(rows);
	my_text_add(
		&t, admin, conn,
		there ? "SELECT s.SCHEMA_NAME,p.mark FROM information_schema.SCHEMATA s "
			"LEFT JOIN bakeoff_places.place p ON p.name=CAST(s.SCHEMA_NAME AS BINARY)"
		      : "SELECT s.SCHEMA_NAME,NULL FROM information_schema.SCHEMATA s");
	if (name)
		my_text_add(&t, admin, conn, " WHERE s.SCHEMA_NAME=%b", *name);
	my_text_add(&t, admin, conn, " ORDER BY s.SCHEMA_NAME");
	return my_text_send(out, &t, admin, conn, "reading the places' marks", err);
}

/* ---- Either way --------------------------------------------------------------------------------
 */

static bk_status rows_of(MYSQL_RES **out, struct bk_store *admin, MYSQL *conn,
			 const struct bk_slice *name, struct bk_error *err)
{
	struct my_text t = {.failed = false};

	if (!has_comments(admin))
		return side_rows(out, admin, conn, name, err);
	my_text_add(&t, admin, conn,
		    "SELECT SCHEMA_NAME,SCHEMA_COMMENT FROM information_schema.SCHEMATA");
	if (name)
		my_text_add(&t, admin, conn, " WHERE SCHEMA_NAME=%b", *name);
	my_text_add(&t, admin, conn, " ORDER BY SCHEMA_NAME");
	return my_text_send(out, &t, admin, conn, "reading the places' marks", err);
}

bk_status my_place_read(struct my_place *out, struct bk_store *admin, MYSQL *conn,
			struct bk_slice name, struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st = rows_of(&rows, admin, conn, &name, err);

	if (st)
		return st;
	row = mysql_fetch_row(rows);
	st = row ? parse(out, admin, row[0], row[1], err)
		 : bk_fail(err, BK_NOT_FOUND, 0, "mysql: place: there is no database '%.*s'",
			   (int)name.len, (const char *)name.data);
	mysql_free_result(rows);
	return st;
}

bk_status my_place_each(struct bk_store *admin, MYSQL *conn,
			void (*fn)(void *ctx, const struct my_place *p), void *ctx,
			struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st = rows_of(&rows, admin, conn, NULL, err);

	if (st)
		return st;
	while (!st && (row = mysql_fetch_row(rows)) != NULL) {
		struct my_place p;

		st = parse(&p, admin, row[0], row[1], err);
		if (!st && p.marked)
			fn(ctx, &p);
	}
	mysql_free_result(rows);
	return st;
}

bk_status my_place_make_database(struct bk_store *admin, MYSQL *conn, const struct my_place *p,
				 const char *charset, const char *collation, struct bk_error *err)
{
	struct my_text t = {.failed = false};
	char comment[1024];
	bk_status st = spell(comment, sizeof(comment), p, err);

	if (!st && !has_comments(admin))
		st = side_make(admin, conn, err);
	if (st)
		return st;
	my_text_add(&t, admin, conn, "CREATE DATABASE %n CHARACTER SET %s COLLATE %s", p->name,
		    charset, collation);
	if (has_comments(admin))
		my_text_add(&t, admin, conn, " COMMENT=%s", comment);
	st = my_text_send(NULL, &t, admin, conn, "making a database", err);
	if (!st && !has_comments(admin))
		st = my_place_write_mark(admin, conn, p, err);
	return st;
}

bk_status my_place_write_mark(struct bk_store *admin, MYSQL *conn, const struct my_place *p,
			      struct bk_error *err)
{
	char comment[1024];
	bk_status st = spell(comment, sizeof(comment), p, err);

	if (st)
		return st;
	if (has_comments(admin))
		return my_run(admin, conn, "marking a database", err,
			      "ALTER DATABASE %n COMMENT=%s", p->name, comment);
	return my_run(admin, conn, "marking a database", err,
		      "REPLACE INTO bakeoff_places.place (name,mark) VALUES (%b,%s)", p->name,
		      comment);
}

bk_status my_place_drop_database(struct bk_store *admin, MYSQL *conn, const struct my_place *p,
				 struct bk_error *err)
{
	bk_status st = my_run(admin, conn, "dropping a database", err, "DROP DATABASE %n", p->name);

	if (!st && !has_comments(admin))
		st = my_run(admin, conn, "dropping a database", err,
			    "DELETE FROM bakeoff_places.place WHERE name=%b", p->name);
	return st;
}
