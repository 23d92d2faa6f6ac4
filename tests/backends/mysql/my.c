/*
 * my.c - see my.h.
 */
#include "my.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MYSQL *admin;
static struct bk_plugin *plugin;
char socket_path[400];

struct kept {
	struct bk_options *options;
	struct bk_layered *store;
};
static struct kept kept[32];

void says(const char *part)
{
	if (!strstr(last_err.message, part))
		fail_msg("'%s' lacks '%s'", last_err.message, part);
	if (strstr(last_err.message, PASSWORD))
		fail_msg("the password: %s", last_err.message);
}

static struct bk_options *options(const char *const *sets)
{
	struct bk_options *o;

	ok(bk_options_new(&o, &plugin->desc, E));
	ok(bk_options_set(o, "socket", socket_path, BK_FROM_USER, E));
	ok(bk_options_set(o, "database", "test", BK_FROM_USER, E));
	ok(bk_options_set(o, "user", "admin", BK_FROM_USER, E));
	ok(bk_options_set(o, "password", PASSWORD, BK_FROM_USER, E));
	for (; sets && *sets; sets++)
		ok(bk_options_set_pair(o, *sets, BK_FROM_USER, E));
	return o;
}

struct bk_layered *store_open(const char *space, const char *const *sets)
{
	size_t i = 0;

	while (kept[i].store)
		i++;
	kept[i].options = options(sets);
	ok(bk_open(&kept[i].store, plugin, kept[i].options, space, NULL, BK_DURABLE_NONE,
		   BK_OPEN_CHECK, E));
	return kept[i].store;
}

struct bk_layered *store_made(const char *space, const char *const *sets)
{
	struct bk_layered *l = store_open(space, sets);

	ok(l->tables.store.unmake(l->store, E));
	ok(l->tables.store.make(l->store, E));
	return l;
}

void store_close(struct bk_layered *l)
{
	size_t i = 0;

	while (kept[i].store != l)
		i++;
	bk_close(l);
	bk_options_free(kept[i].options);
	memset(&kept[i], 0, sizeof(kept[i]));
}

void store_done(struct bk_layered *l)
{
	ok(l->tables.store.unmake(l->store, E));
	store_close(l);
}

bk_status try_open(const char *const *sets)
{
	struct bk_options *o = options(sets);
	struct bk_layered *l = NULL;
	bk_status st = bk_open(&l, plugin, o, "refused", NULL, BK_DURABLE_NONE, 0, E);

	if (st == BK_OK)
		bk_close(l);
	bk_options_free(o);
	return st;
}

/* ---- The client library -------------------------------------------------------- */

MYSQL *sql_open(const char *database, const char *user, const char *password)
{
	MYSQL *c = mysql_init(NULL);

	if (!mysql_real_connect(c, "localhost", user, password, database, 0, socket_path, 0))
		fail_msg("%s", mysql_error(c));
	return c;
}

unsigned sql_errno(MYSQL *c, const char *text)
{
	MYSQL_RES *rows;

	if (mysql_query(c, text))
		return mysql_errno(c);
	rows = mysql_store_result(c);
	if (rows)
		mysql_free_result(rows);
	return 0;
}

const char *sql(MYSQL *c, const char *fmt, ...)
{
	static char value[2000];
	char text[4000];
	MYSQL_RES *rows;
	MYSQL_ROW row;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (mysql_query(c, text))
		fail_msg("%s: %s", text, mysql_error(c));
	rows = mysql_store_result(c);
	row = rows ? mysql_fetch_row(rows) : NULL;
	snprintf(value, sizeof(value), "%s", row && row[0] ? row[0] : "");
	if (rows)
		mysql_free_result(rows);
	return value;
}

int group_setup(void **state)
{
	const char *folder = getenv("MYSQL_TEST_FOLDER");

	last_err = bk_error_init();
	if (!folder) {
		print_error("no server: with-server.sh this program\n");
		return -1;
	}
	snprintf(socket_path, sizeof(socket_path), "%s/sock", folder);
	if (bk_plugin_find(&plugin, "mysql", E) != BK_OK) {
		print_error("%s\n", last_err.message);
		return -1;
	}
	admin = sql_open("test", "admin", PASSWORD);
	return 0;
}

int group_teardown(void **state)
{
	mysql_close(admin);
	bk_plugin_free(plugin);
	return 0;
}
