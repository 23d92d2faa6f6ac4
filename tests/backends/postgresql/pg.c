/*
 * pg.c - see pg.h.
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PGconn *admin;
static struct bk_plugin *plugin;

void says(const char *part)
{
	if (!strstr(last_err.message, part))
		fail_msg("'%s' lacks '%s'", last_err.message, part);
}

struct bk_options *pg_options(const char *const *sets)
{
	struct bk_options *o;

	ok(bk_options_new(&o, &plugin->desc, E));
	ok(bk_options_set(o, "host", getenv("PGHOST"), BK_FROM_USER, E));
	ok(bk_options_set(o, "port", getenv("PGPORT"), BK_FROM_USER, E));
	ok(bk_options_set(o, "database", getenv("PGDATABASE"), BK_FROM_USER, E));
	ok(bk_options_set(o, "user", getenv("PGUSER"), BK_FROM_USER, E));
	ok(bk_options_set(o, "password", getenv("BAKEOFF_POSTGRESQL_PASSWORD"), BK_FROM_USER, E));
	for (; sets && *sets; sets++)
		ok(bk_options_set_pair(o, *sets, BK_FROM_USER, E));
	return o;
}

static struct bk_options *kept[64];
static struct bk_layered *kept_for[64];

struct bk_layered *pg_store(const char *space, const char *const *sets, uint32_t durability)
{
	struct bk_options *o = pg_options(sets);
	struct bk_layered *l;
	size_t i = 0;

	ok(bk_open(&l, plugin, o, space, NULL, durability, BK_OPEN_CHECK, E));
	while (kept[i])
		i++;
	kept[i] = o;
	kept_for[i] = l;
	return l;
}

void pg_store_close(struct bk_layered *l)
{
	size_t i = 0;

	while (kept_for[i] != l)
		i++;
	bk_close(l);
	bk_options_free(kept[i]);
	kept[i] = NULL;
	kept_for[i] = NULL;
}

static bk_status pg_try(struct bk_options *o)
{
	struct bk_layered *l = NULL;
	bk_status st = bk_open(&l, plugin, o, "refused", NULL, BK_DURABLE_NONE, 0, E);

	if (st == BK_OK)
		bk_close(l);
	bk_options_free(o);
	return st;
}

bk_status pg_try_store(const char *const *sets)
{
	return pg_try(pg_options(sets));
}

bk_status pg_try_url(const char *url)
{
	struct bk_options *o;

	ok(bk_options_new(&o, &plugin->desc, E));
	ok(bk_options_set(o, "url", url, BK_FROM_USER, E));
	return pg_try(o);
}

/* ---- libpq ------------------------------------------------------------------------------ */

PGconn *sql_open(const char *database, const char *user, const char *password)
{
	const char *keys[] = {"host", "port", "dbname", "user", "password", NULL};
	const char *values[] = {getenv("PGHOST"), getenv("PGPORT"), database, user, password, NULL};
	PGconn *c = PQconnectdbParams(keys, values, 0);

	if (PQstatus(c) != CONNECTION_OK)
		fail_msg("%s", PQerrorMessage(c));
	return c;
}

const char *sql(PGconn *c, const char *fmt, ...)
{
	static char value[1000];
	char text[4000];
	PGresult *res;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	res = PQexec(c, text);
	if (PQresultStatus(res) != PGRES_COMMAND_OK && PQresultStatus(res) != PGRES_TUPLES_OK)
		fail_msg("%s: %s", text, PQerrorMessage(c));
	snprintf(value, sizeof(value), "%s",
		 PQntuples(res) > 0 && PQnfields(res) > 0 ? PQgetvalue(res, 0, 0) : "");
	PQclear(res);
	return value;
}

int pg_group_setup(void **state)
{
	last_err = bk_error_init();
	if (!getenv("BAKEOFF_POSTGRESQL_PASSWORD")) {
		print_error("no server: bakeoff exec postgresql --tcp -- this program\n");
		return -1;
	}
	if (bk_plugin_find(&plugin, "postgresql", E) != BK_OK) {
		print_error("%s\n", last_err.message);
		return -1;
	}
	admin = sql_open(getenv("PGDATABASE"), getenv("PGUSER"),
			 getenv("BAKEOFF_POSTGRESQL_PASSWORD"));
	sql(admin, "SET client_min_messages = error");
	return 0;
}

int pg_group_teardown(void **state)
{
	PQfinish(admin);
	bk_plugin_free(plugin);
	return 0;
}
