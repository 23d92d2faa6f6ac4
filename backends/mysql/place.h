/*
 * place.h - where a place's mark is kept: place_mark.c for place.c.
 *
 * The one invariant: a place is what bears a mark in full; one that is half made bears none.
 */
#ifndef BK_MYSQL_PLACE_H
#define BK_MYSQL_PLACE_H

#include "my.h"

/* Which accounts create() made, one a host pattern. */
#define MY_OWNED_ANY   1u /* 'user'@'%' */
#define MY_OWNED_LOCAL 2u /* 'user'@'localhost' */

struct my_place {
	struct bk_slice name, mark, user; /* views: until the next call on the store */
	uint64_t created_unix_s;
	uint32_t owned;
	bool marked; /* a database of this name is there; this: and bears a mark of bakeoff */
};

/* MariaDB from 10.5 on: the database's own comment.  Else: a row in a table beside, in the database
 * `bakeoff_places`. */
bk_status my_place_make_database(struct bk_store *admin, MYSQL *conn, const struct my_place *p,
				 const char *charset, const char *collation, struct bk_error *err);
bk_status my_place_write_mark(struct bk_store *admin, MYSQL *conn, const struct my_place *p,
			      struct bk_error *err);
bk_status my_place_drop_database(struct bk_store *admin, MYSQL *conn, const struct my_place *p,
				 struct bk_error *err);
/* NOT_FOUND: no such database. */
bk_status my_place_read(struct my_place *out, struct bk_store *admin, MYSQL *conn,
			struct bk_slice name, struct bk_error *err);
bk_status my_place_each(struct bk_store *admin, MYSQL *conn,
			void (*fn)(void *ctx, const struct my_place *p), void *ctx,
			struct bk_error *err);

#endif
