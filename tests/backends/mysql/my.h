/*
 * my.h - what the tests of the mysql backend share: the server of with-server.sh, through the
 * backend and, beside it, through the client library.
 */
#ifndef BK_TESTS_MY_H
#define BK_TESTS_MY_H

#include "../session.h"

#include <mysql.h>

#define PASSWORD "admin-secret-Zq81"

void says(const char *part); /* the error's line holds this */

/* `sets`: "option=value" over those that lead to the server; ends with NULL; or NULL. */
struct bk_layered *store_open(const char *space, const char *const *sets);
struct bk_layered *store_made(const char *space, const char *const *sets);
void store_done(struct bk_layered *l); /* unmade and closed */
void store_close(struct bk_layered *l);
/* What open answers, for what is to be refused. */
bk_status try_open(const char *const *sets);

/* The server by the client library: as the administrator, or as somebody else in some database. */
extern MYSQL *admin;
extern char socket_path[400];
MYSQL *sql_open(const char *database, const char *user, const char *password);
/* First column of the first row, "" when there is none; fails the test on an error. */
const char *sql(MYSQL *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
unsigned sql_errno(MYSQL *c, const char *text); /* 0: it worked */
int group_setup(void **state);
int group_teardown(void **state);

#endif
