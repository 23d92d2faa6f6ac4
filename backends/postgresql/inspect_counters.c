/*
 * inspect_counters.c - the server's own counters, by the names that its version has.
 *
 * The invariant: each query names only what exists from `since` to before `until`.  Sessions flush
 * their statistics when their counters are read and when they close, so differences are exact.
 */
#include "pg.h"

struct cnt_query {
	int since, until; /* server versions; until 0: no end */
	const char *sql;
};

static const struct cnt_query cnt_queries[] = {
	{0, 0,
	 "SELECT xact_commit AS \"transactions.committed\","
	 " xact_rollback AS \"transactions.rolled.back\", blks_hit AS \"cache.hits\","
	 " blks_read AS \"cache.misses\", CASE WHEN blks_hit + blks_read > 0"
	 " THEN blks_hit::float8 / (blks_hit + blks_read) END AS \"cache.hit.ratio\","
	 " tup_returned AS \"rows.scanned\", tup_fetched AS \"rows.fetched\","
	 " tup_inserted AS \"rows.inserted\", tup_updated AS \"rows.updated\","
	 " tup_deleted AS \"rows.deleted\", temp_files AS \"temp.files\","
	 " temp_bytes AS \"temp.bytes\", deadlocks AS \"locks.deadlocks\","
	 " numbackends::int8 AS \"connections.open\""
	 " FROM pg_stat_database WHERE datname = current_database()"},
	{0, 0,
	 "SELECT count(*) AS \"locks.held\", count(*) FILTER (WHERE NOT granted) AS"
	 " \"locks.waiting\" FROM pg_locks"},
	{0, 0,
	 "SELECT CASE WHEN pg_is_in_recovery() THEN NULL"
	 " ELSE (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::int8 END AS \"log.position.bytes\""},
	{140000, 0,
	 "SELECT wal_records AS \"log.records\", wal_fpi AS \"log.page.images\","
	 " wal_bytes::int8 AS \"log.bytes\", wal_buffers_full AS \"log.buffers.full\""
	 " FROM pg_stat_wal"},
	{140000, 180000,
	 "SELECT wal_write AS \"log.writes\", wal_sync AS \"log.syncs\","
	 " wal_sync AS \"durability.syncs\" FROM pg_stat_wal"},
	{180000, 0,
	 "SELECT sum(writes)::int8 AS \"log.writes\", sum(fsyncs)::int8 AS \"log.syncs\","
	 " sum(fsyncs)::int8 AS \"durability.syncs\" FROM pg_stat_io WHERE object = 'wal'"},
	{0, 170000,
	 "SELECT checkpoints_timed AS \"checkpoints.timed\","
	 " checkpoints_req AS \"checkpoints.requested\","
	 " buffers_checkpoint AS \"checkpoints.buffers\" FROM pg_stat_bgwriter"},
	{170000, 0,
	 "SELECT num_timed AS \"checkpoints.timed\", num_requested AS \"checkpoints.requested\","
	 " buffers_written AS \"checkpoints.buffers\" FROM pg_stat_checkpointer"},
	{0, 0,
	 "SELECT buffers_clean AS \"writer.buffers\", buffers_alloc AS \"cache.allocated\""
	 " FROM pg_stat_bgwriter"},
	{160000, 0,
	 "SELECT sum(reads)::int8 AS \"io.reads\", sum(writes)::int8 AS \"io.writes\","
	 " sum(extends)::int8 AS \"io.extends\", sum(fsyncs)::int8 AS \"io.syncs\" FROM pg_stat_io"},
};

bk_status pg_inspect_counters(struct bk_store *store, const struct bk_sink *sink,
			      struct bk_error *err)
{
	const struct cnt_query *q = cnt_queries;
	size_t i;
	bk_status status = BK_OK;

	for (i = 0; i < sizeof(cnt_queries) / sizeof(*cnt_queries) && status == BK_OK; i++) {
		if (store->in_force.version < q[i].since ||
		    (q[i].until && store->in_force.version >= q[i].until))
			continue;
		status = pg_wire_ask_sql(&store->admin, q[i].sql, NULL, "inspect", err);
		if (status == BK_OK && PQntuples(store->admin.result))
			pg_sink_result(sink, store->admin.result, 0, 0);
	}
	return status;
}
