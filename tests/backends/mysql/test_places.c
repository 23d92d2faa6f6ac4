/*
 * test_places.c - databases made for others on a server that exists, under names that bite.
 */
#include "my.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "we\"ird'; DROP `x`; -- %s \xc3\xa4_"
#define USER "us\"er' \xc3\xbc"

static bk_status make(struct bk_layered *l, const char *name, const char *user,
		      const char *password, const char *from)
{
	return l->tables.place.create(l->store, bk_slice_str(name), bk_slice_str("mark's"),
				      bk_slice_str(user), bk_slice_str(password),
				      bk_slice_str(from), E);
}

static bk_status drop(struct bk_layered *l, const char *name)
{
	return l->tables.place.drop(l->store, bk_slice_str(name), bk_slice_str("mark's"), E);
}

static size_t listed(struct bk_layered *l, const char *name)
{
	struct bk_place places[100];
	size_t n, i, found = 0;

	ok(l->tables.place.list(l->store, places, 100, &n, E));
	for (i = 0; i < n && i < 100; i++) {
		if (!bk_slice_eq(places[i].name, bk_slice_str(name)))
			continue;
		found++;
		assert_true(bk_slice_eq(places[i].mark, bk_slice_str("mark's")));
		assert_true(places[i].created_unix_s > 1700000000);
	}
	return found;
}

static void names_that_bite(void **state)
{
	struct bk_layered *l = store_open("places", NULL);
	MYSQL *c;

	mysql_set_character_set(admin, "utf8mb4");
	ok(make(l, NAME, USER, "p%s's; word", ""));
	wants(BK_EXISTS, make(l, NAME, USER, "p", ""));
	assert_int_equal(listed(l, NAME), 1);
	c = mysql_init(NULL);
	mysql_options(c, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (!mysql_real_connect(c, "localhost", USER, "p%s's; word", NAME, 0, socket_path, 0))
		fail_msg("%s", mysql_error(c));
	assert_int_equal(sql_errno(c, "CREATE TABLE t SELECT 5 AS n"), 0);
	assert_int_equal(sql_errno(c, "SELECT * FROM mysql.user"), 1142);
	mysql_close(c);
	ok(drop(l, NAME));
	wants(BK_NOT_FOUND, drop(l, NAME));
	assert_int_equal(listed(l, NAME), 0);
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM mysql.user WHERE User LIKE 'us%%'"),
			    "0");
	store_close(l);
}

/* _ and % are wildcards in the names of a GRANT. */
static void grants_are_not_patterns(void **state)
{
	struct bk_layered *l = store_open("places", NULL);
	MYSQL *c;

	ok(make(l, "a_b", "narrow", "pw-narrow", ""));
	ok(make(l, "axb", "other", "pw-other", ""));
	c = sql_open("a_b", "narrow", "pw-narrow");
	assert_int_equal(sql_errno(c, "CREATE TABLE a_b.t (a INT)"), 0);
	assert_int_equal(sql_errno(c, "CREATE TABLE axb.t (a INT)"), 1142);
	assert_int_equal(sql_errno(c, "CREATE DATABASE more"), 1044);
	mysql_close(c);
	ok(drop(l, "a_b"));
	ok(drop(l, "axb"));
	store_close(l);
}

static void foreign_databases_stay(void **state)
{
	struct bk_layered *l = store_open("places", NULL);

	sql(admin, "CREATE DATABASE theirs COMMENT='bakeoff was here, says its owner'");
	wants(BK_FOREIGN, drop(l, "theirs"));
	says("theirs");
	wants(BK_EXISTS, make(l, "theirs", "", "", ""));
	assert_int_equal(listed(l, "theirs"), 0);
	sql(admin, "DROP DATABASE theirs");
	ok(make(l, "ours", "", "", ""));
	wants(BK_FOREIGN,
	      l->tables.place.drop(l->store, bk_slice_str("ours"), bk_slice_str("another"), E));
	ok(drop(l, "ours"));
	store_close(l);
}

static void accounts_that_were_there_stay(void **state)
{
	struct bk_layered *l = store_open("places", NULL);
	MYSQL *c;

	sql(admin, "CREATE USER keeper@'%%' IDENTIFIED BY 'old-password'");
	ok(make(l, "kept", "keeper", "new-password", ""));
	c = sql_open("kept", "keeper", "old-password");
	mysql_close(c);
	ok(drop(l, "kept"));
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM mysql.user WHERE User='keeper'"), "1");
	sql(admin, "DROP USER keeper@'%%'");
	store_close(l);
}

/* Whoever is connected, in the middle of a transaction too, is thrown out. */
static void clients_do_not_hold_a_place(void **state)
{
	struct bk_layered *l = store_open("places", NULL);
	MYSQL *c;

	ok(make(l, "busy", "busy", "pw-of-busy", ""));
	c = sql_open("busy", "busy", "pw-of-busy");
	sql(c, "CREATE TABLE t (a INT) ENGINE=InnoDB");
	sql(c, "START TRANSACTION");
	sql(c, "INSERT INTO t VALUES (1)");
	ok(drop(l, "busy"));
	assert_int_not_equal(sql_errno(c, "SELECT 1"), 0);
	mysql_close(c);
	store_close(l);
}

static void a_clone_has_everything(void **state)
{
	struct bk_layered *l = store_open("places", NULL);
	MYSQL *c;

	ok(make(l, "template", "cloner", "pw-of-cloner", ""));
	c = sql_open("template", "admin", PASSWORD);
	sql(c, "CREATE SEQUENCE s START WITH 100 CACHE 0");
	sql(c, "SELECT NEXTVAL(s)");
	sql(c, "CREATE TABLE `odd ``name` (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20),"
	       "w INT, twice INT AS (w * 2) STORED, KEY v (v)) AUTO_INCREMENT=40");
	sql(c, "INSERT INTO `odd ``name` (v, w) VALUES ('it''s; 100%%', 40), ('\xc3\xa4', 41)");
	sql(c, "CREATE TABLE child (p INT, FOREIGN KEY (p) REFERENCES `odd ``name` (id))");
	sql(c, "INSERT INTO child VALUES (40), (41)");
	sql(c, "CREATE TABLE log (n INT)");
	sql(c,
	    "CREATE TRIGGER tr AFTER INSERT ON child FOR EACH ROW INSERT INTO log VALUES (NEW.p)");
	sql(c, "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN (SELECT COUNT(*) FROM child)");
	sql(c, "CREATE PROCEDURE pr() BEGIN INSERT INTO log VALUES (-1); END");
	sql(c, "CREATE VIEW zz AS SELECT p FROM child");
	sql(c, "CREATE VIEW aa AS SELECT p, f() AS n FROM zz"); /* stands on a later name */
	sql(c, "CREATE EVENT ev ON SCHEDULE EVERY 1 DAY DO INSERT INTO log VALUES (-2)");
	mysql_close(c);

	ok(make(l, "copy", "cloner", "pw-of-cloner", "template"));
	wants(BK_NOT_FOUND, make(l, "more", "", "", "nothing-there"));
	wants(BK_NOT_FOUND, drop(l, "more"));
	c = sql_open("copy", "admin", PASSWORD);
	assert_string_equal(sql(c, "SELECT GROUP_CONCAT(v ORDER BY id) FROM `odd ``name`"),
			    "it's; 100%,\xc3\xa4");
	assert_string_equal(sql(c, "SELECT SUM(twice) FROM `odd ``name`"), "162");
	assert_string_equal(sql(c, "SELECT COUNT(*) FROM log"), "0"); /* no trigger fired */
	assert_string_equal(sql(c, "SELECT n FROM aa LIMIT 1"), "2");
	assert_string_equal(sql(c, "SELECT NEXTVAL(s)"), "101");
	sql(c, "INSERT INTO `odd ``name` (v) VALUES ('next')");
	assert_string_equal(sql(c, "SELECT MAX(id) FROM `odd ``name`"), "42");
	sql(c, "INSERT INTO child VALUES (42)");
	sql(c, "CALL pr()");
	assert_string_equal(sql(c, "SELECT GROUP_CONCAT(n ORDER BY n) FROM log"), "-1,42");
	assert_int_equal(sql_errno(c, "INSERT INTO child VALUES (9)"), 1452);
	assert_string_equal(sql(c, "SELECT COUNT(*) FROM information_schema.EVENTS WHERE "
				   "EVENT_SCHEMA='copy'"),
			    "1");
	assert_string_equal(sql(c, "SELECT COUNT(*) FROM template.log"), "0");
	mysql_close(c);
	ok(drop(l, "copy"));
	ok(drop(l, "template"));
	store_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_bite),
		cmocka_unit_test(grants_are_not_patterns),
		cmocka_unit_test(foreign_databases_stay),
		cmocka_unit_test(accounts_that_were_there_stay),
		cmocka_unit_test(clients_do_not_hold_a_place),
		cmocka_unit_test(a_clone_has_everything),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
