/*
 * schema.c - make, clear, unmake: one schema a space, with the owner mark as its comment.
 *
 * The invariant: each of the three is one transaction that first takes a lock named after the
 * schema and then looks at the mark; a schema without it is never touched.  unmake() drops what
 * make() made, by name, and then the schema only if nothing else is in it.
 */
#include "pg.h"

#define SCH_UNLINK_BATCH 500 /* large objects a transaction: each one takes a lock */

/* Documents: up to 2 KB in the row, larger ones out of line, as PostgreSQL does by itself. */
static const char *const sch_relational[] = {
	"CREATE TABLE IF NOT EXISTS node ("
	" version bigint NOT NULL DEFAULT 1 + (random() * 4503599627370495)::bigint,"
	" size bigint NOT NULL CONSTRAINT doc_max CHECK (size <= 268435456),"
	" segs integer NOT NULL DEFAULT 0,"
	" id bytea NOT NULL, doc bytea NOT NULL, path bytea NOT NULL, parent bytea,"
	" CONSTRAINT node_id PRIMARY KEY (id), CONSTRAINT node_path UNIQUE (path))",
	"CREATE INDEX IF NOT EXISTS node_children ON node (parent, id) WHERE parent IS NOT NULL",
	"CREATE TABLE IF NOT EXISTS segment (node bytea NOT NULL, seq integer NOT NULL,"
	" tail bytea NOT NULL, CONSTRAINT segment_key PRIMARY KEY (node, seq))",
	"CREATE TABLE IF NOT EXISTS link (source bytea NOT NULL, rel bytea NOT NULL,"
	" target bytea NOT NULL, CONSTRAINT link_out PRIMARY KEY (source, rel, target))",
	"CREATE INDEX IF NOT EXISTS link_in ON link (target, rel, source)",
	NULL,
};
static const char *const sch_document[] = {
	"CREATE TABLE IF NOT EXISTS document (id bytea NOT NULL, path bytea, document bytea NOT NULL,"
	" CONSTRAINT document_id PRIMARY KEY (id), CONSTRAINT document_path UNIQUE (path))",
	NULL,
};
static const char *const sch_bytea[] = {
	"CREATE TABLE IF NOT EXISTS binaries (key bytea NOT NULL, id bigint NOT NULL,"
	" size bigint NOT NULL, CONSTRAINT binaries_key PRIMARY KEY (key))",
	"CREATE TABLE IF NOT EXISTS chunk (id bigint NOT NULL, seq integer NOT NULL,"
	" data bytea NOT NULL, CONSTRAINT chunk_key PRIMARY KEY (id, seq))",
	"ALTER TABLE chunk ALTER COLUMN data SET STORAGE EXTERNAL",
	"CREATE SEQUENCE IF NOT EXISTS binary_id INCREMENT BY 256",
	NULL,
};
static const char *const sch_large_object[] = {
	"CREATE TABLE IF NOT EXISTS binaries (key bytea NOT NULL, id bigint NOT NULL,"
	" size bigint NOT NULL, CONSTRAINT binaries_key PRIMARY KEY (key))",
	NULL,
};

/* ---- the mark --------------------------------------------------------------------------- */

enum sch_state { SCH_ABSENT, SCH_OURS };

static bk_status sch_say(struct bk_store *store, const char *sql, const char *what,
			 struct bk_error *err)
{
	return pg_wire_ask_sql(&store->admin, sql, NULL, what, err);
}

static bk_status sch_begin(struct bk_store *store, enum sch_state *state, const char *what,
			   struct bk_error *err)
{
	struct pg_wire *w = &store->admin;
	const PGresult *res;
	struct pg_params p;
	bk_status status = pg_admin(store, err);

	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_text(&p, store->schema);
	pg_send(w, PG_BEGIN, NULL, pg_take_nothing, PG_NO_ITEM);
	pg_send_sql(w, "SELECT pg_advisory_xact_lock(hashtext($1))", &p, pg_take_nothing,
		    PG_NO_ITEM);
	pg_send_sql(w,
		    "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace"
		    " WHERE nspname = $1",
		    &p, NULL, PG_NO_ITEM);
	status = pg_wire_finish(w, what, err);
	if (status < 0)
		return status;
	res = w->result;
	*state = PQntuples(res) ? SCH_OURS : SCH_ABSENT;
	if (*state == SCH_OURS &&
	    !bk_slice_eq(bk_slice_of(PQgetvalue(res, 0, 0), (size_t)PQgetlength(res, 0, 0)),
			 bk_slice_str(store->mark)))
		return bk_fail(err, BK_FOREIGN, 0,
			       "%s: schema %s exists and does not bear the mark '%s'; nothing has "
			       "been touched",
			       what, store->schema, store->mark);
	return BK_OK;
}

/* Commit, or undo after a failure, which stays in *err. */
static bk_status sch_end(struct bk_store *store, bk_status status, const char *what,
			 struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();

	if (!store->admin.conn || store->admin.dead)
		return status;
	pg_send(&store->admin, status < 0 ? PG_ROLLBACK : PG_COMMIT, NULL, pg_take_nothing,
		PG_NO_ITEM);
	return status < 0 ? (pg_wire_finish(&store->admin, what, &ignored), status)
			  : pg_wire_finish(&store->admin, what, err);
}

/* ---- make
 * ---------------------------------------------------------------------------------------- */

static bk_status sch_create(struct bk_store *store, struct bk_error *err)
{
	struct pg_wire *w = &store->admin;
	char *name = PQescapeIdentifier(w->conn, store->schema, strlen(store->schema));
	char *mark = PQescapeLiteral(w->conn, store->mark, strlen(store->mark));
	struct pg_buffer sql = {0};
	bk_status status;

	pg_buffer_print(&sql, "CREATE SCHEMA %s", name ? name : "");
	status = name && mark && !sql.failed ? sch_say(store, sql.data, "make", err)
					     : bk_fail(err, BK_NOMEM, 0, "make: out of memory");
	if (status == BK_OK) {
		pg_buffer_reset(&sql);
		pg_buffer_print(&sql, "COMMENT ON SCHEMA %s IS %s", name, mark);
		status = sql.failed ? bk_fail(err, BK_NOMEM, 0, "make: out of memory")
				    : sch_say(store, sql.data, "make", err);
	}
	PQfreemem(name);
	PQfreemem(mark);
	pg_buffer_free(&sql);
	return status;
}

static bk_status sch_tables_make(struct bk_store *store, const char *const *list,
				 struct bk_error *err)
{
	bk_status status = BK_OK;

	for (; *list && status == BK_OK; list++)
		status = sch_say(store, *list, "make", err);
	return status;
}

/* A space keeps the layout with which it was made: two in one place would answer differently. */
static bk_status sch_check_layout(struct bk_store *store, struct bk_error *err)
{
	bool document = store->options->layout == PG_DOCUMENT;
	bool large = store->options->binaries == PG_LARGE_OBJECT;
	const PGresult *res;
	bk_status status = pg_wire_ask_sql(
		&store->admin,
		"SELECT to_regclass('node') IS NOT NULL, to_regclass('document') IS NOT NULL,"
		" to_regclass('chunk') IS NOT NULL, to_regclass('binaries') IS NOT NULL",
		NULL, "make", err);

	if (status < 0)
		return status;
	res = store->admin.result;
	if (*PQgetvalue(res, 0, document ? 0 : 1))
		return bk_fail(err, BK_STATE, 0,
			       "make: schema %s was made with layout=%s; unmake it first, or use "
			       "another space",
			       store->schema, document ? "relational" : "document");
	if (*PQgetvalue(res, 0, 3) && (*PQgetvalue(res, 0, 2) != 0) == large)
		return bk_fail(err, BK_STATE, 0,
			       "make: schema %s was made with binaries=%s; unmake it first, or use "
			       "another space",
			       store->schema, large ? "bytea" : "large-object");
	return BK_OK;
}

bk_status pg_store_make(struct bk_store *store, struct bk_error *err)
{
	const struct pg_options *o = store->options;
	enum sch_state state = SCH_ABSENT;
	bk_status status = sch_begin(store, &state, "make", err);

	if (status == BK_OK && state == SCH_ABSENT)
		status = sch_create(store, err);
	if (status == BK_OK)
		status = sch_check_layout(store, err);
	if (status == BK_OK)
		status = sch_tables_make(
			store, o->layout == PG_DOCUMENT ? sch_document : sch_relational, err);
	if (status == BK_OK)
		status = sch_tables_make(
			store, o->binaries == PG_LARGE_OBJECT ? sch_large_object : sch_bytea, err);
	return sch_end(store, status, "make", err);
}

/* ---- clear and unmake
 * ---------------------------------------------------------------------------- */

/* Large objects live outside the schema; each batch is a transaction, so that a store with a
 * million of them does not run out of locks.  Without a table of binaries there are none. */
static bk_status sch_unlink_all(struct bk_store *store, const char *what, struct bk_error *err)
{
	enum sch_state state;
	bool more = true;
	bk_status status = BK_OK;
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "WITH b AS (DELETE FROM binaries WHERE key IN (SELECT key FROM binaries LIMIT %d)"
		 " RETURNING id) SELECT lo_unlink(id::oid) FROM b",
		 SCH_UNLINK_BATCH);
	while (status == BK_OK && more) {
		more = false;
		status = sch_begin(store, &state, what, err);
		if (status == BK_OK && state == SCH_OURS) {
			status = sch_say(store,
					 "SELECT to_regclass('binaries') IS NOT NULL"
					 " AND to_regclass('chunk') IS NULL",
					 what, err);
			if (status == BK_OK && *PQgetvalue(store->admin.result, 0, 0)) {
				status = sch_say(store, sql, what, err);
				more = status == BK_OK &&
				       PQntuples(store->admin.result) == SCH_UNLINK_BATCH;
			}
		}
		status = sch_end(store, status, what, err);
	}
	return status;
}

bk_status pg_store_clear(struct bk_store *store, struct bk_error *err)
{
	bool document = store->options->layout == PG_DOCUMENT;
	bool large = store->options->binaries == PG_LARGE_OBJECT;
	enum sch_state state = SCH_ABSENT;
	char sql[128];
	bk_status status = sch_unlink_all(store, "clear", err);

	if (status < 0)
		return status;
	status = sch_begin(store, &state, "clear", err);
	if (status == BK_OK && state == SCH_ABSENT)
		status = bk_fail(err, BK_NOT_FOUND, 0, "clear: schema %s does not exist",
				 store->schema);
	snprintf(sql, sizeof(sql), "TRUNCATE %s, binaries%s",
		 document ? "document" : "node, segment, link", large ? "" : ", chunk");
	if (status == BK_OK)
		status = sch_say(store, sql, "clear", err);
	return sch_end(store, status, "clear", err);
}

bk_status pg_store_unmake(struct bk_store *store, struct bk_error *err)
{
	struct pg_buffer sql = {0};
	enum sch_state state = SCH_ABSENT;
	char *name = NULL;
	bk_status status = sch_unlink_all(store, "unmake", err);

	if (status < 0)
		return status;
	status = sch_begin(store, &state, "unmake", err);
	if (status == BK_OK && state == SCH_OURS) {
		name = PQescapeIdentifier(store->admin.conn, store->schema, strlen(store->schema));
		pg_buffer_print(&sql, "DROP SCHEMA %s", name ? name : "");
		pg_send_sql(&store->admin, "DROP SEQUENCE IF EXISTS binary_id", NULL,
			    pg_take_nothing, PG_NO_ITEM);
		pg_send_sql(&store->admin,
			    "DROP TABLE IF EXISTS node, segment, link, document, "
			    "binaries, chunk",
			    NULL, pg_take_nothing, PG_NO_ITEM);
		pg_send_sql(&store->admin, name && !sql.failed ? sql.data : "SELECT 1 / 0", NULL,
			    pg_take_nothing, PG_NO_ITEM);
		status = pg_wire_finish(&store->admin, "unmake", err);
	}
	status = sch_end(store, status, "unmake", err);
	PQfreemem(name);
	pg_buffer_free(&sql);
	return status;
}
