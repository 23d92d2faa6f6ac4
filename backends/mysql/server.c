/*
 * server.c - what server this is, and what its settings promise.
 *
 * The one invariant: durability is what the server's variables say now, never what was asked for.
 * innodb_flush_log_at_trx_commit and sync_binlog are global only: no session can raise them.
 */
#include "my.h"

#include <stdlib.h>

static bool yes(const char *v)
{
	return !strcmp(v, "ON") || !strcmp(v, "1") || !strcmp(v, "YES");
}

static uint32_t isolation_of(const char *v)
{
	if (!strcmp(v, "READ-UNCOMMITTED"))
		return 0;
	if (!strcmp(v, "READ-COMMITTED"))
		return BK_ISO_READ_COMMITTED;
	if (!strcmp(v, "SERIALIZABLE"))
		return BK_ISO_SERIALIZABLE;
	return BK_ISO_REPEATABLE_READ;
}

static void take(struct my_server *out, const char *name, const char *value)
{
	if (!strcmp(name, "innodb_flush_log_at_trx_commit"))
		out->flush_at_commit = (uint32_t)atoi(value);
	else if (!strcmp(name, "sync_binlog"))
		out->sync_binlog = (uint32_t)atoi(value);
	else if (!strcmp(name, "log_bin"))
		out->log_bin = yes(value);
	else if (!strcmp(name, "innodb_doublewrite"))
		out->doublewrite = strcmp(value, "OFF") && strcmp(value, "0");
	else if (!strcmp(name, "innodb_flush_method"))
		out->flush_nosync = !strcmp(value, "nosync") || !strcmp(value, "littlesync");
	else if (!strcmp(name, "innodb_snapshot_isolation"))
		out->has_snapshot = true;
	else if (!strcmp(name, "tx_isolation") || !strcmp(name, "transaction_isolation"))
		out->isolation = isolation_of(value);
	else if (!strcmp(name, "max_connections"))
		out->connections = (uint32_t)atoi(value);
	else if (!strcmp(name, "max_allowed_packet"))
		out->packet_bytes = strtoull(value, NULL, 10);
}

bk_status my_server_read(struct my_server *out, struct bk_store *store, MYSQL *conn,
			 struct bk_error *err)
{
	unsigned long version = mysql_get_server_version(conn);
	MYSQL_RES *rows;
	MYSQL_ROW row;

	memset(out, 0, sizeof(*out));
	out->version = (uint32_t)version;
	out->mariadb = strstr(mysql_get_server_info(conn), "MariaDB") != NULL;
	out->doublewrite = true;
	out->isolation = BK_ISO_REPEATABLE_READ;
	out->packet_bytes = 16u << 20;
	/* SHOW lists those that this version has; asking for one by name would be an error. */
	if (mysql_query(
		    conn,
		    "SHOW VARIABLES WHERE Variable_name IN ("
		    "'innodb_flush_log_at_trx_commit','sync_binlog','log_bin',"
		    "'max_connections','innodb_doublewrite','innodb_flush_method','max_allowed_packet',"
		    "'innodb_snapshot_isolation','tx_isolation','transaction_isolation')"))
		return my_fail_conn(err, store, conn, "reading the server's settings");
	rows = mysql_store_result(conn);
	if (!rows)
		return my_fail_conn(err, store, conn, "reading the server's settings");
	while ((row = mysql_fetch_row(rows)) != NULL) {
		if (row[0] && row[1])
			take(out, row[0], row[1]);
	}
	mysql_free_result(rows);
	return BK_OK;
}

uint32_t my_server_durability(const struct my_server *server)
{
	if (server->flush_at_commit == 0)
		return BK_DURABLE_NONE;
	if (server->flush_at_commit == 2 || server->flush_nosync)
		return BK_DURABLE_PROCESS;
	/* With a binary log, recovery takes back what did not reach it. */
	if (server->log_bin && server->sync_binlog != 1)
		return BK_DURABLE_PROCESS;
	return BK_DURABLE_MACHINE;
}

bk_status my_server_check(const struct my_server *server, uint32_t durability, struct bk_error *err)
{
	static const char *const names[] = {"none", "process", "machine"};
	const char *wanted = names[durability <= 2 ? durability : 2];

	if (my_server_durability(server) >= durability)
		return BK_OK;
	if (server->flush_at_commit == 0 || (server->flush_at_commit == 2 && durability == 2))
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "mysql: durability '%s' needs the server setting "
			       "innodb_flush_log_at_trx_commit=%s, and it is %u; set it on the "
			       "server (no session can), or ask for less",
			       wanted, durability == 2 ? "1" : "2 (or 1)",
			       (unsigned)server->flush_at_commit);
	if (server->flush_nosync)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "mysql: durability '%s' needs another innodb_flush_method than the "
			       "server's, which never syncs; set it on the server, or ask for less",
			       wanted);
	return bk_fail(
		err, BK_UNSUPPORTED, 0,
		"mysql: durability '%s' needs the server setting sync_binlog=1 while log_bin "
		"is on, and it is %u; set it on the server, or ask for less",
		wanted, (unsigned)server->sync_binlog);
}
