/*
 * test_places.c - databases made for others on a server that exists, under names that bite.
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "we\"ird'; DROP TABLE x; -- %s \xc3\xa4"
#define USER "us\"er' \xc3\xbc"

static const struct bk_slice none = {NULL, 0};

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

static void names_that_bite(void **state)
{
	struct bk_layered *l = pg_store("places", NULL, BK_DURABLE_NONE);
	struct bk_place places[100];
	size_t n, i, found = 0;
	PGconn *c;

	ok(make(l, NAME, USER, "p%s's; word", ""));
	wants(BK_EXISTS, make(l, NAME, USER, "p", ""));
	c = sql_open(NAME, USER, "p%s's; word");
	sql(c, "CREATE TABLE t AS SELECT 5 AS n"); /* it is the owner */
	PQfinish(c);
	/* Only the verifier has reached the server. */
	assert_memory_equal(
		sql(admin, "SELECT rolpassword FROM pg_authid WHERE rolname LIKE 'us%%'"),
		"SCRAM-SHA-256$", 14);
	ok(l->tables.place.list(l->store, places, 100, &n, E));
	for (i = 0; i < n; i++) {
		if (!bk_slice_eq(places[i].name, bk_slice_str(NAME)))
			continue;
		found++;
		assert_true(bk_slice_eq(places[i].mark, bk_slice_str("mark's")));
		assert_true(places[i].created_unix_s > 1700000000);
	}
	assert_int_equal(found, 1);
	ok(drop(l, NAME));
	wants(BK_NOT_FOUND, drop(l, NAME));
	assert_string_equal(sql(admin, "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'us%%'"),
			    "0");
	pg_store_close(l);
}

static void foreign_databases_stay(void **state)
{
	struct bk_layered *l = pg_store("places", NULL, BK_DURABLE_NONE);
	struct bk_place places[100];
	size_t n, i;

	sql(admin, "CREATE DATABASE theirs");
	sql(admin, "COMMENT ON DATABASE theirs IS 'bakeoff was here, says its owner'");
	wants(BK_FOREIGN, drop(l, "theirs"));
	says("theirs");
	wants(BK_EXISTS, make(l, "theirs", "", "", ""));
	ok(l->tables.place.list(l->store, places, 100, &n, E));
	for (i = 0; i < n; i++)
		assert_false(bk_slice_eq(places[i].name, bk_slice_str("theirs")));
	assert_string_equal(sql(admin, "SELECT count(*) FROM pg_database WHERE datname = 'theirs'"),
			    "1");
	sql(admin, "DROP DATABASE theirs");
	pg_store_close(l);
}

/* Its owner may do everything with what was cloned; whoever is connected is thrown out at drop. */
static void clones(void **state)
{
	struct bk_layered *l = pg_store("places", NULL, BK_DURABLE_NONE);
	PGconn *c;

	ok(make(l, "template_a", "owner_a", "a", ""));
	c = sql_open("template_a", "owner_a", "a");
	sql(c, "CREATE TABLE t AS SELECT generate_series(1, 10) AS n");
	PQfinish(c);
	ok(make(l, "clone_b", "owner_b", "b", "template_a"));
	c = sql_open("clone_b", "owner_b", "b");
	assert_string_equal(sql(c, "SELECT sum(n) FROM t"), "55");
	sql(c, "DELETE FROM t");
	sql(c, "ALTER TABLE t ADD COLUMN more text");
	ok(drop(l, "clone_b")); /* while c is connected */
	PQfinish(c);
	c = sql_open("template_a", "owner_a", "a");
	assert_string_equal(sql(c, "SELECT sum(n) FROM t"), "55");
	PQfinish(c);
	/* reset: the same owner once more */
	ok(make(l, "clone_b", "owner_a", "a", "template_a"));
	ok(drop(l, "clone_b"));
	assert_string_equal(sql(admin, "SELECT count(*) FROM pg_roles WHERE rolname = 'owner_a'"),
			    "1"); /* it still owns the template */
	ok(drop(l, "template_a"));
	assert_string_equal(
		sql(admin, "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'owner%%'"), "0");
	pg_store_close(l);
}

/* What dies between CREATE DATABASE and its comment is still known by its owner. */
static void half_made(void **state)
{
	struct bk_layered *l = pg_store("places", NULL, BK_DURABLE_NONE);

	ok(make(l, "half", "half_owner", "h", ""));
	sql(admin, "COMMENT ON DATABASE half IS NULL");
	ok(drop(l, "half"));
	/* A role that was there before is nobody's to drop. */
	sql(admin, "CREATE ROLE before LOGIN");
	ok(make(l, "half", "before", "h", ""));
	ok(drop(l, "half"));
	assert_string_equal(sql(admin, "SELECT count(*) FROM pg_roles WHERE rolname = 'before'"),
			    "1");
	sql(admin, "DROP ROLE before");
	wants(BK_NOT_FOUND, make(l, "half", "half_owner", "h", "no such template"));
	assert_string_equal(
		sql(admin, "SELECT count(*) FROM pg_roles WHERE rolname = 'half_owner'"), "0");
	pg_store_close(l);
	(void)none;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_bite),
		cmocka_unit_test(foreign_databases_stay),
		cmocka_unit_test(clones),
		cmocka_unit_test(half_made),
	};

	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
