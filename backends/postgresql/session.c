/*
 * session.c - one worker's connection: opening it, and what every operation begins and ends with.
 *
 * The invariant: between two calls nothing is due on the connection but what a deferred
 * transaction, an open writer or a BEGIN has queued; pg_begin_read() and pg_begin_write() see to
 * the rest.
 */
#include "pg.h"

#include <linux/tcp.h> /* unlike libc's, it has the counts of bytes */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

static const char *const ses_levels[] = {"none", "process", "machine"};

/* Which setting of the server stands in the way, for the message. */
static bk_status ses_check_durability(const struct pg_in_force *f, uint32_t wanted,
				      struct bk_error *err)
{
	const char *setting = "synchronous_commit", *value = f->synchronous_commit;

	if (pg_durability_of(f) >= wanted)
		return BK_OK;
	if (strcmp(f->synchronous_commit, "off") != 0) {
		bool fsync = strcmp(f->fsync, "on") != 0;

		setting = fsync ? "fsync" : "full_page_writes";
		value = fsync ? f->fsync : f->full_page_writes;
	}
	return bk_fail(err, BK_UNSUPPORTED, 0,
		       "durability '%s' was asked for, but the server runs with %s=%s; "
		       "set %s=on in its configuration, or ask for '%s'",
		       ses_levels[wanted], setting, value, setting,
		       ses_levels[pg_durability_of(f)]);
}

static const char ses_made[] =
	"SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1";

static bk_status ses_check_made(struct bk_session *s, struct bk_error *err)
{
	struct pg_params p;
	bk_status status;

	pg_params_init(&p);
	pg_params_text(&p, s->store->schema);
	status = pg_wire_ask_sql(&s->wire, ses_made, &p, "session", err);
	if (status < 0)
		return status;
	if (PQntuples(s->wire.result) == 0)
		return bk_fail(err, BK_NOT_FOUND, 0,
			       "session: schema %s does not exist; make the store first",
			       s->store->schema);
	if (!bk_slice_eq(bk_slice_of(PQgetvalue(s->wire.result, 0, 0),
				     (size_t)PQgetlength(s->wire.result, 0, 0)),
			 bk_slice_str(s->store->mark)))
		return bk_fail(err, BK_FOREIGN, 0,
			       "session: schema %s exists and does not bear the mark '%s'",
			       s->store->schema, s->store->mark);
	return BK_OK;
}

/* Last, so that opening itself has the time that connecting has. */
static bk_status ses_set_timeout(struct bk_session *s, uint64_t timeout_ns, struct bk_error *err)
{
	struct pg_params p;
	char ms[32];
	bk_status status;

	snprintf(ms, sizeof(ms), "%llu", (unsigned long long)((timeout_ns + 999999) / 1000000));
	pg_params_init(&p);
	pg_params_text(&p, ms);
	status = pg_wire_ask_sql(&s->wire, "SELECT set_config('statement_timeout', $1, false)", &p,
				 "session", err);
	s->wire.timeout_ns = timeout_ns;
	return status;
}

/* The server shares a session's statistics once in a second at most, unless it is told to.  Not
 * counted: the request is the harness's. */
static void ses_flush_statistics(struct bk_session *s)
{
	struct pg_wire *w = &s->wire;

	if (w->dead || !w->conn || s->in_force.version < 150000 || s->txn != PG_TXN_NONE ||
	    w->due_count || w->failed)
		return;
	pg_wire_start(w);
	pg_send_sql(w, "SELECT pg_stat_force_next_flush()", NULL, pg_take_nothing, PG_NO_ITEM);
	pg_wire_settle(w);
	w->requests--;
	w->failed = false;
}

static void ses_close(struct bk_session *s)
{
	size_t i;

	if (!s)
		return;
	ses_flush_statistics(s);
	pg_drop_views(s);
	pg_cursor_drop_page(&s->cursor);
	PQclear(s->reader.page);
	pg_writer_free(&s->writer);
	pg_doc_unit_free(s->unit);
	pg_buffer_free(&s->cursor.start);
	pg_buffer_free(&s->cursor.rel);
	pg_buffer_free(&s->cursor.list);
	pg_map_free(&s->cursor.map);
	pg_buffer_free(&s->text);
	pg_buffer_free(&s->views);
	for (i = 0; i < sizeof(s->arrays) / sizeof(*s->arrays); i++)
		pg_buffer_free(&s->arrays[i]);
	pg_map_free(&s->map);
	pg_wire_close(&s->wire);
	free(s);
}

static bk_status ses_open(struct bk_session **out, struct bk_store *store,
			  const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s;
	bk_status status;

	if (config->durability > store->durability)
		return bk_fail(err, BK_INVALID, 0,
			       "session: durability '%s' is more than the store was opened for",
			       config->durability > BK_DURABLE_MACHINE
				       ? "?"
				       : ses_levels[config->durability]);
	s = calloc(1, sizeof(*s));
	if (!s)
		return bk_fail(err, BK_NOMEM, 0, "session: out of memory");
	s->store = store;
	s->cursor.session = s->writer.session = s->reader.session = s;
	pg_wire_init(&s->wire, store->host, s);
	status = pg_connect(&s->wire, store, config->durability, &s->in_force, err);
	if (status == BK_OK)
		status = ses_check_durability(&s->in_force, config->durability, err);
	if (status == BK_OK)
		status = ses_check_made(s, err);
	if (status == BK_OK && config->timeout_ns)
		status = ses_set_timeout(s, config->timeout_ns, err);
	if (status == BK_OK && store->options->layout == PG_DOCUMENT)
		status = pg_doc_unit_new(&s->unit, store->host, err);
	if (status < 0) {
		ses_close(s);
		return status;
	}
	*out = s;
	return BK_OK;
}

/* PQcancel() is made for any thread at any time; what it meets is sorted out in error.c. */
static void ses_cancel(struct bk_session *s)
{
	char why[256];

	atomic_store_explicit(&s->wire.cancelled, 1, memory_order_relaxed);
	PQcancel(s->wire.cancel, why, sizeof(why));
}

/* Bytes are the kernel's count, which it keeps for TCP only; on a Unix socket they are left out. */
static void ses_counters(struct bk_session *s, const struct bk_sink *sink)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	sink->put_u64(sink->ctx, "requests", s->wire.requests, "count", 0);
	ses_flush_statistics(s);
	sink->put_u64(sink->ctx, "retries", s->wire.retries, "count", 0);
	sink->put_u64(sink->ctx, "reconnects", 0, "count", 0);
	memset(&info, 0, sizeof(info));
	if (s->wire.dead ||
	    getsockopt(PQsocket(s->wire.conn), IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
		return;
	sink->put_u64(sink->ctx, "bytes.sent", info.tcpi_bytes_acked, "bytes", 0);
	sink->put_u64(sink->ctx, "bytes.received", info.tcpi_bytes_received, "bytes", 0);
}

const struct bk_session_ops pg_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = ses_open,
	.close = ses_close,
	.cancel = ses_cancel,
	.counters = ses_counters,
};

/* ---- how operations begin and end ------------------------------------------------------- */

void pg_drop_views(struct bk_session *s)
{
	PQclear(s->shown);
	PQclear(s->more);
	s->shown = s->more = NULL;
}

const PGresult *pg_show(struct bk_session *s)
{
	PQclear(s->shown);
	s->shown = s->wire.result;
	s->wire.result = NULL;
	return s->shown;
}

static bk_status ses_begin(struct bk_session *s, const char *what, struct bk_error *err)
{
	if (s->wire.dead)
		return bk_fail(err, BK_UNAVAILABLE, 0,
			       "%s: the connection to the server is gone; open a new session",
			       what);
	if (s->txn == PG_TXN_FAILED)
		return pg_error_copy(err, &s->txn_error, what);
	pg_wire_start(&s->wire);
	if (s->writer.open)
		pg_writer_park(&s->writer);
	return BK_OK;
}

bk_status pg_begin_handle(struct bk_session *s, const char *what, struct bk_error *err)
{
	bk_status status = ses_begin(s, what, err);

	if (status == BK_OK && s->txn == PG_TXN_DEFER)
		status = pg_txn_flush(s, err);
	return status;
}

bk_status pg_begin_read(struct bk_session *s, const char *what, struct bk_error *err)
{
	pg_drop_views(s);
	return pg_begin_handle(s, what, err);
}

bk_status pg_begin_write(struct bk_session *s, const char *what, struct bk_error *err)
{
	bk_status status;

	pg_drop_views(s);
	status = ses_begin(s, what, err);
	if (status == BK_OK && s->txn != PG_TXN_NONE && s->txn_read_only)
		status = bk_fail(err, BK_STATE, 0, "%s: the transaction is read-only", what);
	return status;
}

bk_status pg_end(struct bk_session *s, const char *what, bool writes, struct bk_error *err)
{
	bk_status status = pg_wire_finish(&s->wire, what, err);

	if (status == BK_OK)
		return BK_OK;
	if (s->wire.dead) {
		if (writes && s->wire.unanswered && s->txn == PG_TXN_NONE)
			err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	} else if (s->txn != PG_TXN_NONE && PQtransactionStatus(s->wire.conn) == PQTRANS_INERROR) {
		s->txn_error = *err;
		s->txn = PG_TXN_FAILED;
	}
	return status;
}

bk_status pg_end_write(struct bk_session *s, const char *what, struct bk_error *err)
{
	s->writes++;
	if (s->txn == PG_TXN_DEFER)
		return BK_OK;
	return pg_end(s, what, true, err);
}
