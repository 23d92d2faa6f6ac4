/*
 * session.h - a session: its connection, its statements, the brackets around every operation, many
 * rows at once, and what the two layouts offer.
 *
 * The one invariant: everything here is called by the thread that opened the session, but cancel().
 */
#ifndef BK_MYSQL_SESSION_H
#define BK_MYSQL_SESSION_H

#include "my.h"
#include "sql.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Session (session.c, txn.c) ------------------------------------------------- */

enum my_txn_state {
	MY_TXN_NONE,
	MY_TXN_OPEN,
	MY_TXN_ENDED, /* by a failure; commit and rollback are still to come */
};

struct my_column { /* of the current row */
	uint64_t num;
	char *buf;
	size_t cap;
	unsigned long len;
	my_bool null, cut;
};

struct my_dynamic { /* a statement whose text is made at run time */
	char *text;
	MYSQL_STMT *stmt;
	uint64_t used;
};
#define MY_DYNAMIC 64u

struct my_parent { /* a node's number by its id: numbers are never used twice, so that a stale
		    * entry is caught by the foreign key */
	char *id;
	size_t len, cap;
	uint64_t hash, n;
};
#define MY_PARENTS 1024u

enum my_sql {
#define X(name, text) MY_SQL_##name,
	MY_SQL_LIST(X)
#undef X
		MY_SQL_COUNT
};

struct my_deferred; /* deferred.c */

/* A position: one of the pointers is set, by whoever opened it. */
struct bk_cursor {
	struct bk_session *s;
	bool open;
	struct my_walk *walk;         /* rel_walk.c */
	struct my_doc_walk *doc_walk; /* doc_walk.c */
	struct my_list *list;         /* bin_list.c */
};

struct bk_session {
	struct bk_store *store;
	MYSQL *conn;
	unsigned long thread_id;
	struct my_server server;
	uint64_t timeout_ns, deadline_ns;
	size_t piece;  /* bytes of a document in one row */
	bool bulk;     /* array binding is to be had */
	bool dead;     /* the connection was lost */
	bool writing;  /* the operation at hand may change something */
	bool dirty;    /* ... and has */
	bool deciding; /* a commit is on its way */

	enum my_txn_state txn;
	bool defer, read_only, snapshot_on;
	uint32_t level;       /* BK_ISO_* of the next transaction; 0: unknown */
	bool undone;          /* MY_TXN_ENDED: rolled back on the server */
	bool unit, savepoint; /* see my_unit_begin() */
	bool sending_deferred;
	bk_status ended; /* why: MY_TXN_ENDED */
	uint64_t writes; /* calls that wrote in this transaction, for err->item */
	struct my_deferred *deferred;

	MYSQL_STMT *stmt[MY_SQL_COUNT], *get_flat[4], *get_union[8];
	struct my_dynamic dynamic[MY_DYNAMIC];
	uint64_t clock;
	struct my_column *col; /* of the call at hand: one of the two below */
	struct my_column cols[MY_COLUMNS], handle_cols[MY_COLUMNS];

	uint64_t number_next, number_end; /* reserved node and binary numbers */
	struct my_parent *parents;        /* MY_PARENTS of them, direct-mapped */
	uint64_t long_doc;                /* hash of the id last seen too long to grow in its row */

	struct my_arena views;        /* borrowed views of the last call */
	struct my_arena cursor_views; /* borrowed views of the cursor */
	struct my_arena work;         /* scratch of the call at hand */
	struct my_buf doc;            /* a document put together from segments */
	struct my_buf text;           /* of a statement */
	uint64_t view_avg;            /* bytes of views an id took in get_many, running */

	struct bk_cursor cursor;
	struct bk_writer *writer;
	struct bk_reader *reader;

	pthread_mutex_t cancel_lock;
	atomic_int state; /* session.c */
	struct my_pipe pipe;
	uint64_t requests, retries;
	size_t sent_bytes, received_bytes;
};

/* Brackets of every operation: refuses a dead session or an ended transaction, sets the deadline,
 * sends what was deferred.  Not OK: nothing to leave. */
#define MY_READS  (1u << 0)
#define MY_WRITES (1u << 1)
#define MY_PUTS   (1u << 2) /* a write that may be deferred: what waits is left waiting */
#define MY_HANDLE (1u << 3) /* on a cursor, reader or writer: the session's views stay */
bk_status my_enter(struct bk_session *s, uint32_t how, struct bk_error *err);
void my_leave(struct bk_session *s);
bool my_cancelled(struct bk_session *s);

/* A transaction around an operation of several statements: the caller's if one is open, and then
 * `savepoint` says whether this operation can fail half done. */
bk_status my_unit_begin(struct bk_session *s, bool savepoint, struct bk_error *err);
/* Commits when st is OK, else undoes.  Returns the outcome. */
bk_status my_unit_end(struct bk_session *s, bk_status st, struct bk_error *err);
void my_txn_ended(struct bk_session *s, bk_status why);
void my_txn_end(struct bk_session *s);
void my_rollback(struct bk_session *s);

bk_status my_deferred_put(struct bk_session *s, const struct bk_node *nodes, size_t n,
			  uint32_t mode, struct bk_error *err);
bk_status my_deferred_send(struct bk_session *s, struct bk_error *err);
void my_deferred_drop(struct bk_session *s);
void my_deferred_free(struct bk_session *s);

/* Numbers for nodes and binaries (rel_parent.c). */
bk_status my_number(uint64_t *out, struct bk_session *s, struct bk_error *err);
void my_parents_forget(struct bk_session *s);

/* ---- Statements (stmt.c) -------------------------------------------------------- */

bk_status my_query(struct bk_session *s, const char *text, const char *what, struct bk_error *err);
bk_status my_fail_stmt(struct bk_session *s, MYSQL_STMT *stmt, const char *what,
		       struct bk_error *err);
const char *my_sql_text(enum my_sql which);
bk_status my_prepare(MYSQL_STMT **out, struct bk_session *s, const char *text,
		     struct bk_error *err);
bk_status my_stmt(MYSQL_STMT **out, struct bk_session *s, enum my_sql which, struct bk_error *err);
bk_status my_stmt_text(MYSQL_STMT **out, struct bk_session *s, const char *text,
		       struct bk_error *err);
void my_stmts_close(struct bk_session *s);

void my_bind_num(MYSQL_BIND *b, uint64_t *v);
void my_bind_null(MYSQL_BIND *b);
void my_bind_bytes(MYSQL_BIND *b, struct bk_slice v);

/* Runs it; params may be NULL when there are none. */
bk_status my_exec(struct bk_session *s, MYSQL_STMT *stmt, MYSQL_BIND *params, const char *what,
		  struct bk_error *err);
/* Columns of the result into s->col: 'n' number, 'b' bytes, one letter each. */
bk_status my_rows(struct bk_session *s, MYSQL_STMT *stmt, const char *columns, const char *what,
		  struct bk_error *err);
/* OK with a row in s->col, or BK_END. */
bk_status my_row(struct bk_session *s, MYSQL_STMT *stmt, const char *columns, const char *what,
		 struct bk_error *err);
void my_rows_end(MYSQL_STMT *stmt);
static inline struct bk_slice my_bytes(const struct bk_session *s, unsigned i)
{
	return bk_slice_of(s->col[i].buf, s->col[i].null ? 0 : s->col[i].len);
}
/* exec + rows + first row */
bk_status my_one(struct bk_session *s, enum my_sql which, MYSQL_BIND *params, const char *columns,
		 const char *what, struct bk_error *err);
bk_status my_do(struct bk_session *s, enum my_sql which, MYSQL_BIND *params, uint64_t *affected,
		const char *what, struct bk_error *err);

/* A statement with lists: each "(*)" of `text` becomes a list of placeholders for the keys; sizes
 * are rounded up so that few statements are prepared, the last key fills the rest. */
bk_status my_exec_in(MYSQL_STMT **out, struct bk_session *s, const char *text,
		     const struct bk_slice *keys, uint64_t *numbers, size_t n, const char *what,
		     struct bk_error *err);

/* ---- Many rows (bulk.c) --------------------------------------------------------- */

/* One statement for many rows of parameters: array binding where server and library have it,
 * VALUES lists for inserts elsewhere, one by one for the rest. */
struct my_bulk {
	struct bk_session *s;
	const char *columns; /* 'n' number, 'o' number where 0 is NULL, 'b' bytes */
	const char *what;
	enum my_sql which;
	unsigned width;
	size_t max, rows, bytes_max, bytes;
	uint64_t *num; /* cells by column: column * max + row */
	const void **data;
	unsigned long *len;
	char *null;
};
bk_status my_bulk_init(struct my_bulk *b, struct bk_session *s, enum my_sql which,
		       const char *columns, size_t rows_max, const char *what,
		       struct bk_error *err);
/* Values are borrowed until the bulk has been sent. */
void my_bulk_num(struct my_bulk *b, unsigned column, uint64_t v);
void my_bulk_bytes(struct my_bulk *b, unsigned column, struct bk_slice v);
/* Before a row that may be large: sends those before it if they would not fit together. */
bk_status my_bulk_room(struct my_bulk *b, size_t bytes, struct bk_error *err);
bk_status my_bulk_next(struct my_bulk *b, struct bk_error *err); /* the row is complete */
bk_status my_bulk_send(struct my_bulk *b, struct bk_error *err);

/* ---- Nodes ---------------------------------------------------------------------- */

struct my_node_table {
	bk_status (*get)(struct bk_node *, struct bk_session *, struct bk_slice, uint32_t,
			 struct bk_error *);
	bk_status (*get_many)(struct bk_node *, size_t *, struct bk_session *,
			      const struct bk_slice *, size_t, uint32_t, struct bk_error *);
	bk_status (*find)(struct bk_slice *, struct bk_session *, struct bk_slice,
			  struct bk_error *);
	/* All or none; *item: the first that could not be.  `more`: the one after these breaks a
	 * limit, so that they are tried and undone. */
	bk_status (*put)(struct bk_session *, const struct bk_node *, size_t n, bool more,
			 uint32_t mode, size_t *item, struct bk_error *);
	bk_status (*remove)(struct bk_session *, struct bk_slice, struct bk_error *);
	bk_status (*walk_open)(struct bk_cursor *, struct bk_slice start, const struct bk_step *,
			       size_t, uint32_t want, struct bk_error *);
	bk_status (*walk_next)(struct bk_cursor *, struct bk_hit *, size_t, size_t *,
			       struct bk_error *);
	void (*walk_close)(struct bk_cursor *);
};

bk_status my_put_now(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode,
		     size_t *item, struct bk_error *err);
bk_status my_check_id(struct bk_slice id, struct bk_error *err);
bk_status my_bin_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			   uint64_t offset, uint64_t len, struct bk_binary_info *info,
			   struct bk_error *err);
bk_status my_bin_read(struct bk_reader *r, void *buf, size_t cap, size_t *n, struct bk_error *err);
void my_bin_read_close(struct bk_reader *r);
bk_status my_bin_stat(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
		      struct bk_error *err);
bk_status my_bin_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err);
bk_status my_bin_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			   size_t cap, size_t *n, struct bk_error *err);
void my_bin_list_close(struct bk_cursor *c);

#endif
