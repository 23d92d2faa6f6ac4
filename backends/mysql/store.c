/*
 * store.c - a store: where it is, what it offers, the control thread's connection.
 *
 * The one invariant: open() changes nothing, on the server or elsewhere.
 */
#include "my.h"

#include <stdlib.h>

bk_status my_need_database(const struct bk_store *store, struct bk_error *err)
{
	if (store->target.database && *store->target.database)
		return BK_OK;
	return bk_fail(err, BK_INVALID, 0,
		       "mysql: no database named: set option 'database', or name it in the URL");
}

/* The connection may have been lost meanwhile; what the control thread does can be begun anew. */
bk_status my_control(MYSQL **out, struct bk_store *store, struct bk_error *err)
{
	bk_status st = BK_OK;

	if (store->conn && mysql_ping(store->conn)) {
		mysql_close(store->conn);
		store->conn = NULL;
	}
	if (!store->conn) {
		st = my_connect(&store->conn, store, 0, err);
		if (!st)
			/* Not the server's day, should a session hold on to a table. */
			st = my_run(store, store->conn, "setting up the connection", err,
				    "SET SESSION lock_wait_timeout=30");
	}
	if (!st)
		*out = store->conn;
	return st;
}

/* [any] What does not get through is no error: the call that was to be cut short ends by itself. */
void my_kill_query(struct bk_store *store, unsigned long thread_id)
{
	struct bk_error ignored = bk_error_init();
	char text[64];
	int tries;

	snprintf(text, sizeof(text), "KILL QUERY %lu", thread_id);
	pthread_mutex_lock(&store->kill_lock);
	for (tries = 0; tries < 2; tries++) {
		if (!store->killer && my_connect(&store->killer, store, 0, &ignored))
			break;
		if (!mysql_query(store->killer, text) || !my_lost(mysql_errno(store->killer)))
			break;
		mysql_close(store->killer); /* idle for too long */
		store->killer = NULL;
	}
	pthread_mutex_unlock(&store->kill_lock);
}

static void store_close(struct bk_store *store)
{
	struct my_pipe pipe;

	if (!store)
		return;
	my_pipe_hold(&pipe, store);
	if (store->conn)
		mysql_close(store->conn);
	if (store->killer)
		mysql_close(store->killer);
	my_pipe_release(&pipe);
	pthread_mutex_destroy(&store->kill_lock);
	my_target_free(&store->target);
	my_arena_free(&store->views);
	free(store->mark);
	free(store);
}

static bk_status store_open(struct bk_store **out, const struct bk_host *host,
			    const struct bk_store_config *config, const void *opts,
			    struct bk_error *err)
{
	struct my_pipe pipe;
	struct bk_store *store;
	MYSQL *conn;
	bk_status st = my_library_init(err);

	if (st)
		return st;
	store = calloc(1, sizeof(*store));
	if (!store)
		return my_nomem(err);
	pthread_mutex_init(&store->kill_lock, NULL);
	store->host = host;
	store->opts = opts;
	store->layout = store->opts->layout;
	store->nodes = store->layout == MY_DOCUMENT ? &my_document : &my_relational;
	snprintf(store->prefix, sizeof(store->prefix), "%s_", config->space);
	store->mark = strdup(config->mark);
	st = store->mark ? my_target_init(&store->target, store->opts, err) : my_nomem(err);
	my_pipe_hold(&pipe, store);
	if (!st)
		st = my_control(&conn, store, err);
	if (!st)
		st = my_server_read(&store->server, store, conn, err);
	my_pipe_release(&pipe);
	if (st) {
		store_close(store);
		return st;
	}
	store->chunk = store->opts->chunk_bytes;
	if (store->chunk > store->server.packet_bytes / 8)
		store->chunk = store->server.packet_bytes / 8;
	*out = store;
	return BK_OK;
}

/* A row of the document layout holds the document and everything else, and is one parameter. */
uint64_t my_doc_max(const struct bk_store *store)
{
	uint64_t packet = store->server.packet_bytes;

	if (store->layout == MY_RELATIONAL)
		return MY_DOC_MAX;
	return packet - packet / 16 < MY_DOC_MAX ? packet - packet / 16 : MY_DOC_MAX;
}

/* May this account make databases?  As the server spells its privileges. */
static bool may_make_places(struct bk_store *store)
{
	struct bk_error ignored = bk_error_init();
	bool may = false;
	MYSQL_RES *rows;
	MYSQL_ROW row;
	MYSQL *conn;

	if (my_control(&conn, store, &ignored) ||
	    my_ask(&rows, store, conn, "reading privileges", &ignored, "SHOW GRANTS"))
		return false;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		const char *on = row[0] ? strstr(row[0], " ON *.* ") : NULL, *word;

		if (!on)
			continue;
		word = strstr(row[0], "ALL PRIVILEGES");
		may = may || (word && word < on);
		word = strstr(row[0], " CREATE,");
		may = may || (word && word < on) || strstr(row[0], " CREATE ON *.* ");
	}
	mysql_free_result(rows);
	return may;
}

static bk_status store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				struct bk_limits *limits, struct bk_error *err)
{
	*native = MY_NATIVE;
	*emulated = 0;
	if (store->layout == MY_DOCUMENT)
		*native &= ~(uint64_t)(BK_F_APPEND | BK_F_WALK);
	if (!may_make_places(store))
		*native &= ~(uint64_t)BK_F_PLACES;
	limits->sessions_max = store->server.connections > 2 ? store->server.connections - 2 : 0;
	limits->id_max = MY_ID_MAX;
	limits->path_max = MY_PATH_MAX;
	limits->rel_max = MY_REL_MAX;
	limits->key_max = MY_KEY_MAX;
	limits->doc_max = my_doc_max(store);
	limits->binary_max = store->chunk << 32; /* chunks are numbered by 32 bits */
	return BK_OK;
}

static bk_status quiet_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				struct bk_limits *limits, struct bk_error *err)
{
	struct my_pipe pipe;
	bk_status st;

	my_pipe_hold(&pipe, store);
	st = store_features(store, native, emulated, limits, err);
	my_pipe_release(&pipe);
	return st;
}

static bk_status quiet(bk_status (*fn)(struct bk_store *, struct bk_error *),
		       struct bk_store *store, struct bk_error *err)
{
	struct my_pipe pipe;
	bk_status st;

	my_pipe_hold(&pipe, store);
	st = fn(store, err);
	my_pipe_release(&pipe);
	return st;
}

static bk_status store_make(struct bk_store *store, struct bk_error *err)
{
	return quiet(my_schema_make, store, err);
}

static bk_status store_clear(struct bk_store *store, struct bk_error *err)
{
	return quiet(my_schema_clear, store, err);
}

static bk_status store_unmake(struct bk_store *store, struct bk_error *err)
{
	return quiet(my_schema_unmake, store, err);
}

static bk_status store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			       struct bk_error *err)
{
	struct my_pipe pipe;
	bk_status st;

	my_pipe_hold(&pipe, store);
	st = my_store_inspect(store, what, sink, err);
	my_pipe_release(&pipe);
	return st;
}

static bk_status store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	struct my_pipe pipe;
	bk_status st;

	my_pipe_hold(&pipe, store);
	st = my_store_settle(store, timeout_ns, err);
	my_pipe_release(&pipe);
	return st;
}

const struct bk_store_ops my_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = store_open,
	.close = store_close,
	.features = quiet_features,
	.make = store_make,
	.clear = store_clear,
	.unmake = store_unmake,
	.inspect = store_inspect,
	.settle = store_settle,
};
