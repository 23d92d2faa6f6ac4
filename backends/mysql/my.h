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
	pthread_mutex_t kill_lock;
	MYSQL *killer; /* for cancel(), under kill_lock; made when first needed */
};

bk_status my_control(MYSQL **out, struct bk_store *store, struct bk_error *err); /* reconnects */
bk_status my_need_database(const struct bk_store *store, struct bk_error *err);
void my_kill_query(struct bk_store *store, unsigned long thread_id);
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

/* "@node" becomes `main_node`, with NUL at the end. */
bool my_expand(struct my_buf *out, const char *prefix, const char *text);

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
bk_status my_nomem(struct bk_error *err);
bool my_lost(unsigned code);                      /* the connection is gone */
void my_mask(char *text, struct bk_slice secret); /* blots out every occurrence */

/* ---- The tables of the backend, and what their files share ---------------------- */

extern const struct bk_session_ops my_session_ops;
extern const struct bk_txn_ops my_txn_ops;
extern const struct bk_node_ops my_node_ops;
extern const struct bk_binary_ops my_binary_ops;
extern const struct bk_place_ops my_place_ops;
extern const struct bk_service my_service;
extern const struct my_node_table my_relational, my_document;
bk_status my_place_clone(struct bk_store *admin, struct bk_slice to, struct bk_slice from,
			 struct bk_error *err);
/* UTF-8 without NUL, 1 to `max` bytes. */
bk_status my_check_text(struct bk_slice text, const char *what, uint64_t max, struct bk_error *err);

#endif
