/*
 * test_inspect.c - what inspect tells, and what it warns of; settle; the counters of a session.
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	char text[60000]; /* a line each: name=value, !flag, kind:name */
	size_t len;
} said;

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(said.text + said.len, sizeof(said.text) - said.len, fmt, ap);
	va_end(ap);
	said.len += (size_t)n;
	assert_true(said.len < sizeof(said.text));
}

static void on_u64(void *ctx, const char *name, uint64_t v, const char *unit, uint32_t flags)
{
	note("%s=%llu%s\n", name, (unsigned long long)v, flags & BK_SINK_ESTIMATE ? "~" : "");
}

static void on_f64(void *ctx, const char *name, double v, const char *unit, uint32_t flags)
{
	note("%s=%g\n", name, v);
}

static void on_str(void *ctx, const char *name, const char *v)
{
	note("%s=%s\n", name, v);
}

static void on_begin(void *ctx, const char *kind, const char *name)
{
	note("%s:%s\n", kind, name);
}

static void on_end(void *ctx)
{
}

static void on_flag(void *ctx, const char *code, const char *text)
{
	note("!%s\n", code);
}

static const struct bk_sink sink = {.struct_size = sizeof(sink),
				    .put_u64 = on_u64,
				    .put_f64 = on_f64,
				    .put_str = on_str,
				    .begin = on_begin,
				    .end = on_end,
				    .flag = on_flag};

static void inspect(struct bk_layered *l, uint32_t what)
{
	said.len = 0;
	said.text[0] = '\0';
	ok(l->tables.store.inspect(l->store, what, &sink, E));
}

static void has(const char *line)
{
	if (!strstr(said.text, line))
		fail_msg("'%s' is not in:\n%s", line, said.text);
}

static void lacks(const char *line)
{
	if (strstr(said.text, line))
		fail_msg("'%s' is in:\n%s", line, said.text);
}

static uint64_t value(const char *name)
{
	const char *at = strstr(said.text, name);

	if (!at || at[strlen(name)] != '=')
		fail_msg("no '%s' in:\n%s", name, said.text);
	return strtoull(at + strlen(name) + 1, NULL, 10);
}

static void identity_and_flags(void **state)
{
	struct bk_layered *l = pg_store("inspect", NULL, BK_DURABLE_NONE);

	inspect(l, BK_INSPECT_IDENTITY);
	has("server.product=PostgreSQL\n");
	has("server.version=");
	has("setting:shared_buffers\nvalue=32MB\nsource=command line\n");
	has("!fsync-off\n"); /* as exec starts it */
	has("!full-page-writes-off\n");
	has("!synchronous-commit-off\n");
	lacks("!default-buffers\n");
	lacks("!pending-restart\n");
	sql(admin, "ALTER SYSTEM SET max_connections = 101");
	sql(admin, "SELECT pg_reload_conf()");
	while (strcmp(sql(admin, "SELECT pending_restart FROM pg_settings"
				 " WHERE name = 'max_connections'"),
		      "t") != 0)
		;
	inspect(l, BK_INSPECT_IDENTITY);
	has("!pending-restart\n");
	sql(admin, "ALTER SYSTEM RESET max_connections");
	sql(admin, "SELECT pg_reload_conf()");
	pg_store_close(l);
}

static void sizes(void **state)
{
	struct bk_layered *l = pg_store("inspect", NULL, BK_DURABLE_NONE);
	struct bk_session *s;
	char id[16];
	int i;

	inspect(l, BK_INSPECT_SIZE); /* not made: nothing of ours, and no error */
	lacks("table:");
	ok(l->tables.store.make(l->store, E));
	sql(admin, "ALTER TABLE bakeoff_inspect.node SET (autovacuum_enabled = off)");
	s = session(l, 0);
	for (i = 0; i < 50; i++) {
		snprintf(id, sizeof(id), "%d", i);
		put(l, s, id, "", "doc");
	}
	l->tables.session.close(s);
	inspect(l, BK_INSPECT_SIZE);
	has("!never-analysed\n");
	has("nodes.count=50~\n");
	has("table:node\n");
	has("index:node_children\n");
	assert_true(value("storage.bytes") >= 8192);
	assert_true(value("database.bytes") > value("storage.bytes"));
	ok(l->tables.store.settle(l->store, UINT64_C(30000000000), E));
	inspect(l, BK_INSPECT_SIZE);
	lacks("!never-analysed\n");
	ok(l->tables.store.unmake(l->store, E));
	pg_store_close(l);
}

static void counters(void **state)
{
	struct bk_layered *l = pg_store("inspect", NULL, BK_DURABLE_NONE);
	uint64_t inserted, bytes, requests;
	struct bk_session *s;
	char id[16];
	int i;

	ok(l->tables.store.make(l->store, E));
	s = session(l, 0);
	inspect(l, BK_INSPECT_COUNTERS);
	inserted = value("rows.inserted");
	bytes = value("log.position.bytes");
	said.len = 0;
	l->tables.session.counters(s, &sink);
	requests = value("requests");
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "%d", i);
		put(l, s, id, "", "doc");
	}
	said.len = 0;
	l->tables.session.counters(s, &sink);
	assert_int_equal(value("requests"), requests + 20); /* one round trip each */
	assert_true(value("bytes.sent") > 20 * 10);         /* over TCP the kernel counts */
	inspect(l, BK_INSPECT_COUNTERS);
	assert_true(value("rows.inserted") >= inserted + 20);
	assert_true(value("log.position.bytes") > bytes);
	value("locks.deadlocks");
	value("checkpoints.requested");
	l->tables.session.close(s);
	ok(l->tables.store.unmake(l->store, E));
	pg_store_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity_and_flags),
		cmocka_unit_test(sizes),
		cmocka_unit_test(counters),
	};

	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
