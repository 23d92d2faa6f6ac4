/*
 * inspect.c - what server this is, what it runs with, how large the space is, and what will spoil a
 * measurement.
 *
 * The invariant: nothing is asked for by a name that some version lacks; settings and statistics
 * that the server does not have, or hides from this role, are left out.
 */
#include "pg.h"

#include <stdlib.h>

#define INS_DEFAULT_BUFFERS "128MB"

/* ---- columns to sink: the column's name is the value's name ----------------------------- */

static bool ins_ends_in(const char *name, const char *tail)
{
	size_t n = strlen(name), t = strlen(tail);

	return n >= t && strcmp(name + n - t, tail) == 0;
}

static const char *ins_text(const PGresult *res, int row, int field)
{
	return PQgetisnull(res, row, field) ? "" : PQgetvalue(res, row, field);
}

void pg_sink_result(const struct bk_sink *sink, const PGresult *res, int row, uint32_t flags)
{
	const char *name, *value;
	uint64_t bits;
	double real;
	int i;

	for (i = 0; i < PQnfields(res); i++) {
		if (PQgetisnull(res, row, i))
			continue;
		name = PQfname(res, i);
		value = PQgetvalue(res, row, i);
		if (PQftype(res, i) == PG_SQL_INT8) {
			sink->put_u64(sink->ctx, name, pg_get_u64(value),
				      ins_ends_in(name, "bytes") ? "bytes" : "count", flags);
		} else if (PQftype(res, i) == PG_SQL_FLOAT8) {
			bits = pg_get_u64(value);
			memcpy(&real, &bits, sizeof(real));
			sink->put_f64(sink->ctx, name, real, "ratio", flags);
		} else {
			sink->put_str(sink->ctx, name, value);
		}
	}
}

static bk_status ins_ask(struct bk_store *store, const char *sql, struct bk_error *err)
{
	struct pg_params p;

	pg_params_init(&p);
	pg_params_text(&p, store->schema);
	return pg_wire_ask_sql(&store->admin, sql, &p, "inspect", err);
}

/* ---- identity
 * ------------------------------------------------------------------------------------ */

static const char ins_server[] =
	"SELECT 'PostgreSQL'::text AS \"server.product\","
	" current_setting('server_version') AS \"server.version\","
	" version() AS \"server.build\", current_database()::text AS \"server.database\","
	" current_user::text AS \"server.user\", $1 AS \"space.schema\","
	" pg_encoding_to_char(encoding)::text AS \"server.encoding\","
	" datcollate::text AS \"server.collation\" FROM pg_database"
	" WHERE datname = current_database()";

/* The store's own connection has raised synchronous_commit: what others get is reset_val. */
static const char ins_settings[] =
	"SELECT name, CASE WHEN source = 'session' THEN reset_val ELSE current_setting(name) END AS value,"
	" CASE WHEN source = 'session' THEN 'server' ELSE source END AS source,"
	" sourcefile AS file, pending_restart::int::int8 AS pending FROM pg_settings"
	" WHERE $1 <> '' AND name = ANY ('{autovacuum,block_size,checkpoint_completion_target,"
	"checkpoint_timeout,data_checksums,data_directory,default_transaction_isolation,"
	"effective_cache_size,effective_io_concurrency,fsync,full_page_writes,huge_pages,io_method,"
	"jit,maintenance_work_mem,max_connections,max_wal_size,min_wal_size,random_page_cost,"
	"server_encoding,shared_buffers,shared_preload_libraries,ssl,synchronous_commit,"
	"synchronous_standby_names,temp_buffers,wal_buffers,wal_compression,wal_level,"
	"wal_sync_method,work_mem}') ORDER BY name";

enum { INS_NAME, INS_VALUE, INS_SOURCE, INS_FILE, INS_PENDING };

static void ins_flag_setting(const struct bk_sink *sink, const char *name, const char *value)
{
	bool off = strcmp(value, "off") == 0;

	if (off && strcmp(name, "fsync") == 0)
		sink->flag(sink->ctx, "fsync-off",
			   "fsync=off: the server never waits for its disk; a power cut may lose "
			   "or damage the whole server's data");
	else if (off && strcmp(name, "full_page_writes") == 0)
		sink->flag(sink->ctx, "full-page-writes-off",
			   "full_page_writes=off: a power cut may leave torn pages");
	else if (off && strcmp(name, "synchronous_commit") == 0)
		sink->flag(sink->ctx, "synchronous-commit-off",
			   "synchronous_commit=off: a commit is answered before it is written "
			   "(sessions of bakeoff set it by themselves)");
	else if (off && strcmp(name, "autovacuum") == 0)
		sink->flag(sink->ctx, "autovacuum-off",
			   "autovacuum=off: tables are neither cleaned nor analysed by themselves");
	else if (strcmp(name, "shared_buffers") == 0 && strcmp(value, INS_DEFAULT_BUFFERS) == 0)
		sink->flag(sink->ctx, "default-buffers",
			   "shared_buffers=" INS_DEFAULT_BUFFERS
			   " is the default, meant for the smallest machines");
}

/* Where the data lie, if the server is on this machine and tells: only mount points are looked at,
 * since the folder itself is closed to us. */
static void ins_flag_mount(const struct bk_sink *sink, const char *folder)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[2048], point[1024], type[64], best_type[64] = "";
	size_t best = 0, len;
	const char *dash;

	while (f && fgets(line, sizeof(line), f)) {
		dash = strstr(line, " - ");
		if (!dash || sscanf(line, "%*d %*d %*s %*s %1023s", point) != 1 ||
		    sscanf(dash, " - %63s", type) != 1)
			continue;
		len = strlen(point);
		if (len >= best && strncmp(folder, point, len) == 0 &&
		    (len == 1 || folder[len] == '/' || folder[len] == '\0')) {
			best = len;
			snprintf(best_type, sizeof(best_type), "%s", type);
		}
	}
	if (f)
		fclose(f);
	if (!*best_type)
		return;
	sink->put_str(sink->ctx, "filesystem.type", best_type);
	if (strcmp(best_type, "tmpfs") == 0 || strcmp(best_type, "ramfs") == 0)
		sink->flag(sink->ctx, "volatile",
			   "the server's data are in memory: gone after a restart, and no disk is "
			   "measured");
	else if (strcmp(best_type, "overlay") == 0)
		sink->flag(sink->ctx, "overlay",
			   "the server's data are on an overlay (a container's own layer)");
}

static bk_status ins_identity(struct bk_store *store, const struct bk_sink *sink,
			      struct bk_error *err)
{
	const char *host = PQhost(store->admin.conn);
	const PGresult *res;
	char text[300];
	int row;
	bk_status status = ins_ask(store, ins_server, err);

	if (status < 0)
		return status;
	pg_sink_result(sink, store->admin.result, 0, 0);
	sink->put_str(sink->ctx, "server.tls", PQsslInUse(store->admin.conn) ? "on" : "off");
	status = ins_ask(store, ins_settings, err);
	if (status < 0)
		return status;
	res = store->admin.result;
	for (row = 0; row < PQntuples(res); row++) {
		const char *name = ins_text(res, row, INS_NAME);
		const char *value = ins_text(res, row, INS_VALUE);

		ins_flag_setting(sink, name, value);
		if (strcmp(name, "data_directory") == 0 && host && host[0] == '/')
			ins_flag_mount(sink, value);
		if (pg_get_u64(ins_text(res, row, INS_PENDING))) {
			snprintf(text, sizeof(text),
				 "setting %s was changed in the configuration; %s stays in force "
				 "until the server is restarted",
				 name, value);
			sink->flag(sink->ctx, "pending-restart", text);
		}
		sink->begin(sink->ctx, "setting", name);
		sink->put_str(sink->ctx, "value", value);
		sink->put_str(sink->ctx, "source", ins_text(res, row, INS_SOURCE));
		if (*ins_text(res, row, INS_FILE))
			sink->put_str(sink->ctx, "file", ins_text(res, row, INS_FILE));
		sink->end(sink->ctx);
	}
	return BK_OK;
}

/* ---- sizes
 * --------------------------------------------------------------------------------------- */

/* Row counts are the server's estimate: that of the last analysis, else that of its statistics. */
#define INS_ROWS                                                                                   \
	"CASE WHEN c.reltuples >= 0 AND NOT (c.reltuples = 0 AND c.relpages = 0)"                  \
	" THEN c.reltuples::int8 ELSE coalesce(s.n_live_tup, 0) END"
#define INS_FROM                                                                                   \
	" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"                           \
	" LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid WHERE n.nspname = $1"

static const char ins_totals[] =
	"SELECT pg_database_size(current_database()) AS \"database.bytes\","
	" sum(pg_total_relation_size(c.oid))::int8 AS \"storage.bytes\","
	" sum(pg_indexes_size(c.oid))::int8 AS \"index.bytes\"" INS_FROM " AND c.relkind = 'r'";
static const char ins_counts[] =
	"SELECT sum(CASE WHEN c.relname IN ('node', 'document') THEN " INS_ROWS
	" END)::int8 AS \"nodes.count\", sum(CASE WHEN c.relname = 'link' THEN " INS_ROWS
	" END)::int8 AS \"links.count\", sum(CASE WHEN c.relname = 'binaries' THEN " INS_ROWS
	" END)::int8 AS \"binaries.count\"" INS_FROM " AND c.relkind = 'r'";
static const char ins_tables[] =
	"SELECT c.relname::text AS name, (s.last_analyze IS NULL AND s.last_autoanalyze IS NULL"
	" AND s.n_live_tup > 0)::int::int8 AS never, " INS_ROWS " AS rows,"
	" coalesce(s.n_dead_tup, 0) AS \"rows.dead\"" INS_FROM " AND c.relkind = 'r' ORDER BY 1";
static const char ins_table_sizes[] =
	"SELECT c.relname::text AS name, pg_total_relation_size(c.oid) AS bytes,"
	" pg_relation_size(c.oid) AS \"heap.bytes\", pg_indexes_size(c.oid) AS \"index.bytes\"" INS_FROM
	" AND c.relkind = 'r' ORDER BY 1";
static const char ins_indexes[] =
	"SELECT c.relname::text AS name, pg_relation_size(c.oid) AS bytes" INS_FROM
	" AND c.relkind = 'i' ORDER BY 1";

/* Each row one item; the first column is its name and not repeated. */
static bk_status ins_items(struct bk_store *store, const struct bk_sink *sink, const char *kind,
			   const char *sql, struct bk_error *err)
{
	const PGresult *res;
	int row, i;
	bk_status status = ins_ask(store, sql, err);

	if (status < 0)
		return status;
	res = store->admin.result;
	for (row = 0; row < PQntuples(res); row++) {
		sink->begin(sink->ctx, kind, ins_text(res, row, 0));
		for (i = 1; i < PQnfields(res); i++)
			sink->put_u64(sink->ctx, PQfname(res, i),
				      pg_get_u64(PQgetvalue(res, row, i)),
				      ins_ends_in(PQfname(res, i), "bytes") ? "bytes" : "count", 0);
		sink->end(sink->ctx);
	}
	return BK_OK;
}

static bk_status ins_rows(struct bk_store *store, const struct bk_sink *sink, struct bk_error *err)
{
	struct pg_buffer never = {0};
	char text[256];
	const PGresult *res;
	int row, i;
	bk_status status = ins_ask(store, ins_tables, err);

	if (status < 0)
		return status;
	res = store->admin.result;
	for (row = 0; row < PQntuples(res); row++) {
		if (pg_get_u64(PQgetvalue(res, row, 1)))
			pg_buffer_print(&never, "%s%s", never.len ? ", " : "",
					ins_text(res, row, 0));
		sink->begin(sink->ctx, "rows", ins_text(res, row, 0));
		for (i = 2; i < PQnfields(res); i++)
			sink->put_u64(sink->ctx, PQfname(res, i),
				      pg_get_u64(PQgetvalue(res, row, i)), "count",
				      BK_SINK_ESTIMATE);
		sink->end(sink->ctx);
	}
	if (never.len && !never.failed) {
		snprintf(text, sizeof(text),
			 "never analysed: %.160s; the planner guesses until settle or ANALYZE",
			 never.data);
		sink->flag(sink->ctx, "never-analysed", text);
	}
	pg_buffer_free(&never);
	return BK_OK;
}

static bk_status ins_size(struct bk_store *store, const struct bk_sink *sink, struct bk_error *err)
{
	bk_status status = ins_ask(store, ins_totals, err);

	if (status == BK_OK)
		pg_sink_result(sink, store->admin.result, 0, 0);
	if (status == BK_OK)
		status = ins_ask(store, ins_counts, err);
	if (status == BK_OK)
		pg_sink_result(sink, store->admin.result, 0, BK_SINK_ESTIMATE);
	if (status == BK_OK)
		status = ins_items(store, sink, "table", ins_table_sizes, err);
	if (status == BK_OK)
		status = ins_rows(store, sink, err);
	if (status == BK_OK)
		status = ins_items(store, sink, "index", ins_indexes, err);
	return status;
}

bk_status pg_store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			   struct bk_error *err)
{
	bk_status status = pg_admin(store, err);

	if (status == BK_OK && (what & BK_INSPECT_IDENTITY))
		status = ins_identity(store, sink, err);
	if (status == BK_OK && (what & BK_INSPECT_SIZE))
		status = ins_size(store, sink, err);
	if (status == BK_OK && (what & BK_INSPECT_COUNTERS))
		status = pg_inspect_counters(store, sink, err);
	return status;
}
