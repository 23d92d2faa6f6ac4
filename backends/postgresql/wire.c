/*
 * wire.c - one connection in pipeline mode: queue statements, sync, take the answers.
 *
 * Answers come in the order of the questions, so `due` is a ring with one entry a statement.  After
 * a failure the server answers "aborted" for the rest up to the sync; only the first failure is
 * kept.  The socket never blocks: every wait is a poll with the call's deadline.
 */
#include "pg.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#define WIRE_PUMP_BYTES (64u * 1024)
#define WIRE_GRACE_NS   UINT64_C(500000000) /* for the server to keep its own time-out */

void pg_wire_init(struct pg_wire *w, const struct bk_host *host, struct bk_session *session)
{
	memset(w, 0, sizeof(*w));
	atomic_init(&w->cancelled, 0);
	w->host = host;
	w->session = session;
	w->failure = bk_error_init();
}

void pg_wire_close(struct pg_wire *w)
{
	PQclear(w->result);
	w->result = NULL;
	PQfreeCancel(w->cancel);
	w->cancel = NULL;
	PQfinish(w->conn);
	w->conn = NULL;
	free(w->due);
	w->due = NULL;
	w->due_cap = w->due_count = w->due_head = 0;
	memset(w->prepared, 0, sizeof(w->prepared));
}

void pg_wire_start(struct pg_wire *w)
{
	atomic_store_explicit(&w->cancelled, 0, memory_order_relaxed);
	if (w->timeout_ns)
		w->started_ns = w->host->now_ns(w->host->ctx);
}

uint64_t pg_rows(const PGresult *res)
{
	if (PQresultStatus(res) == PGRES_TUPLES_OK)
		return (uint64_t)PQntuples(res);
	return strtoull(PQcmdTuples((PGresult *)res), NULL, 10);
}

void pg_take_nothing(struct pg_wire *w, PGresult *res, uint64_t item)
{
}

/* ---- failures --------------------------------------------------------------------------- */

void pg_wire_refuse(struct pg_wire *w, bk_status status, uint64_t item, const char *text)
{
	if (w->failed)
		return;
	w->failed = true;
	w->unanswered = false;
	bk_fail(&w->failure, status, 0, "%s", text);
	w->failure.item = item;
}

void pg_wire_lost(struct pg_wire *w)
{
	w->dead = true;
	if (w->failed)
		return;
	w->failed = true;
	w->unanswered = true;
	pg_error_lost(&w->failure, w);
}

/* The server has not answered in time and has not kept its own time-out either. */
static void wire_late(struct pg_wire *w)
{
	w->dead = true;
	if (w->failed)
		return;
	w->failed = true;
	w->unanswered = true;
	bk_fail(&w->failure, BK_TIMEOUT, 0, "no answer from the server within %llu ms",
		(unsigned long long)((w->timeout_ns + WIRE_GRACE_NS) / 1000000));
}

void pg_wire_failed(struct pg_wire *w, const PGresult *res, uint64_t item)
{
	bool dead = PQstatus(w->conn) == CONNECTION_BAD;

	if (!w->failed) {
		w->failed = true;
		w->unanswered = dead;
		pg_error_from_result(&w->failure, w, res);
		w->failure.item = item;
		dead = dead || w->failure.status == BK_UNAVAILABLE;
		w->unanswered = w->failure.status == BK_UNAVAILABLE;
	}
	w->dead = w->dead || dead;
}

bk_status pg_wire_report(struct pg_wire *w, const char *what, struct bk_error *err)
{
	if (!w->failed)
		return BK_OK;
	w->failed = false;
	return pg_error_copy(err, &w->failure, what);
}

/* ---- waiting ---------------------------------------------------------------------------- */

static int wire_remaining_ms(const struct pg_wire *w)
{
	uint64_t now, end;

	if (!w->timeout_ns)
		return -1;
	now = w->host->now_ns(w->host->ctx);
	end = w->started_ns + w->timeout_ns + WIRE_GRACE_NS;
	return now >= end
		       ? 0
		       : (int)((end - now) / 1000000 > 60000 ? 60000 : (end - now) / 1000000 + 1);
}

/* Wait for the socket.  False when the connection is of no more use. */
bool pg_wire_poll(struct pg_wire *w, bool unsent)
{
	struct pollfd p = {.fd = PQsocket(w->conn), .events = POLLIN};
	int ms, n;

	if (unsent)
		p.events |= POLLOUT;
	do {
		ms = wire_remaining_ms(w);
		if (ms == 0) {
			wire_late(w);
			return false;
		}
		n = poll(&p, 1, ms);
	} while (n == 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		pg_wire_lost(w);
	return n > 0;
}

/* Until the next answer can be taken without blocking. */
bool pg_wire_ready(struct pg_wire *w)
{
	int unsent;

	while (PQisBusy(w->conn)) {
		unsent = PQflush(w->conn);
		if (unsent < 0 || !pg_wire_poll(w, unsent > 0) || !PQconsumeInput(w->conn)) {
			if (!w->dead)
				pg_wire_lost(w);
			return false;
		}
	}
	return true;
}

/* ---- answers ---------------------------------------------------------------------------- */

static struct pg_due *wire_head(struct pg_wire *w)
{
	return &w->due[w->due_head & (w->due_cap - 1)];
}

static void wire_answered(struct pg_wire *w, PGresult *res)
{
	struct pg_due *due = wire_head(w);

	w->in_result = true;
	if (due->prepares >= 0)
		return;
	if (due->take) {
		due->take(w, res, due->item);
		return;
	}
	PQclear(w->result);
	w->result = res;
}

static void wire_dispatch(struct pg_wire *w, PGresult *res)
{
	ExecStatusType status;

	if (!res) { /* the end of one statement's answers */
		if (!w->in_result || w->due_count == 0) {
			pg_wire_lost(w);
			return;
		}
		w->in_result = false;
		w->due_head++;
		w->due_count--;
		return;
	}
	status = PQresultStatus(res);
	if (status == PGRES_PIPELINE_SYNC) {
		w->syncs--;
	} else if (w->due_count == 0) {
		pg_wire_failed(w, res, PG_NO_ITEM);
	} else if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
		wire_answered(w, res);
	} else {
		if (wire_head(w)->prepares >= 0)
			w->prepared[wire_head(w)->prepares] = 0;
		if (status != PGRES_PIPELINE_ABORTED)
			pg_wire_failed(w, res, wire_head(w)->item);
		w->in_result = true;
	}
	if (res != w->result)
		PQclear(res);
}

void pg_wire_pump(struct pg_wire *w)
{
	int unsent;

	w->unpumped_bytes = 0;
	while (!w->dead) {
		unsent = PQflush(w->conn);
		if (unsent < 0 || !PQconsumeInput(w->conn)) {
			pg_wire_lost(w);
			return;
		}
		while (!w->dead && w->due_count && !PQisBusy(w->conn))
			wire_dispatch(w, PQgetResult(w->conn));
		if (unsent == 0 || !pg_wire_poll(w, true))
			return;
	}
}

static bool wire_push(struct pg_wire *w, pg_take take, uint64_t item, int32_t prepares)
{
	size_t cap = w->due_cap ? w->due_cap * 2 : 64, i;
	struct pg_due *ring;

	if (w->due_count == w->due_cap) {
		ring = malloc(cap * sizeof(*ring));
		if (!ring) {
			pg_wire_refuse(w, BK_NOMEM, item, "out of memory");
			return false;
		}
		for (i = 0; i < w->due_count; i++)
			ring[i] = w->due[(w->due_head + i) & (w->due_cap - 1)];
		free(w->due);
		w->due = ring;
		w->due_cap = cap;
		w->due_head = 0;
	}
	w->due[(w->due_head + w->due_count) & (w->due_cap - 1)] =
		(struct pg_due){.take = take, .item = item, .prepares = prepares};
	w->due_count++;
	return true;
}

/* Something could not be sent or has been judged a failure: what has been sent since the last sync
 * must not be committed by the next one. */
static void wire_spoil(struct pg_wire *w)
{
	if (wire_push(w, pg_take_nothing, PG_NO_ITEM, -1) &&
	    !PQsendQueryParams(w->conn, "SELECT 1 / 0", 0, NULL, NULL, NULL, NULL, 1))
		pg_wire_lost(w);
}

void pg_wire_settle(struct pg_wire *w)
{
	if (w->dead) {
		pg_wire_lost(w);
		return;
	}
	w->requests++;
	w->unpumped_bytes = 0;
	if (w->failed && w->due_count)
		wire_spoil(w);
	if (!PQpipelineSync(w->conn)) {
		pg_wire_lost(w);
		return;
	}
	w->syncs++;
	while (!w->dead && w->syncs && pg_wire_ready(w))
		wire_dispatch(w, PQgetResult(w->conn));
}

bk_status pg_wire_finish(struct pg_wire *w, const char *what, struct bk_error *err)
{
	pg_wire_settle(w);
	return pg_wire_report(w, what, err);
}

/* ---- sending ---------------------------------------------------------------------------- */

static const int wire_all_binary[PG_PARAMS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static bool wire_may_send(struct pg_wire *w, const struct pg_params *p, uint64_t item)
{
	if (w->dead) {
		pg_wire_lost(w);
		return false;
	}
	if (p && p->failed) {
		pg_wire_refuse(w, BK_NOMEM, item, "out of memory for a statement's parameters");
		return false;
	}
	return !w->failed;
}

static void wire_sent(struct pg_wire *w, int ok, const struct pg_params *p)
{
	if (!ok) {
		pg_wire_lost(w);
		return;
	}
	w->unpumped_bytes += 64 + (p ? p->bytes : 0);
	if (w->unpumped_bytes >= WIRE_PUMP_BYTES)
		pg_wire_pump(w);
}

void pg_send(struct pg_wire *w, enum pg_statement st, const struct pg_params *p, pg_take take,
	     uint64_t item)
{
	const struct pg_statement_text *t = &pg_statements[st];

	if (!wire_may_send(w, p, item))
		return;
	if (!w->prepared[st]) {
		if (!wire_push(w, NULL, item, (int32_t)st))
			return;
		w->prepared[st] = 1;
		if (!PQsendPrepare(w->conn, t->name, t->sql, p ? p->n : 0, p ? p->types : NULL)) {
			pg_wire_lost(w);
			return;
		}
	}
	if (!wire_push(w, take, item, -1))
		return;
	wire_sent(w,
		  PQsendQueryPrepared(w->conn, t->name, p ? p->n : 0, p ? p->values : NULL,
				      p ? p->lengths : NULL, p ? wire_all_binary : NULL, 1),
		  p);
}

void pg_send_sql(struct pg_wire *w, const char *sql, const struct pg_params *p, pg_take take,
		 uint64_t item)
{
	if (!wire_may_send(w, p, item) || !wire_push(w, take, item, -1))
		return;
	wire_sent(w,
		  PQsendQueryParams(w->conn, sql, p ? p->n : 0, p ? p->types : NULL,
				    p ? p->values : NULL, p ? p->lengths : NULL,
				    p ? wire_all_binary : NULL, 1),
		  p);
}

bk_status pg_wire_ask_sql(struct pg_wire *w, const char *sql, const struct pg_params *p,
			  const char *what, struct bk_error *err)
{
	pg_send_sql(w, sql, p, NULL, PG_NO_ITEM);
	return pg_wire_finish(w, what, err);
}
