/*
 * test_refusals.c - what the backend will not touch, and what it says when a server refuses it.
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANARY "cAnArY0secret0cAnArY"

static void foreign_schema_is_left_alone(void **state)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_session *s;
	struct bk_layered *l;

	sql(admin, "CREATE SCHEMA bakeoff_foreign");
	sql(admin, "CREATE TABLE bakeoff_foreign.node AS SELECT 42 AS answer");
	l = pg_store("foreign", NULL, BK_DURABLE_NONE);
	wants(BK_FOREIGN, l->tables.store.make(l->store, E));
	says("bakeoff_foreign");
	wants(BK_FOREIGN, l->tables.store.clear(l->store, E));
	wants(BK_FOREIGN, l->tables.store.unmake(l->store, E));
	wants(BK_FOREIGN, l->tables.session.open(&s, l->store, &config, E));
	assert_string_equal(sql(admin, "SELECT answer FROM bakeoff_foreign.node"), "42");
	pg_store_close(l);
	sql(admin, "DROP SCHEMA bakeoff_foreign CASCADE");
}

static void other_tables_in_our_schema_are_kept(void **state)
{
	struct bk_layered *l = pg_store("guest", NULL, BK_DURABLE_NONE);

	ok(l->tables.store.make(l->store, E));
	sql(admin, "CREATE TABLE bakeoff_guest.theirs AS SELECT 7 AS n");
	assert_true(l->tables.store.unmake(l->store, E) < 0);
	says("2BP01");
	assert_string_equal(sql(admin, "SELECT n FROM bakeoff_guest.theirs"), "7");
	assert_string_equal(sql(admin, "SELECT to_regclass('bakeoff_guest.node') IS NOT NULL"),
			    "t"); /* all or nothing */
	sql(admin, "DROP TABLE bakeoff_guest.theirs");
	ok(l->tables.store.unmake(l->store, E));
	pg_store_close(l);
}

static void layouts_do_not_mix(void **state)
{
	static const char *const document[] = {"layout=document", NULL};
	static const char *const large[] = {"binaries=large-object", NULL};
	struct bk_layered *l = pg_store("mixed", NULL, BK_DURABLE_NONE), *other;

	ok(l->tables.store.make(l->store, E));
	other = pg_store("mixed", document, BK_DURABLE_NONE);
	wants(BK_STATE, other->tables.store.make(other->store, E));
	says("layout=relational");
	pg_store_close(other);
	other = pg_store("mixed", large, BK_DURABLE_NONE);
	wants(BK_STATE, other->tables.store.make(other->store, E));
	says("binaries=bytea");
	ok(other->tables.store.unmake(other->store, E)); /* whatever it was made with */
	pg_store_close(other);
	assert_string_equal(sql(admin, "SELECT count(*) FROM pg_namespace WHERE nspname = "
				       "'bakeoff_mixed'"),
			    "0");
	pg_store_close(l);
}

static void refused_connections_say_why(void **state)
{
	static const char *const password[] = {"password=" CANARY, NULL};
	static const char *const database[] = {"database=no-such; db", NULL};
	static const char *const nobody[] = {"host=127.0.0.1", "port=1", NULL};

	wants(BK_AUTH, pg_try_store(password));
	says("password authentication failed");
	says("28P01");
	assert_string_equal(last_err.sqlstate, "28P01");
	assert_null(strstr(last_err.message, CANARY));
	wants(BK_NOT_FOUND, pg_try_store(database));
	says("3D000");
	says("no-such; db");
	wants(BK_UNAVAILABLE, pg_try_store(nobody));
	says("127.0.0.1");
}

static void too_many_connections(void **state)
{
	static const char *const single[] = {"user=single", "password=x", NULL};
	PGconn *c;

	sql(admin, "CREATE ROLE single LOGIN PASSWORD 'x' CONNECTION LIMIT 1");
	c = sql_open(getenv("PGDATABASE"), "single", "x");
	wants(BK_UNAVAILABLE, pg_try_store(single));
	says("too many connections");
	says("53300");
	assert_true(last_err.flags & BK_ERR_RETRY);
	PQfinish(c);
	while (strcmp(sql(admin, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'single'"),
		      "0") != 0)
		;
	ok(pg_try_store(single));
	sql(admin, "DROP ROLE single");
}

static void without_permission(void **state)
{
	static const char *const guest[] = {"user=guest", "password=x", NULL};
	struct bk_slice none = bk_slice_of(NULL, 0);
	struct bk_layered *l;

	sql(admin, "CREATE ROLE guest LOGIN PASSWORD 'x'");
	l = pg_store("guest", guest, BK_DURABLE_NONE);
	wants(BK_AUTH, l->tables.store.make(l->store, E));
	says("permission denied");
	says("42501");
	wants(BK_AUTH, l->tables.place.create(l->store, bk_slice_str("theirs"),
					      bk_slice_str("mark"), none, none, none, E));
	says("42501");
	pg_store_close(l);
	sql(admin, "DROP ROLE guest");
}

static void a_weaker_server_is_refused(void **state)
{
	static const char *const buffers[] = {"shared-buffers=3MB", NULL};
	struct bk_session_config config = {.struct_size = sizeof(config),
					   .durability = BK_DURABLE_MACHINE};
	struct bk_layered *l = pg_store("durable", NULL, BK_DURABLE_MACHINE);
	struct bk_session *s;

	assert_string_equal(sql(admin, "SHOW fsync"), "off"); /* as exec starts it */
	ok(l->tables.store.make(l->store, E));
	wants(BK_UNSUPPORTED, l->tables.session.open(&s, l->store, &config, E));
	says("fsync");
	config.durability = BK_DURABLE_PROCESS;
	ok(l->tables.session.open(&s, l->store, &config, E));
	l->tables.session.close(s);
	ok(l->tables.store.unmake(l->store, E));
	pg_store_close(l);
	wants(BK_INVALID, pg_try_store(buffers));
	says("shared-buffers=3MB");
}

/* libpq quotes pieces of a URL that it cannot read. */
static void no_password_in_any_message(void **state)
{
	static const char *const urls[] = {
		"postgresql://me:" CANARY "%zz@127.0.0.1/x",
		"postgresql://me:" CANARY "@127.0.0.1:" CANARY "/x",
		"postgresql://me:" CANARY "@127.0.0.1/x?" CANARY "=1",
		"postgresql://me@127.0.0.1/x?password=" CANARY "&sslmode=nonsense",
		"postgresql://me:" CANARY "/" CANARY "@127.0.0.1:1/x",
		"postgresql://me:" CANARY "@" CANARY "@127.0.0.1:1/x",
		"postgresql://me:" CANARY "?" CANARY "@127.0.0.1:1/x",
		"mysql://me:" CANARY "@127.0.0.1/x",
		"postgresql://me:" CANARY "@127.0.0.1:1/x",
	};
	size_t i;

	for (i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		assert_true(pg_try_url(urls[i]) < 0);
		if (strstr(last_err.message, CANARY))
			fail_msg("%s", last_err.message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_schema_is_left_alone),
		cmocka_unit_test(other_tables_in_our_schema_are_kept),
		cmocka_unit_test(layouts_do_not_mix),
		cmocka_unit_test(refused_connections_say_why),
		cmocka_unit_test(too_many_connections),
		cmocka_unit_test(without_permission),
		cmocka_unit_test(a_weaker_server_is_refused),
		cmocka_unit_test(no_password_in_any_message),
	};

	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
