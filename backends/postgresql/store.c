/*
 * store.c - the store: its control connection, features, settle.
 *
 * The invariant: open() changes nothing on the server; the control connection serves make, clear,
 * unmake, inspect, settle and places, and comes back by itself after a restart of the server.
 */
#include "pg.h"

#include <poll.h>
#include <stdlib.h>

#define STO_LOCK_TIMEOUT_SQL "SELECT set_config('lock_timeout', '30s', false)"

/* The server may have gone away since the last call: then its last words or its end wait on the
 * socket, where nothing else is expected. */
static bool sto_is_alive(struct pg_wire *w)
{
	struct pollfd p;

	if (!w->conn || w->dead)
		return false;
	p.fd = PQsocket(w->conn);
	p.events = POLLIN;
	return poll(&p, 1, 0) == 0 && PQstatus(w->conn) == CONNECTION_OK;
}

bk_status pg_admin(struct bk_store *store, struct bk_error *err)
{
	struct pg_wire *w = &store->admin;
	bk_status status;

	if (sto_is_alive(w)) {
		pg_wire_start(w);
		return BK_OK;
	}
	pg_wire_close(w);
	pg_wire_init(w, store->host, NULL);
	status = pg_connect(w, store, BK_DURABLE_MACHINE, &store->in_force, err);
	if (status == BK_OK)
		status = pg_wire_ask_sql(w, STO_LOCK_TIMEOUT_SQL, NULL, "open", err);
	if (status < 0)
		pg_wire_close(w);
	return status;
}

/* An option that is meant for the server's start must be what it runs with, or the numbers would be
 * put down to a setting that was never there. */
static bk_status sto_check_setting(struct bk_store *store, const char *option, const char *setting,
				   const char *wanted, bool is_size, struct bk_error *err)
{
	struct pg_wire *w = &store->admin;
	struct pg_params p;
	bk_status status;

	if (!wanted || !*wanted)
		return BK_OK;
	pg_params_init(&p);
	pg_params_text(&p, setting);
	pg_params_text(&p, wanted);
	status = pg_wire_ask_sql(
		w,
		is_size ? "SELECT pg_size_bytes(current_setting($1)) = pg_size_bytes($2),"
			  " current_setting($1)"
			: "SELECT current_setting($1) = $2, current_setting($1)",
		&p, option, err);
	if (status < 0)
		return status;
	if (!*PQgetvalue(w->result, 0, 0))
		return bk_fail(err, BK_INVALID, 0,
			       "option %s=%s is for a server that bakeoff starts; this one runs "
			       "with %s=%.*s",
			       option, wanted, setting, PQgetlength(w->result, 0, 1),
			       PQgetvalue(w->result, 0, 1));
	return BK_OK;
}

static bk_status sto_check_settings(struct bk_store *store, struct bk_error *err)
{
	const struct pg_options *o = store->options;
	bk_status status = sto_check_setting(store, "shared-buffers", "shared_buffers",
					     o->shared_buffers, true, err);

	if (status == BK_OK)
		status = sto_check_setting(store, "max-wal-size", "max_wal_size", o->max_wal_size,
					   true, err);
	if (status == BK_OK)
		status = sto_check_setting(store, "max-connections", "max_connections",
					   o->max_connections, false, err);
	return status;
}

static bk_status sto_read_limits(struct bk_store *store, struct bk_error *err)
{
	uint64_t places, reserved;
	bk_status status = pg_wire_ask_sql(
		&store->admin,
		"SELECT current_setting('max_connections')::int8,"
		" current_setting('superuser_reserved_connections')::int8"
		" + coalesce(current_setting('reserved_connections', true), '0')::int8",
		NULL, "open", err);

	if (status < 0)
		return status;
	places = pg_get_u64(PQgetvalue(store->admin.result, 0, 0));
	reserved = pg_get_u64(PQgetvalue(store->admin.result, 0, 1));
	if (places > reserved + 1) /* one is the store's own */
		store->sessions_max = (uint32_t)(places - reserved - 1);
	return BK_OK;
}

static void sto_close(struct bk_store *store)
{
	if (!store)
		return;
	pg_wire_close(&store->admin);
	free(store->mark);
	free(store);
}

static bk_status sto_open(struct bk_store **out, const struct bk_host *host,
			  const struct bk_store_config *config, const void *opts,
			  struct bk_error *err)
{
	struct bk_store *store;
	bk_status status;

	if (config->durability > BK_DURABLE_MACHINE)
		return bk_fail(err, BK_INVALID, 0, "open: no such durability: %u",
			       config->durability);
	store = calloc(1, sizeof(*store));
	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "open: out of memory");
	store->host = host;
	store->options = opts;
	store->durability = config->durability;
	pg_wire_init(&store->admin, host, NULL);
	snprintf(store->schema, sizeof(store->schema), "bakeoff_%s", config->space);
	store->mark = strdup(config->mark);
	status = store->mark ? pg_admin(store, err)
			     : bk_fail(err, BK_NOMEM, 0, "open: out of memory");
	if (status == BK_OK && store->in_force.version < 120000)
		status = bk_fail(err, BK_UNSUPPORTED, 0,
				 "open: the server is PostgreSQL %d; 12 is the oldest supported",
				 store->in_force.version / 10000);
	if (status == BK_OK)
		status = sto_check_settings(store, err);
	if (status == BK_OK)
		status = sto_read_limits(store, err);
	if (status < 0) {
		sto_close(store);
		return status;
	}
	*out = store;
	return BK_OK;
}

static bk_status sto_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
			      struct bk_limits *limits, struct bk_error *err)
{
	const struct pg_limits *max = pg_limits_of(store);

	*native = PG_NATIVE_FEATURES;
	*emulated = 0;
	if (store->options->layout == PG_DOCUMENT)
		*native &= ~(BK_F_APPEND | BK_F_WALK);
	limits->sessions_max = store->sessions_max;
	limits->id_max = max->id;
	limits->path_max = max->path;
	limits->rel_max = max->rel;
	limits->key_max = max->key;
	limits->doc_max = max->doc;
	limits->binary_max = max->binary;
	return BK_OK;
}

/* ---- settle and chill
 * ---------------------------------------------------------------------------- */

static bool sto_is_forbidden(const struct bk_error *err)
{
	return strcmp(err->sqlstate, "42501") == 0;
}

/* VACUUM first: what it writes is flushed by the checkpoint too.  A checkpoint that the user may
 * not ask for is left to the server. */
static bk_status sto_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	static const char *const tables[2][2] = {{"node, segment, link", "document"},
						 {"binaries, chunk", "binaries"}};
	struct pg_wire *w = &store->admin;
	char sql[128];
	bk_status status = pg_admin(store, err);

	if (status < 0)
		return status;
	snprintf(sql, sizeof(sql), "SELECT set_config('statement_timeout', '%llu', false)",
		 (unsigned long long)(timeout_ns / 1000000));
	w->timeout_ns = timeout_ns;
	pg_wire_start(w);
	status = pg_wire_ask_sql(w, sql, NULL, "settle", err);
	snprintf(sql, sizeof(sql), "VACUUM (ANALYZE) %s, %s", tables[0][store->options->layout],
		 tables[1][store->options->binaries]);
	if (status == BK_OK)
		status = pg_wire_ask_sql(w, sql, NULL, "settle", err);
	if (status == BK_OK)
		status = pg_wire_ask_sql(w, "CHECKPOINT", NULL, "settle", err);
	if (status < 0 && sto_is_forbidden(err)) {
		store->host->log(store->host->ctx, BK_LOG_INFO, err->message);
		status = BK_OK;
	}
	w->timeout_ns = 0;
	if (status == BK_OK)
		status = pg_wire_ask_sql(w, "SELECT set_config('statement_timeout', '0', false)",
					 NULL, "settle", err);
	else
		pg_wire_close(w); /* opened anew, with its own settings, by the next call */
	return status;
}

/* The caches are the server's; the harness restarts one that it has started itself. */
static bk_status sto_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	*reached = BK_CHILL_CANNOT;
	return BK_OK;
}

const struct bk_store_ops pg_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = sto_open,
	.close = sto_close,
	.features = sto_features,
	.make = pg_store_make,
	.clear = pg_store_clear,
	.unmake = pg_store_unmake,
	.inspect = pg_store_inspect,
	.settle = sto_settle,
	.chill = sto_chill,
};
