/*
 * test_refusals.c - what the backend will not touch, and what it says when a server refuses it.
 */
#include "my.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANARY "cAnArY0secret0cAnArY"

static void foreign_tables_are_left_alone(void **state)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_layered *l = store_open("foreign", NULL);
	struct bk_session *s;

	sql(admin, "CREATE TABLE foreign_node SELECT 42 AS answer");
	wants(BK_FOREIGN, l->tables.store.make(l->store, E));
	says("foreign_node");
	wants(BK_FOREIGN, l->tables.store.clear(l->store, E));
	wants(BK_FOREIGN, l->tables.store.unmake(l->store, E));
	wants(BK_FOREIGN, l->tables.session.open(&s, l->store, &config, E));
	assert_string_equal(sql(admin, "SELECT answer FROM foreign_node"), "42");
	sql(admin,
	    "CREATE TABLE foreign_mark (k INT) COMMENT='bakeoff layout=relational mark=mine'");
	wants(BK_FOREIGN, l->tables.store.unmake(l->store, E));
	says("another mark");
	sql(admin, "DROP TABLE foreign_node, foreign_mark");
	store_close(l);
}

static void other_tables_are_kept(void **state)
{
	struct bk_layered *l = store_made("guest", NULL);

	sql(admin, "CREATE TABLE guest_theirs SELECT 7 AS n");
	store_done(l);
	assert_string_equal(sql(admin, "SELECT n FROM guest_theirs"), "7");
	sql(admin, "DROP TABLE guest_theirs");
}

static void layouts_do_not_mix(void **state)
{
	static const char *const document[] = {"layout=document", NULL};
	struct bk_layered *l = store_made("mixed", NULL), *other;

	other = store_open("mixed", document);
	wants(BK_STATE, other->tables.store.make(other->store, E));
	says("layout=relational");
	ok(other->tables.store.unmake(other->store, E)); /* whatever it was made with */
	store_close(other);
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM information_schema.TABLES WHERE "
				       "TABLE_NAME LIKE 'mixed\\_%%'"),
			    "0");
	store_close(l);
}

static void refused_connections_say_why(void **state)
{
	static const char *const password[] = {"password=" CANARY, NULL};
	static const char *const database[] = {"database=no-such; db", NULL};
	static const char *const nobody[] = {"socket=", "host=127.0.0.1", "port=1", NULL};
	static const char *const nowhere[] = {"socket=/nowhere/at.all", NULL};

	wants(BK_AUTH, try_open(password));
	says("Access denied");
	says("1045");
	says("28000");
	assert_string_equal(last_err.sqlstate, "28000");
	assert_int_equal(last_err.vendor_code, 1045);
	assert_null(strstr(last_err.message, CANARY));
	wants(BK_NOT_FOUND, try_open(database));
	says("1049");
	says("no-such; db");
	wants(BK_UNAVAILABLE, try_open(nobody));
	says("127.0.0.1:1");
	wants(BK_UNAVAILABLE, try_open(nowhere));
	says("/nowhere/at.all");
}

static void too_many_connections(void **state)
{
	static const char *const single[] = {"user=single", "password=xyz12", NULL};
	MYSQL *c;

	sql(admin,
	    "CREATE USER single@localhost IDENTIFIED BY 'xyz12' WITH MAX_USER_CONNECTIONS 1");
	sql(admin, "GRANT ALL ON test.* TO single@localhost");
	c = sql_open("test", "single", "xyz12");
	wants(BK_UNAVAILABLE, try_open(single));
	says("max_user_connections");
	assert_true(last_err.flags & BK_ERR_RETRY);
	mysql_close(c);
	while (strcmp(sql(admin, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE "
				 "USER='single'"),
		      "0"))
		;
	ok(try_open(single));
	sql(admin, "DROP USER single@localhost");
}

/* All of the server's connections are taken. */
static void no_connection_left(void **state)
{
	static const char *const guest[] = {"user=plain", "password=xyz12", NULL};
	MYSQL *taken[100] = {NULL};
	int i, n = atoi(sql(admin, "SELECT @@max_connections"));

	sql(admin, "CREATE USER plain@localhost IDENTIFIED BY 'xyz12'");
	sql(admin, "GRANT ALL ON test.* TO plain@localhost");
	assert_true(n <= 100);
	for (i = 0; i < n; i++) {
		taken[i] = mysql_init(NULL);
		if (!mysql_real_connect(taken[i], "localhost", "plain", "xyz12", "test", 0,
					socket_path, 0))
			break;
	}
	wants(BK_UNAVAILABLE, try_open(guest));
	says("Too many connections");
	says("1040");
	assert_true(last_err.flags & BK_ERR_RETRY);
	for (i = 0; i < 100 && taken[i]; i++)
		mysql_close(taken[i]);
	while (atoi(sql(admin, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE "
			       "USER='plain'")))
		;
	ok(try_open(guest));
	sql(admin, "DROP USER plain@localhost");
}

static void without_permission(void **state)
{
	static const char *const guest[] = {"user=guest", "password=xyz12", NULL};
	struct bk_slice none = bk_slice_of(NULL, 0);
	struct bk_layered *l;

	sql(admin, "CREATE USER guest@localhost IDENTIFIED BY 'xyz12'");
	sql(admin, "GRANT SELECT ON test.* TO guest@localhost");
	l = store_open("guest", guest);
	assert_false(l->native & BK_F_PLACES);
	wants(BK_AUTH, l->tables.store.make(l->store, E));
	says("denied");
	says("42000");
	wants(BK_AUTH, l->tables.place.create(l->store, bk_slice_str("theirs"),
					      bk_slice_str("mark"), none, none, none, E));
	says("1044");
	store_close(l);
	sql(admin, "DROP USER guest@localhost");
}

static bk_status durable(struct bk_layered *l, uint32_t level)
{
	struct bk_session_config config = {.struct_size = sizeof(config), .durability = level};
	struct bk_session *s;
	bk_status st = l->tables.session.open(&s, l->store, &config, E);

	if (st == BK_OK)
		l->tables.session.close(s);
	return st;
}

static void a_weaker_server_is_refused(void **state)
{
	struct bk_layered *l = store_made("durable", NULL);

	ok(durable(l, BK_DURABLE_MACHINE));
	sql(admin, "SET GLOBAL innodb_flush_log_at_trx_commit=2");
	wants(BK_UNSUPPORTED, durable(l, BK_DURABLE_MACHINE));
	says("innodb_flush_log_at_trx_commit=1");
	ok(durable(l, BK_DURABLE_PROCESS));
	sql(admin, "SET GLOBAL innodb_flush_log_at_trx_commit=0");
	wants(BK_UNSUPPORTED, durable(l, BK_DURABLE_PROCESS));
	says("innodb_flush_log_at_trx_commit=2 (or 1)");
	ok(durable(l, BK_DURABLE_NONE));
	sql(admin, "SET GLOBAL innodb_flush_log_at_trx_commit=1");
	ok(durable(l, BK_DURABLE_MACHINE));
	store_done(l);
}

static void no_database_named(void **state)
{
	static const char *const none[] = {"database=", NULL};
	struct bk_layered *l = store_open("none", none); /* for places that is enough */

	wants(BK_INVALID, l->tables.store.make(l->store, E));
	says("option 'database'");
	store_close(l);
}

static void no_password_in_any_message(void **state)
{
	static const char *const urls[] = {
		"mysql://me:" CANARY "%zz@127.0.0.1/x",
		"mysql://me:" CANARY "@127.0.0.1:" CANARY "/x",
		"mysql://me:" CANARY "@127.0.0.1/x?" CANARY "=1",
		"mysql://me:" CANARY "@127.0.0.1/x?tls=" CANARY,
		"mysql://me:" CANARY "@[::1/x",
		"mysql://me:" CANARY "@[::1]" CANARY "/x",
		"mysql://me:" CANARY "@127.0.0.1:1/x",
		"mariadb://me:" CANARY "@127.0.0.1:1/x",
		"postgresql://me:" CANARY "@127.0.0.1/x",
	};
	size_t i;

	for (i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		char set[200];
		const char *const sets[] = {"socket=", "user=", "password=", set, NULL};

		snprintf(set, sizeof(set), "url=%s", urls[i]);
		assert_true(try_open(sets) < 0);
		if (strstr(last_err.message, CANARY))
			fail_msg("%s", last_err.message);
	}
}

static void a_url_is_decoded(void **state)
{
	char set[600], place[500];
	const char *const sets[] = {"socket=", "user=", "password=", "database=", set, NULL};
	const char *folder = getenv("MYSQL_TEST_FOLDER");
	size_t n = 0;

	sql(admin, "CREATE USER `o'd@d`@localhost IDENTIFIED BY 'p@ss/w:rd?#%% '");
	sql(admin, "GRANT ALL ON test.* TO `o'd@d`@localhost");
	for (; *folder; folder++)
		n += (size_t)snprintf(place + n, sizeof(place) - n, "%%%02x",
				      (unsigned char)*folder);
	snprintf(
		set, sizeof(set),
		"url=mysql://o'd%%40d:p%%40ss%%2fw%%3Ard%%3f%%23%%25%%20@localhost/test?socket=%s%%2fsock",
		place);
	ok(try_open(sets));
	sql(admin, "DROP USER `o'd@d`@localhost");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_tables_are_left_alone),
		cmocka_unit_test(other_tables_are_kept),
		cmocka_unit_test(layouts_do_not_mix),
		cmocka_unit_test(refused_connections_say_why),
		cmocka_unit_test(too_many_connections),
		cmocka_unit_test(no_connection_left),
		cmocka_unit_test(without_permission),
		cmocka_unit_test(a_weaker_server_is_refused),
		cmocka_unit_test(no_database_named),
		cmocka_unit_test(no_password_in_any_message),
		cmocka_unit_test(a_url_is_decoded),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
