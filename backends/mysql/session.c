/*
 * session.c - one connection and what hangs on it; the brackets around every operation; cancel.
 *
 * The one invariant: between my_leave() and the next my_enter() no KILL is on its way to this
 * connection, so that a cancelled operation never takes the next one with it.
 */
#include "session.h"

#include <errmsg.h>
#include <pthread.h>
#include <stdlib.h>

enum { IDLE, BUSY, CANCELLING };

static bk_status open_now(struct bk_session **out, struct bk_store *store,
			  const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s = calloc(1, sizeof(*s));
	struct my_mark mark;
	bk_status st;

	if (!s)
		return my_nomem(err);
	s->store = store;
	s->timeout_ns = config->timeout_ns;
	pthread_mutex_init(&s->cancel_lock, NULL);
	s->parents = calloc(MY_PARENTS, sizeof(*s->parents));
	st = s->parents ? my_need_database(store, err) : my_nomem(err);
	if (!st)
		st = my_connect(&s->conn, store, s->timeout_ns, err);
	if (!st)
		st = my_server_read(&s->server, store, s->conn, err);
	if (!st)
		st = my_server_check(&s->server, config->durability, err);
	if (!st)
		st = my_mark_read(&mark, store, s->conn, err);
	if (!st && mark.found == MY_STRANGE)
		st = my_mark_foreign(store, &mark, err);
	if (st) {
		my_session_ops.close(s);
		return st;
	}
	s->thread_id = mysql_thread_id(s->conn);
	s->col = s->cols;
	s->level = s->server.isolation;
	s->piece = (size_t)(s->server.packet_bytes / 4 < MY_PIECE_MAX ? s->server.packet_bytes / 4
								      : MY_PIECE_MAX);
#ifdef LIBMARIADB
	/* Array binding came with MariaDB 10.2; a MySQL server does not know it. */
	s->bulk = store->opts->inserts == MY_INSERTS_AUTO && s->server.mariadb &&
		  s->server.version >= 100200;
#endif
	*out = s;
	return BK_OK;
}

static bk_status session_open(struct bk_session **out, struct bk_store *store,
			      const struct bk_session_config *config, struct bk_error *err)
{
	struct my_pipe pipe;
	bk_status st;

	my_pipe_hold(&pipe, store);
	st = open_now(out, store, config, err);
	my_pipe_release(&pipe);
	return st;
}

static void session_close(struct bk_session *s)
{
	size_t i;

	if (!s)
		return;
	my_pipe_hold(&s->pipe, s->store);
	if (s->conn) {
		my_stmts_close(s);
		mysql_close(s->conn);
	}
	my_pipe_release(&s->pipe);
	for (i = 0; s->parents && i < MY_PARENTS; i++)
		free(s->parents[i].id);
	free(s->parents);
	my_deferred_free(s);
	my_arena_free(&s->views);
	my_arena_free(&s->work);
	my_arena_free(&s->cursor_views);
	my_buf_free(&s->doc);
	my_buf_free(&s->text);
	pthread_mutex_destroy(&s->cancel_lock);
	free(s);
}

/* ---- Brackets ------------------------------------------------------------------- */

static bk_status refuse(struct bk_session *s, uint32_t how, struct bk_error *err)
{
	if (s->dead)
		return bk_fail(err, BK_UNAVAILABLE, CR_SERVER_LOST,
			       "mysql: the connection was lost; open another session");
	if (s->txn == MY_TXN_ENDED && s->ended == BK_CONFLICT) {
		bk_fail(err, BK_CONFLICT, 0,
			"mysql: the server has undone this transaction; roll back and run it again");
		err->flags = BK_ERR_RETRY;
		return BK_CONFLICT;
	}
	if (s->txn == MY_TXN_ENDED)
		return bk_fail(err, BK_STATE, 0,
			       "mysql: this transaction has ended with a failure; roll back");
	if ((how & (MY_WRITES | MY_PUTS)) && s->txn == MY_TXN_OPEN && s->read_only)
		return bk_fail(err, BK_STATE, 0, "mysql: a write in a read-only transaction");
	return BK_OK;
}

bk_status my_enter(struct bk_session *s, uint32_t how, struct bk_error *err)
{
	bk_status st = refuse(s, how, err);

	if (st)
		return st;
	my_pipe_hold(&s->pipe, s->store);
	atomic_store(&s->state, BUSY);
	if (s->timeout_ns)
		s->deadline_ns = s->store->host->now_ns(s->store->host->ctx) + s->timeout_ns;
	s->dirty = false;
	s->writing = (how & (MY_WRITES | MY_PUTS)) != 0;
	s->col = how & MY_HANDLE ? s->handle_cols : s->cols;
	if (!(how & MY_HANDLE))
		my_arena_reset(&s->views);
	my_arena_reset(&s->work);
	if (s->deferred && !(how & MY_PUTS))
		st = my_deferred_send(s, err);
	if (st)
		my_leave(s);
	return st;
}

void my_leave(struct bk_session *s)
{
	int busy = BUSY;

	if (s->txn == MY_TXN_ENDED && !s->undone) {
		/* A lock wait that timed out undoes its statement only: let go of the rest. */
		s->undone = true;
		my_rollback(s);
	}
	s->writing = false;
	if (!atomic_compare_exchange_strong(&s->state, &busy, IDLE)) {
		/* Wait for the KILL to have been sent, then let it hit something harmless. */
		pthread_mutex_lock(&s->cancel_lock);
		pthread_mutex_unlock(&s->cancel_lock);
		if (!s->dead)
			(void)mysql_query(s->conn, "DO 0"); /* it may be killed: that is its use */
		atomic_store(&s->state, IDLE);
	}
	my_pipe_release(&s->pipe);
}

bool my_cancelled(struct bk_session *s)
{
	return atomic_load(&s->state) == CANCELLING;
}

/* [any] KILL QUERY goes over a connection that all sessions of the store share for this. */
static void session_cancel(struct bk_session *s)
{
	struct my_pipe pipe;
	int busy = BUSY;

	my_pipe_hold(&pipe, s->store);
	pthread_mutex_lock(&s->cancel_lock);
	if (atomic_compare_exchange_strong(&s->state, &busy, CANCELLING))
		my_kill_query(s->store, s->thread_id);
	pthread_mutex_unlock(&s->cancel_lock);
	my_pipe_release(&pipe);
}

static void session_counters(struct bk_session *s, const struct bk_sink *sink)
{
	sink->put_u64(sink->ctx, "requests", s->requests, "count", 0);
	sink->put_u64(sink->ctx, "retries", s->retries, "count", 0);
	sink->put_u64(sink->ctx, "reconnects", 0, "count", 0);
#ifdef LIBMARIADB
	{
		/* A lost connection has no transport, and the library looks for it all the same. */
		if (s->conn->net.pvio) {
			mariadb_get_infov(s->conn, MARIADB_CONNECTION_BYTES_SENT, &s->sent_bytes);
			mariadb_get_infov(s->conn, MARIADB_CONNECTION_BYTES_READ,
					  &s->received_bytes);
		}
		sink->put_u64(sink->ctx, "bytes.sent", s->sent_bytes, "bytes", 0);
		sink->put_u64(sink->ctx, "bytes.received", s->received_bytes, "bytes", 0);
	}
#endif
}

const struct bk_session_ops my_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = session_open,
	.close = session_close,
	.cancel = session_cancel,
	.counters = session_counters,
};
