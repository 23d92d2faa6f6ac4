/*
 * pg.h - what the files of this backend share: options, store, session, and the doors between
 * the parts.
 *
 * The invariant: every request travels through struct pg_wire, whose connection stays in pipeline
 * mode.  A request is a few statements and a sync; what was sent is listed in `due`, in order, and
 * nothing is taken off the connection except through that list.
 */
#ifndef BK_PG_H
#define BK_PG_H

#include <bakeoff/backend.h>
#include <bakeoff/backend_util.h>

#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "params.h"
#include "statements.h"

#define PG_NATIVE_FEATURES                                                                         \
	(BK_F_NODES | BK_F_CAS | BK_F_TXN | BK_F_TXN_BINARIES | BK_F_GET_MANY | BK_F_PUT_MANY |    \
	 BK_F_BATCH_ATOMIC | BK_F_APPEND | BK_F_WALK | BK_F_TXN_WALK | BK_F_BINARIES |             \
	 BK_F_BINARY_STREAM | BK_F_BINARY_RANGE | BK_F_BINARY_CREATE | BK_F_CANCEL | BK_F_SETTLE | \
	 BK_F_PLACES | BK_F_CHILL | BK_F_TIMEOUT)

#define PG_SQL_BYTEA  17u /* type numbers that PostgreSQL has fixed for ever */
#define PG_SQL_INT8   20u
#define PG_SQL_TEXT   25u
#define PG_SQL_FLOAT8 701u

#define PG_CHUNK_BYTES (256u * 1024) /* of a binary, in one row */
#define PG_PAGE        1000          /* rows of a walk or a listing that are fetched at once */
#define PG_MANY_BYTES  (8u * 1024 * 1024)
#define PG_MANY_IDS    4096u

enum pg_layout { PG_RELATIONAL, PG_DOCUMENT };
enum pg_binaries { PG_BYTEA, PG_LARGE_OBJECT };

struct pg_options {
	const char *url, *host, *port, *database, *user, *password, *passfile, *sslmode, *bin_dir;
	const char *shared_buffers, *max_wal_size, *max_connections;
	uint64_t connect_timeout_us;
	uint32_t layout;   /* enum pg_layout */
	uint32_t binaries; /* enum pg_binaries */
};
extern const struct bk_option pg_option_table[];
extern const struct bk_service pg_service;

/* ---- wire.c: one connection ------------------------------------------------------------- */

struct pg_wire;
/* Looks at the result of one statement; the wire frees it unless `take` is NULL, which keeps it
 * in wire->result. */
typedef void (*pg_take)(struct pg_wire *w, PGresult *res, uint64_t item);

struct pg_due {
	pg_take take;
	uint64_t item;    /* ordinal of the write that the statement belongs to; UINT64_MAX: none */
	int32_t prepares; /* the statement that it prepares; -1: it executes one */
};

struct pg_wire {
	PGconn *conn;
	PGcancel *cancel;
	const struct bk_host *host;
	struct bk_session *session; /* NULL: the store's own connection */
	struct pg_due *due;         /* a ring; due_cap is a power of two */
	size_t due_head, due_count, due_cap;
	uint32_t syncs;  /* asked for and not yet answered */
	bool in_result;  /* the head of `due` has answered; its end is still to come */
	bool dead;       /* of no use: every later call answers UNAVAILABLE */
	bool failed;     /* since the last report; then `failure` says how */
	bool unanswered; /* the failure is the connection's: what was sent may have been done */
	uint8_t prepared[PG_STATEMENTS];
	size_t unpumped_bytes;
	uint64_t timeout_ns, started_ns;
	atomic_int cancelled;
	PGresult *result; /* of the last statement with no `take` */
	struct bk_error failure;
	uint64_t requests, retries;
};

#define PG_NO_ITEM UINT64_MAX

void pg_wire_init(struct pg_wire *w, const struct bk_host *host, struct bk_session *session);
void pg_wire_close(struct pg_wire *w);
/* Starts a call: the time-out runs from here, an older cancel no longer counts. */
void pg_wire_start(struct pg_wire *w);
/* Queue one statement.  A failure is recorded and reported by pg_wire_finish(). */
void pg_send(struct pg_wire *w, enum pg_statement st, const struct pg_params *p, pg_take take,
	     uint64_t item);
void pg_send_sql(struct pg_wire *w, const char *sql, const struct pg_params *p, pg_take take,
		 uint64_t item);
/* Take what has been answered and send what the socket takes, without waiting for answers. */
void pg_wire_pump(struct pg_wire *w);
/* Sync, wait for every answer, report the first failure.  `what` begins the message. */
bk_status pg_wire_finish(struct pg_wire *w, const char *what, struct bk_error *err);
/* The same without a report: the failure stays recorded. */
void pg_wire_settle(struct pg_wire *w);
/* Report and forget the recorded failure; BK_OK when there is none. */
bk_status pg_wire_report(struct pg_wire *w, const char *what, struct bk_error *err);
/* One statement, one answer in w->result. */
bk_status pg_wire_ask_sql(struct pg_wire *w, const char *sql, const struct pg_params *p,
			  const char *what, struct bk_error *err);
/* Record a failure that is not the server's; the first one counts. */
void pg_wire_refuse(struct pg_wire *w, bk_status status, uint64_t item, const char *text);
void pg_take_nothing(struct pg_wire *w, PGresult *res, uint64_t item);
/* For copy.c, which leaves the pipeline for a while: wait for the socket, or for an answer; record
 * that the connection has gone, or what the server refused. */
bool pg_wire_poll(struct pg_wire *w, bool unsent);
bool pg_wire_ready(struct pg_wire *w);
void pg_wire_lost(struct pg_wire *w);
void pg_wire_failed(struct pg_wire *w, const PGresult *res, uint64_t item);
uint64_t pg_rows(const PGresult *res); /* returned or changed */

/* ---- copy.c: COPY ... FROM STDIN BINARY ------------------------------------------------- */

/* With nothing due.  Begin, for each row its fields, end: failures are recorded, what follows one
 * is dropped, and pg_copy_end() brings the connection back into the pipeline in any case. */
struct pg_copy {
	struct pg_wire *wire;
	struct pg_buffer *rows;
	bool open;
};
void pg_copy_begin(struct pg_copy *c, struct pg_wire *w, struct pg_buffer *rows, const char *sql);
void pg_copy_row(struct pg_copy *c, uint16_t fields);
void pg_copy_value(struct pg_copy *c, struct bk_slice v);
void pg_copy_null(struct pg_copy *c);
void pg_copy_int(struct pg_copy *c, uint64_t v); /* int8 */
void pg_copy_end(struct pg_copy *c);

/* ---- error.c: SQLSTATE to status -------------------------------------------------------- */

bk_status pg_status_of(const char *sqlstate);
void pg_error_from_result(struct bk_error *err, const struct pg_wire *w, const PGresult *res);
void pg_error_lost(struct bk_error *err, const struct pg_wire *w);
bk_status pg_error_connect(struct bk_error *err, PGconn *conn, const struct pg_options *o);
bk_status pg_error_copy(struct bk_error *to, const struct bk_error *from, const char *what);

/* ---- connect.c -------------------------------------------------------------------------- */

struct pg_in_force {
	char isolation[24]; /* default_transaction_isolation */
	char fsync[8], full_page_writes[8], synchronous_commit[16];
	int version; /* 150020 */
};
/* Connect, enter pipeline mode, set what the backend relies on, read back what is in force. */
bk_status pg_connect(struct pg_wire *w, const struct bk_store *store, uint32_t durability,
		     struct pg_in_force *in_force, struct bk_error *err);
uint32_t pg_durability_of(const struct pg_in_force *f);

/* ---- store.c, schema.c, inspect.c ------------------------------------------------------- */

struct bk_store {
	const struct bk_host *host;
	const struct pg_options *options;
	uint32_t durability;
	char schema[40];
	char *mark;
	struct pg_wire admin;
	struct pg_in_force in_force;
	uint32_t sessions_max;
};
/* The control connection, opened again if the server has been restarted meanwhile. */
bk_status pg_admin(struct bk_store *store, struct bk_error *err);
bk_status pg_store_make(struct bk_store *store, struct bk_error *err);
bk_status pg_store_clear(struct bk_store *store, struct bk_error *err);
bk_status pg_store_unmake(struct bk_store *store, struct bk_error *err);
bk_status pg_store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			   struct bk_error *err);
bk_status pg_inspect_counters(struct bk_store *store, const struct bk_sink *sink,
			      struct bk_error *err);
void pg_sink_result(const struct bk_sink *sink, const PGresult *res, int row, uint32_t flags);
extern const struct bk_store_ops pg_store_ops;

/* ---- session.c, txn.c ------------------------------------------------------------------- */

enum pg_txn {
	PG_TXN_NONE,
	PG_TXN_OPEN,  /* each call is answered before it returns */
	PG_TXN_DEFER, /* writes are queued */
	PG_TXN_FAILED /* the server has given it up; waits for commit or rollback */
};

enum pg_held { PG_HELD_NONE, PG_HELD, PG_HELD_IN_TXN };

enum pg_cursor_kind { PG_CURSOR_PAGES, PG_CURSOR_SERVER, PG_CURSOR_LIST, PG_CURSOR_ROW };

struct bk_cursor {
	struct bk_session *session;
	enum pg_cursor_kind kind;
	PGresult *page;
	int row, rows;
	bool last; /* no page after this one */
	bool open;
	bool fixed_rel;
	uint32_t dir, want;
	struct pg_buffer start, rel; /* where the walk begins; the relation that was asked for */
	/* Document layout: what the row listed, as entries; the next to visit; the end of the page
	 * that has been looked up in the table; id to row of that page. */
	struct pg_buffer list;
	size_t list_at, list_page_end;
	struct pg_map map;
};

struct pg_seen { /* what the statements of one put or remove have answered so far */
	bool found, same_version, same_place;
	uint64_t changed; /* rows */
};

struct bk_writer {
	struct bk_session *session;
	struct pg_buffer key, chunk;
	uint64_t id; /* of its rows; or the number of the large object */
	uint64_t declared_bytes, sent_bytes;
	uint32_t seq, mode;
	bool open;
	bool own_txn;   /* the connection is inside the writer's own transaction */
	bool left_rows; /* rows have been committed before the binary was finished */
	bool failed;
	struct bk_error failure;
};

struct bk_reader {
	struct bk_session *session;
	bool open;
	uint64_t id, at, next, end; /* bytes: the caller's place, next to fetch, end of range */
	PGresult *page;
	int row, rows, field;
	size_t row_at; /* bytes of the row that have been read */
};

struct pg_unit; /* doc.h */

struct bk_session {
	struct bk_store *store;
	struct pg_wire wire;
	struct pg_in_force in_force;
	enum pg_txn txn;
	bool txn_read_only;
	struct bk_error txn_error; /* why PG_TXN_FAILED */
	uint64_t writes;           /* in this transaction */
	struct pg_seen seen;
	enum pg_held server_cursor; /* the server still holds one, to be closed before the next */
	struct bk_cursor cursor;
	struct bk_writer writer;
	struct bk_reader reader;
	struct pg_buffer text, arrays[6]; /* scratch: SQL; arrays bound as parameters */
	struct pg_buffer views;           /* what borrowed views point into, beside wire.result */
	PGresult *shown, *more;           /* results that borrowed views point into */
	struct pg_map map;
	struct pg_unit *unit;
	uint64_t binary_id, binary_id_end; /* a block of numbers drawn from the sequence */
};

/* The beginning of each operation.  They refuse on a dead connection or a failed transaction, and
 * park a writer that holds the connection; a read waits for deferred writes.  Calls on the session
 * let go of earlier views; calls on a cursor or a reader, which begin with pg_begin_handle(), leave
 * them be. */
bk_status pg_begin_handle(struct bk_session *s, const char *what, struct bk_error *err);
bk_status pg_begin_read(struct bk_session *s, const char *what, struct bk_error *err);
bk_status pg_begin_write(struct bk_session *s, const char *what, struct bk_error *err);
void pg_drop_views(struct bk_session *s);
/* Keep wire.result for the views into it that the caller gets. */
const PGresult *pg_show(struct bk_session *s);
/* The end of one: waits, except in a deferred transaction; marks a transaction that the server
 * has given up.  `writes`: the connection's loss leaves the outcome open. */
bk_status pg_end(struct bk_session *s, const char *what, bool writes, struct bk_error *err);
bk_status pg_end_write(struct bk_session *s, const char *what, struct bk_error *err);
/* pg_end() that waits in a deferred transaction too. */
bk_status pg_txn_flush(struct bk_session *s, struct bk_error *err);
/* The ordinal that a deferred write's failure is to bear. */
static inline uint64_t pg_item(const struct bk_session *s)
{
	return s->txn == PG_TXN_DEFER ? s->writes : PG_NO_ITEM;
}
extern const struct bk_session_ops pg_session_ops;

/* Document layout: what deferred writes have changed and not yet sent. */
bk_status pg_doc_unit_new(struct pg_unit **out, const struct bk_host *host, struct bk_error *err);
void pg_doc_unit_free(struct pg_unit *u);
void pg_doc_unit_forget(struct pg_unit *u);
bk_status pg_doc_unit_flush(struct bk_session *s, struct bk_error *err);
extern const struct bk_txn_ops pg_txn_ops;

/* ---- node.c and the two layouts --------------------------------------------------------- */

struct pg_limits {
	uint64_t id, path, rel, key, doc, binary;
};
const struct pg_limits *pg_limits_of(const struct bk_store *store);

#define PG_NODE_OPS(prefix)                                                                        \
	bk_status prefix##_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,      \
			       uint32_t want, struct bk_error *err);                               \
	bk_status prefix##_get_many(struct bk_node *out, size_t *done, struct bk_session *s,       \
				    const struct bk_slice *ids, size_t n, uint32_t want,           \
				    struct bk_error *err);                                         \
	bk_status prefix##_find(struct bk_slice *id_out, struct bk_session *s,                     \
				struct bk_slice path, struct bk_error *err);                       \
	bk_status prefix##_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,    \
			       struct bk_error *err);                                              \
	bk_status prefix##_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,   \
				    uint32_t mode, struct bk_error *err);                          \
	bk_status prefix##_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err); \
	bk_status prefix##_walk_open(struct bk_cursor *c, struct bk_slice start,                   \
				     const struct bk_step *steps, size_t n_steps,                  \
				     struct bk_error *err)
PG_NODE_OPS(pg_rel);
PG_NODE_OPS(pg_doc);
bk_status pg_rel_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			const struct bk_link *links, size_t link_count, struct bk_error *err);
bk_status pg_rel_walk_page(struct bk_cursor *c, struct bk_error *err);
bk_status pg_doc_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			   struct bk_error *err);
/* Queue the statements of one put; the takes judge what comes back. */
void pg_rel_queue_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		      uint64_t item);
bk_status pg_check_text(const char *what, struct bk_slice v, uint64_t max, struct bk_error *err);
extern const struct bk_node_ops pg_node_ops;

/* ---- binaries --------------------------------------------------------------------------- */

/* Give the connection back: commit what the writer has sent so far, unseen until it is finished. */
void pg_writer_park(struct bk_writer *w);
/* The transaction that it wrote in is being rolled back. */
void pg_writer_disown(struct bk_writer *w);
void pg_writer_free(struct bk_writer *w);
bk_status pg_list_page(struct bk_cursor *c, struct bk_error *err);
extern const struct bk_binary_ops pg_binary_ops;
extern const struct bk_place_ops pg_place_ops;

/* A page has been used up or the handle is closed. */
void pg_cursor_drop_page(struct bk_cursor *c);

#endif
