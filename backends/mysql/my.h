/*
 * my.h - what the files of the mysql backend share: options, store, session, statements.
 *
 * The one invariant: every byte that comes from outside reaches the server as a bound parameter;
 * the text of a statement holds nothing but our own words and the checked table prefix.  (The few
 * statements that cannot be prepared, on accounts and databases, quote through sql_text.c.)
 */
#ifndef BK_MYSQL_MY_H
#define BK_MYSQL_MY_H

#include <bakeoff/backend.h>
#include <bakeoff/backend_util.h>

#include <mysql.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "mem.h"

/* libmysqlclient 8 dropped my_bool; libmariadb still has it, as char. */
#if !defined(LIBMARIADB) && MYSQL_VERSION_ID >= 80001
typedef bool my_bool;
#endif
#ifdef LIBMARIADB
#define MY_LIBRARY "libmariadb"
#else
#define MY_LIBRARY "libmysqlclient"
#endif

/* InnoDB's index entries end at 3072 bytes: (src, rel, target) must fit with two of MY_NAME_MAX. */
#define MY_ID_MAX   1024u
#define MY_REL_MAX  1024u
#define MY_KEY_MAX  3072u
#define MY_PATH_MAX 3071u /* one byte less: the document layout puts a letter before it */
#define MY_DOC_MAX  (UINT64_C(1) << 30)

/* A value longer than this is cut into rows of this size: no statement and no row of ours comes
 * near the server's max_allowed_packet, and memory stays bounded. */
#define MY_PIECE_MAX  (1u << 20)
#define MY_VIEWS_MAX  (8u << 20) /* get_many answers a prefix rather than hold more */
#define MY_IN_MAX     512u       /* keys in one IN list */
#define MY_BATCH_MAX  1000u      /* rows in one array or multi-row insert */
#define MY_BATCH_SIZE (4u << 20) /* bytes in one */
#define MY_BLOCK      1024u      /* node numbers that a session reserves at a time */
#define MY_STEPS_MAX  24u        /* a join takes 61 tables, a step up to two */
#define MY_COLUMNS    (MY_STEPS_MAX * 3 + 2)

enum my_layout { MY_RELATIONAL, MY_DOCUMENT };
enum my_tls { MY_TLS_OFF, MY_TLS_ON, MY_TLS_VERIFY };
enum my_inserts { MY_INSERTS_AUTO, MY_INSERTS_ROWS };

/* ---- Options (backend.c) -------------------------------------------------------- */

struct my_options {
	const char *url, *host, *socket, *database, *user, *password, *tls_ca, *bin_dir;
	uint64_t port;
	uint64_t chunk_bytes;
	uint64_t connect_timeout_us;
	const char *buffer_pool, *redo_log, *max_connections; /* of a private server */
	uint32_t tls, layout, inserts;
};

/* The options and the URL made one; owned strings. */
struct my_target {
	char *host, *socket, *database, *user, *password, *tls_ca;
	uint32_t port, tls, connect_timeout_s;
};
bk_status my_target_init(struct my_target *out, const struct my_options *o, struct bk_error *err);
void my_target_free(struct my_target *t);
/* "socket /run/x.sock" or "host:port", for messages. */
void my_target_name(const struct my_target *t, char *out, size_t cap);

/* ---- The server behind a connection (server.c) ---------------------------------- */

struct my_server {
	bool mariadb;
	uint32_t version; /* 101119, 80036 */
	uint32_t flush_at_commit, sync_binlog;
	bool log_bin, doublewrite, flush_nosync, has_snapshot;
	uint32_t isolation; /* BK_ISO_* that a transaction has when none is asked for */
	uint32_t connections;
	uint64_t packet_bytes;
};
bk_status my_server_read(struct my_server *out, struct bk_store *store, MYSQL *conn,
			 struct bk_error *err);
uint32_t my_server_durability(const struct my_server *server);
/* OK, or UNSUPPORTED naming the setting that stands in the way. */
bk_status my_server_check(const struct my_server *server, uint32_t durability,
			  struct bk_error *err);

/* ---- Store (store.c, schema.c, mark.c) ------------------------------------------ */

struct bk_store {
	const struct bk_host *host;
	const struct my_options *opts;
	struct my_target target;
	struct my_server server; /* as read at open */
	char *mark;
	char prefix[32]; /* "main_"; before every table's name */
	uint32_t layout;
	uint64_t chunk; /* bytes of a binary in one row */
	const struct my_node_table *nodes;
	MYSQL *conn;           /* the control thread's */
	struct my_arena views; /* borrowed views of place.list() */
};

bk_status my_control(MYSQL **out, struct bk_store *store, struct bk_error *err); /* reconnects */
bk_status my_need_database(const struct bk_store *store, struct bk_error *err);
extern const struct bk_store_ops my_store_ops;

#define MY_NATIVE                                                                                  \
	(BK_F_NODES | BK_F_CAS | BK_F_TXN | BK_F_TXN_BINARIES | BK_F_GET_MANY | BK_F_PUT_MANY |    \
	 BK_F_BATCH_ATOMIC | BK_F_APPEND | BK_F_WALK | BK_F_TXN_WALK | BK_F_BINARIES |             \
	 BK_F_BINARY_STREAM | BK_F_BINARY_RANGE | BK_F_BINARY_CREATE | BK_F_CANCEL | BK_F_SETTLE | \
	 BK_F_PLACES | BK_F_TIMEOUT)

bk_status my_schema_make(struct bk_store *store, struct bk_error *err);
bk_status my_schema_clear(struct bk_store *store, struct bk_error *err);
bk_status my_schema_unmake(struct bk_store *store, struct bk_error *err);
uint64_t my_doc_max(const struct bk_store *store);
extern const char *const my_table_names[]; /* without prefix, of both layouts; ends with NULL */

/* What stands where the store wants to be. */
enum my_found { MY_NOTHING, MY_OURS, MY_STRANGE };
struct my_mark {
	enum my_found found;
	char other[128]; /* STRANGE: what is in the way */
	uint32_t layout; /* OURS */
};
bk_status my_mark_read(struct my_mark *out, const struct bk_store *store, MYSQL *conn,
		       struct bk_error *err);
bk_status my_mark_write(struct bk_store *store, MYSQL *conn, struct bk_error *err);
/* Any bytes as printable ASCII, and back (in place). */
void my_encode(char *out, size_t cap, struct bk_slice from);
size_t my_decode(char *text);
bk_status my_mark_foreign(const struct bk_store *store, const struct my_mark *m,
			  struct bk_error *err);

bk_status my_store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			   struct bk_error *err);
/* Chunks of uploads whose sessions are gone (bin_write.c). */
bk_status my_uploads_sweep(struct bk_store *store, MYSQL *conn, struct bk_error *err);
bk_status my_store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err);

/* ---- Connections (conn.c) ------------------------------------------------------- */

/* `timeout_ns`: see my_session_config; 0: none. */
bk_status my_connect(MYSQL **out, struct bk_store *store, uint64_t timeout_ns,
		     struct bk_error *err);
bk_status my_library_init(struct bk_error *err);

/* TLS libraries write with write(), and a lost connection then raises SIGPIPE, which kills a
 * process that has not said otherwise.  Around calls that talk TLS: held back, and swallowed. */
struct my_pipe {
	sigset_t before;
	bool held, pending;
};
void my_pipe_hold(struct my_pipe *p, const struct bk_store *store);
void my_pipe_release(struct my_pipe *p);

/* ---- Text statements (sql_text.c) ----------------------------------------------- */

struct my_text {
	struct my_buf buf;
	bool failed; /* out of memory */
};
/* Each conversion of `fmt` says how its argument is written:
 * %n name in backquotes (slice)        %t table of ours (const char *)
 * %s quoted string (const char *)      %b quoted bytes (slice)
 * %g database as GRANT reads it (slice): _ and % are wildcards there
 * %u uint64_t */
void my_text_add(struct my_text *t, const struct bk_store *store, MYSQL *conn, const char *fmt,
		 ...);
/* Runs it and frees the text.  Rows go to *out (mysql_free_result), or nowhere.  `what`: for the
 * message. */
bk_status my_text_send(MYSQL_RES **out, struct my_text *t, const struct bk_store *store,
		       MYSQL *conn, const char *what, struct bk_error *err);
bk_status my_run(const struct bk_store *store, MYSQL *conn, const char *what, struct bk_error *err,
		 const char *fmt, ...);
bk_status my_ask(MYSQL_RES **out, const struct bk_store *store, MYSQL *conn, const char *what,
		 struct bk_error *err, const char *fmt, ...);

/* ---- Errors (error.c) ----------------------------------------------------------- */

/* Fills *err from a server's or client library's error.  `store` may be NULL; its password never
 * gets into the message. */
bk_status my_fail(struct bk_error *err, const struct bk_store *store, unsigned code,
		  const char *sqlstate, const char *message, const char *what);
bk_status my_fail_conn(struct bk_error *err, const struct bk_store *store, MYSQL *conn,
		       const char *what);
bool my_lost(unsigned code);                      /* the connection is gone */
void my_mask(char *text, struct bk_slice secret); /* blots out every occurrence */

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

#define MY_SQL_LIST(X) /* name, text: @x is the table x of the store */                            \
	X(NUMBER, "INSERT INTO @seq VALUES (NULL)")                                                \
	X(ID_LOCK, "SELECT n FROM @node WHERE id=? LOCK IN SHARE MODE")                            \
	X(FIND, "SELECT id FROM @node WHERE path=?")                                               \
	X(INSERT_NODE,                                                                             \
	  "INSERT INTO @node (n,parent,version,segs,id,path,doc) VALUES (?,?,1,?,?,?,?)")          \
	X(INSERT_SEG, "INSERT INTO @segment (n,seq,data) VALUES (?,?,?)")                          \
	X(INSERT_LINK, "INSERT INTO @link (src,rel,target) VALUES (?,?,?)")                        \
	X(ADD_LINK,                                                                                \
	  "INSERT INTO @link (src,rel,target) VALUES (?,?,?) ON DUPLICATE KEY UPDATE src=src")     \
	X(DELETE_LINK, "DELETE FROM @link WHERE src=? AND rel=? AND target=?")                     \
	X(UPDATE_NODE, "UPDATE @node SET doc=?,segs=?,version=version+1 WHERE n=?")                \
	X(DELETE_SEGS, "DELETE FROM @segment WHERE n=?")                                           \
	X(APPEND_SHORT, "UPDATE @node SET doc=CONCAT(doc,?),version=version+1 "                    \
			"WHERE id=? AND segs=0 AND LENGTH(doc)<?")                                 \
	X(APPEND_LOCK, "SELECT n,segs FROM @node WHERE id=? FOR UPDATE")                           \
	X(APPENDED, "UPDATE @node SET segs=?,version=version+1 WHERE n=?")                         \
	X(SEGS_FROM, "SELECT data FROM @segment WHERE n=? AND seq>=? ORDER BY seq FOR UPDATE")     \
	X(SEGS_DELETE_FROM, "DELETE FROM @segment WHERE n=? AND seq>=?")                           \
	X(REMOVE, "DELETE FROM @node WHERE id=?")                                                  \
	X(BIN_LOCK, "SELECT n FROM @binary WHERE bkey=? FOR UPDATE")                               \
	X(BIN_STAT, "SELECT size FROM @binary WHERE bkey=?")                                       \
	X(BIN_INSERT, "INSERT INTO @binary (bkey,n,size,chunk) VALUES (?,?,?,?)")                  \
	X(BIN_REPLACE,                                                                             \
	  "INSERT INTO @binary (bkey,n,size,chunk) VALUES (?,?,?,?) ON DUPLICATE KEY UPDATE "      \
	  "n=VALUES(n),size=VALUES(size),chunk=VALUES(chunk)")                                     \
	X(BIN_DELETE, "DELETE b,c FROM @binary b LEFT JOIN @chunk c ON c.n=b.n WHERE b.bkey=?")    \
	X(BIN_LIST, "SELECT bkey,size FROM @binary WHERE bkey>? ORDER BY bkey LIMIT 512")          \
	X(BIN_FIRST, "SELECT b.n,b.size,b.chunk,c.data FROM @binary b LEFT JOIN @chunk c "         \
		     "ON c.n=b.n AND c.seq=? DIV b.chunk WHERE b.bkey=?")                          \
	X(CHUNKS_READ, "SELECT data FROM @chunk WHERE n=? AND seq>=? AND seq<? ORDER BY seq")      \
	X(CHUNK_1, "INSERT INTO @chunk (n,seq,data) VALUES (?,?,?)")                               \
	X(CHUNK_4, "INSERT INTO @chunk (n,seq,data) VALUES (?,?,?),(?,?,?),(?,?,?),(?,?,?)")       \
	X(CHUNKS_DELETE, "DELETE FROM @chunk WHERE n=?")                                           \
	X(UPLOAD_INSERT, "INSERT INTO @upload (n) VALUES (?)")                                     \
	X(UPLOAD_DELETE, "DELETE FROM @upload WHERE n=?")                                          \
	X(DOC_GET, "SELECT document FROM @document WHERE id=?")                                    \
	X(DOC_UPDATE, "UPDATE @document SET document=? WHERE id=?")                                \
	X(DOC_INSERT, "INSERT INTO @document (id,document) VALUES (?,?)")                          \
	X(DOC_DELETE, "DELETE FROM @document WHERE id=?")

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
};

extern const struct bk_session_ops my_session_ops;
extern const struct bk_txn_ops my_txn_ops;

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
bk_status my_nomem(struct bk_error *err);
bool my_expand(struct my_buf *out, const char *prefix, const char *text);
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
extern const struct my_node_table my_relational, my_document;
bk_status my_put_now(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode,
		     size_t *item, struct bk_error *err);
bk_status my_check_id(struct bk_slice id, struct bk_error *err);
bk_status my_check_text(struct bk_slice text, const char *what, uint64_t max, struct bk_error *err);
extern const struct bk_node_ops my_node_ops;
extern const struct bk_binary_ops my_binary_ops;
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
extern const struct bk_place_ops my_place_ops;
bk_status my_place_clone(struct bk_store *admin, struct bk_slice to, struct bk_slice from,
			 struct bk_error *err);
extern const struct bk_service my_service;

#endif
