/*
 * inspect.c - what the server and the store say of themselves.
 *
 * Settings and counters are read by SHOW ... WHERE Variable_name IN (...): a name that this version
 * does not have is simply not among the answers.
 *
 * The one invariant: nothing is changed, and what the account may not see is left out.
 */
#include "my.h"

#include <stdlib.h>
#include <sys/vfs.h>

struct named {
	const char *from, *to, *unit;
};

/* ---- Identity ------------------------------------------------------------------- */

static const struct named settings[] = {
	{"version_comment", NULL, NULL},
	{"innodb_flush_log_at_trx_commit", NULL, NULL},
	{"innodb_flush_method", NULL, NULL},
	{"innodb_doublewrite", NULL, NULL},
	{"innodb_buffer_pool_size", NULL, NULL},
	{"innodb_log_file_size", NULL, NULL},
	{"innodb_redo_log_capacity", NULL, NULL},
	{"innodb_page_size", NULL, NULL},
	{"innodb_io_capacity", NULL, NULL},
	{"innodb_autoinc_lock_mode", NULL, NULL},
	{"innodb_lock_wait_timeout", NULL, NULL},
	{"innodb_snapshot_isolation", NULL, NULL},
	{"innodb_file_per_table", NULL, NULL},
	{"innodb_compression_algorithm", NULL, NULL},
	{"log_bin", NULL, NULL},
	{"sync_binlog", NULL, NULL},
	{"binlog_format", NULL, NULL},
	{"max_allowed_packet", NULL, NULL},
	{"max_connections", NULL, NULL},
	{"character_set_server", NULL, NULL},
	{"collation_server", NULL, NULL},
	{"tx_isolation", NULL, NULL},
	{"transaction_isolation", NULL, NULL},
	{"query_cache_type", NULL, NULL},
	{"performance_schema", NULL, NULL},
	{"sql_mode", NULL, NULL},
	{"datadir", NULL, NULL},
	{"tmpdir", NULL, NULL},
	{NULL, NULL, NULL},
};

static bk_status show(MYSQL_RES **out, struct bk_store *store, MYSQL *conn, const char *what,
		      const struct named *names, struct bk_error *err)
{
	struct my_text t = {.failed = false};

	my_text_add(&t, store, conn, "SHOW GLOBAL ");
	my_text_add(&t, store, conn, what);
	my_text_add(&t, store, conn, " WHERE Variable_name IN (''");
	for (; names->from; names++)
		my_text_add(&t, store, conn, ",%s", names->from);
	my_text_add(&t, store, conn, ")");
	return my_text_send(out, &t, store, conn, "inspect", err);
}

static void flag(const struct bk_sink *sink, const char *code, const char *text)
{
	sink->flag(sink->ctx, code, text);
}

static void flag_folder(const struct bk_sink *sink, const struct bk_store *store,
			const char *folder)
{
	struct statfs fs;

	/* Only where the server is surely on this machine. */
	if (!store->target.socket || !*store->target.socket || statfs(folder, &fs))
		return;
	if (fs.f_type == 0x01021994)
		flag(sink, "data-on-tmpfs",
		     "the data folder is in memory: nothing outlives a "
		     "power cut, and no disk is measured");
	if (fs.f_type == 0x794c7630)
		flag(sink, "data-on-overlay", "the data folder is on an overlay filesystem");
	if (fs.f_files && fs.f_ffree < fs.f_files / 50)
		flag(sink, "few-inodes", "fewer than 2 % of the data folder's inodes are free");
}

static void flag_setting(const struct bk_sink *sink, const struct bk_store *store, const char *name,
			 const char *value)
{
	if (!strcmp(name, "innodb_flush_log_at_trx_commit") && atoi(value) == 0)
		flag(sink, "flush-not-durable",
		     "innodb_flush_log_at_trx_commit=0: a commit may be lost when the server dies");
	if (!strcmp(name, "innodb_flush_log_at_trx_commit") && atoi(value) == 2)
		flag(sink, "flush-not-durable",
		     "innodb_flush_log_at_trx_commit=2: a commit may be lost in a power cut");
	if (!strcmp(name, "innodb_flush_method") && store->server.flush_nosync)
		flag(sink, "flush-not-durable", "innodb_flush_method never syncs");
	if (!strcmp(name, "sync_binlog") && store->server.log_bin && atoi(value) != 1)
		flag(sink, "binlog-not-durable",
		     "log_bin is on and sync_binlog is not 1: recovery takes back what the binary "
		     "log lost");
	if (!strcmp(name, "innodb_doublewrite") && !store->server.doublewrite)
		flag(sink, "doublewrite-off",
		     "innodb_doublewrite is off: a power cut may leave torn pages");
	if (!strcmp(name, "innodb_buffer_pool_size") &&
	    strtoull(value, NULL, 10) <= UINT64_C(134217728))
		flag(sink, "default-buffers",
		     "innodb_buffer_pool_size is 128 MiB or less, the default");
	if (!strcmp(name, "character_set_server") && !strncmp(value, "latin1", 6))
		flag(sink, "charset-latin1",
		     "character_set_server is latin1; the store's own tables are utf8mb4");
	if (!strcmp(name, "query_cache_type") && strcmp(value, "OFF"))
		flag(sink, "query-cache-on",
		     "the query cache is on: repeated reads measure it, not the store");
	if (!strcmp(name, "datadir"))
		flag_folder(sink, store, value);
}

/* Where a setting comes from, where the server says it: MariaDB's SYSTEM_VARIABLES. */
static bk_status put_origins(struct bk_store *store, MYSQL *conn, const struct bk_sink *sink,
			     struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st;
	char name[128];
	size_t i;

	if (!store->server.mariadb)
		return BK_OK;
	st = my_ask(&rows, store, conn, "inspect", err,
		    "SELECT LOWER(VARIABLE_NAME),GLOBAL_VALUE_ORIGIN FROM "
		    "information_schema.SYSTEM_VARIABLES WHERE GLOBAL_VALUE_ORIGIN NOT IN "
		    "('COMPILE-TIME','AUTO')");
	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		for (i = 0; settings[i].from; i++) {
			if (row[0] && row[1] && !strcmp(row[0], settings[i].from)) {
				snprintf(name, sizeof(name), "origin.%s", row[0]);
				sink->put_str(sink->ctx, name, row[1]);
			}
		}
	}
	mysql_free_result(rows);
	return BK_OK;
}

static bk_status identity(struct bk_store *store, MYSQL *conn, const struct bk_sink *sink,
			  struct bk_error *err)
{
	const char *cipher = mysql_get_ssl_cipher(conn);
	MYSQL_RES *rows;
	MYSQL_ROW row;
	char name[128];
	bk_status st;

	sink->put_str(sink->ctx, "server.product", store->server.mariadb ? "MariaDB" : "MySQL");
	sink->put_str(sink->ctx, "server.version", mysql_get_server_info(conn));
	sink->put_str(sink->ctx, "client.library", MY_LIBRARY);
	sink->put_str(sink->ctx, "client.version", mysql_get_client_info());
	sink->put_str(sink->ctx, "connection.tls", cipher ? cipher : "off");
	st = show(&rows, store, conn, "VARIABLES", settings, err);
	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		if (!row[0] || !row[1])
			continue;
		snprintf(name, sizeof(name), "settings.%s", row[0]);
		sink->put_str(sink->ctx, name, row[1]);
		flag_setting(sink, store, row[0], row[1]);
	}
	mysql_free_result(rows);
	return put_origins(store, conn, sink, err);
}

/* ---- Sizes ------------------------------------------------------------------------------------
 */

static uint64_t num(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

static bk_status databases(struct bk_store *store, MYSQL *conn, const struct bk_sink *sink,
			   struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	uint64_t all = 0;
	bk_status st =
		my_ask(&rows, store, conn, "inspect", err,
		       "SELECT TABLE_SCHEMA,COUNT(*),CAST(SUM(COALESCE(DATA_LENGTH,0)+"
		       "COALESCE(INDEX_LENGTH,0)) AS UNSIGNED) FROM information_schema.TABLES "
		       "WHERE TABLE_SCHEMA NOT IN ('mysql','sys','information_schema',"
		       "'performance_schema') GROUP BY TABLE_SCHEMA");

	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		sink->begin(sink->ctx, "database", row[0]);
		sink->put_u64(sink->ctx, "tables", num(row[1]), "count", 0);
		sink->put_u64(sink->ctx, "bytes", num(row[2]), "bytes", BK_SINK_ESTIMATE);
		sink->end(sink->ctx);
		if (!store->target.database || !strcmp(row[0], store->target.database))
			all += num(row[2]);
	}
	mysql_free_result(rows);
	sink->put_u64(sink->ctx, "storage.bytes", all, "bytes", BK_SINK_ESTIMATE);
	return BK_OK;
}

static bk_status tables(struct bk_store *store, MYSQL *conn, const struct bk_sink *sink,
			struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st =
		my_ask(&rows, store, conn, "inspect", err,
		       "SELECT TABLE_NAME,TABLE_ROWS,DATA_LENGTH,INDEX_LENGTH,DATA_FREE,ENGINE,"
		       "ROW_FORMAT FROM information_schema.TABLES "
		       "WHERE TABLE_SCHEMA=DATABASE() AND TABLE_TYPE='BASE TABLE' "
		       "ORDER BY TABLE_NAME");

	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		sink->begin(sink->ctx, "table", row[0]);
		sink->put_u64(sink->ctx, "rows", num(row[1]), "count", BK_SINK_ESTIMATE);
		sink->put_u64(sink->ctx, "bytes.data", num(row[2]), "bytes", BK_SINK_ESTIMATE);
		sink->put_u64(sink->ctx, "bytes.indexes", num(row[3]), "bytes", BK_SINK_ESTIMATE);
		sink->put_u64(sink->ctx, "bytes.free", num(row[4]), "bytes", BK_SINK_ESTIMATE);
		sink->put_str(sink->ctx, "engine", row[5] ? row[5] : "");
		sink->put_str(sink->ctx, "row.format", row[6] ? row[6] : "");
		sink->end(sink->ctx);
	}
	mysql_free_result(rows);
	return BK_OK;
}

static bk_status indexes(struct bk_store *store, MYSQL *conn, const struct bk_sink *sink,
			 struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	char name[160];
	bk_status st = my_ask(&rows, store, conn, "inspect", err,
			      "SELECT TABLE_NAME,INDEX_NAME,MAX(CARDINALITY),"
			      "GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) "
			      "FROM information_schema.STATISTICS WHERE TABLE_SCHEMA=DATABASE() "
			      "GROUP BY TABLE_NAME,INDEX_NAME ORDER BY TABLE_NAME,INDEX_NAME");

	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		snprintf(name, sizeof(name), "%s.%s", row[0], row[1]);
		sink->begin(sink->ctx, "index", name);
		sink->put_str(sink->ctx, "columns", row[3] ? row[3] : "");
		sink->put_u64(sink->ctx, "keys", num(row[2]), "count", BK_SINK_ESTIMATE);
		sink->end(sink->ctx);
	}
	mysql_free_result(rows);
	return BK_OK;
}

static bk_status sizes(struct bk_store *store, MYSQL *conn, const struct bk_sink *sink,
		       struct bk_error *err)
{
	bk_status st = BK_OK;

	/* MySQL 8 answers from a cache of a day's age unless told otherwise. */
	if (!store->server.mariadb && store->server.version >= 80000)
		st = my_run(store, conn, "inspect", err,
			    "SET SESSION information_schema_stats_expiry=0");
	if (!st)
		st = databases(store, conn, sink, err);
	if (!st && store->target.database && *store->target.database) {
		st = tables(store, conn, sink, err);
		if (!st)
			st = indexes(store, conn, sink, err);
	}
	return st;
}

/* ---- Counters ------------------------------------------------------------------- */

static const struct named counters[] = {
	{"Uptime", "server.uptime.seconds", "count"},
	{"Threads_connected", "connections.open", "count"},
	{"Max_used_connections", "connections.most", "count"},
	{"Aborted_connects", "connections.refused", "count"},
	{"Questions", "requests", "count"},
	{"Com_commit", "transactions.commits", "count"},
	{"Com_rollback", "transactions.rollbacks", "count"},
	{"Slow_queries", "requests.slow", "count"},
	{"Bytes_received", "bytes.received", "bytes"},
	{"Bytes_sent", "bytes.sent", "bytes"},
	{"Innodb_buffer_pool_read_requests", "cache.reads", "count"},
	{"Innodb_buffer_pool_reads", "cache.misses", "count"},
	{"Innodb_buffer_pool_bytes_data", "cache.bytes", "bytes"},
	{"Innodb_buffer_pool_bytes_dirty", "cache.dirty.bytes", "bytes"},
	{"Innodb_buffer_pool_wait_free", "cache.waits", "count"},
	{"Innodb_data_read", "storage.read.bytes", "bytes"},
	{"Innodb_data_written", "storage.written.bytes", "bytes"},
	{"Innodb_os_log_written", "log.bytes", "bytes"},
	{"Innodb_log_waits", "log.waits", "count"},
	{"Innodb_log_writes", "log.writes", "count"},
	{"Innodb_os_log_fsyncs", "log.syncs", "count"},
	{"Innodb_data_fsyncs", "storage.syncs", "count"},
	{"Innodb_checkpoint_age", "checkpoint.age.bytes", "bytes"},
	{"Innodb_history_list_length", "purge.backlog", "count"},
	{"Innodb_row_lock_waits", "locks.waits", "count"},
	{"Innodb_row_lock_time", "locks.wait.ms", "count"},
	{"Innodb_row_lock_current_waits", "locks.waiting", "count"},
	{"Innodb_deadlocks", "locks.deadlocks", "count"},
	{"Innodb_rows_read", "rows.read", "count"},
	{"Innodb_rows_inserted", "rows.inserted", "count"},
	{"Innodb_rows_updated", "rows.updated", "count"},
	{"Innodb_rows_deleted", "rows.deleted", "count"},
	{"Binlog_group_commits", "binlog.groups", "count"},
	{"Binlog_bytes_written", "binlog.bytes", "bytes"},
	{"Created_tmp_disk_tables", "temporary.on.disk", "count"},
	{NULL, NULL, NULL},
};

struct syncs {
	uint64_t log, data, binlog, reads, misses;
	bool has_log;
};

static void take_counter(struct syncs *s, const char *name, uint64_t v)
{
	if (!strcmp(name, "Innodb_os_log_fsyncs")) {
		s->log = v;
		s->has_log = true;
	} else if (!strcmp(name, "Innodb_data_fsyncs")) {
		s->data = v;
	} else if (!strcmp(name, "Binlog_group_commits")) {
		s->binlog = v;
	} else if (!strcmp(name, "Innodb_buffer_pool_read_requests")) {
		s->reads = v;
	} else if (!strcmp(name, "Innodb_buffer_pool_reads")) {
		s->misses = v;
	}
}

static bk_status count(struct bk_store *store, MYSQL *conn, const struct bk_sink *sink,
		       struct bk_error *err)
{
	struct syncs s = {0};
	MYSQL_RES *rows;
	MYSQL_ROW row;
	size_t i;
	bk_status st = show(&rows, store, conn, "STATUS", counters, err);

	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		for (i = 0; counters[i].from && row[0] && row[1]; i++) {
			if (strcmp(row[0], counters[i].from))
				continue;
			sink->put_u64(sink->ctx, counters[i].to, num(row[1]), counters[i].unit, 0);
			take_counter(&s, row[0], num(row[1]));
		}
	}
	mysql_free_result(rows);
	if (s.reads)
		sink->put_f64(sink->ctx, "cache.hit.ratio",
			      1.0 - (double)s.misses / (double)s.reads, "ratio", 0);
	/* MariaDB 10.8 and later count the redo log's syncs among those of data. */
	s.log = s.has_log ? s.log : s.data;
	if (store->server.log_bin && store->server.sync_binlog == 1)
		s.log += s.binlog;
	sink->put_u64(sink->ctx, "durability.syncs", s.log, "count", 0);
	return BK_OK;
}

bk_status my_store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			   struct bk_error *err)
{
	MYSQL *conn;
	bk_status st = my_control(&conn, store, err);

	if (!st)
		st = my_server_read(&store->server, store, conn, err);
	if (!st && (what & BK_INSPECT_IDENTITY))
		st = identity(store, conn, sink, err);
	if (!st && (what & BK_INSPECT_SIZE))
		st = sizes(store, conn, sink, err);
	if (!st && (what & BK_INSPECT_COUNTERS))
		st = count(store, conn, sink, err);
	return st;
}
