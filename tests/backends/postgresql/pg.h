/*
 * pg.h - what the tests of the postgresql backend share: the server that `bakeoff exec` has
 * started, through the backend and, beside it, through libpq.
 */
#ifndef BK_TESTS_PG_H
#define BK_TESTS_PG_H

#include "../session.h"

#include <libpq-fe.h>

/* The error's line holds this. */
void says(const char *part);

/* `sets`: "option=value" pairs over those that lead to the server; ends with NULL. */
struct bk_options *pg_options(const char *const *sets);
struct bk_layered *pg_store(const char *space, const char *const *sets, uint32_t durability);
void pg_store_close(struct bk_layered *l); /* with its options */
/* What bk_open() answers, for what is to be refused; the error in last_err. */
bk_status pg_try_store(const char *const *sets);
bk_status pg_try_url(const char *url); /* and nothing but the URL */

/* The server by libpq: as the superuser, or as somebody else in some database. */
PGconn *sql_open(const char *database, const char *user, const char *password);
/* First column of the first row, "" when there is none; fails the test on an error. */
const char *sql(PGconn *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
extern PGconn *admin;
int pg_group_setup(void **state);
int pg_group_teardown(void **state);

#endif
