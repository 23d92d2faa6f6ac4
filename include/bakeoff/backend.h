/*
 * backend.h - the interface between bakeoff and a backend, version 0.1.
 *
 * Everything a backend author needs is in here; a backend includes this file
 * and nothing else of the project, and links to nothing of the project.
 *
 * THREADS.  Every operation carries one tag:
 *   [control]  the harness's control thread; never two at once for one store
 *   [worker]   the thread that opened the session; never another one
 *   [any]      any thread, at any time between open and close
 *
 * OWNERSHIP.  No memory changes owner across this boundary.  What a backend
 * returns is a handle (closed by the matching close/finish/abort), bytes put
 * into the caller's buffer, or a borrowed view.  A borrowed view from a session
 * is valid until the next call on that session; one from a cursor until the
 * next call on that cursor.  What the harness passes in is borrowed for the
 * duration of the call, save for `host`, `opts` and the store config, which
 * outlive the store.
 *
 * ERRORS.  Every operation that can fail returns a bk_status.  When it is
 * negative, *err has been filled in; otherwise *err has not been touched.
 * `err` is never NULL.  Out-parameters are written on success only.
 *
 * HANDLES.  A session has at most one cursor, one reader and one writer open
 * (a second one is STATE); get, find, put and stat may come in between.  A cursor is a position,
 * not an open statement: a backend may fetch each page by key.  Outside a transaction every hit
 * that existed from open to END comes exactly once, others may or may not; inside, it sees what the
 * transaction sees.  Commit and rollback with one of them open is STATE.
 *
 * A BACKEND never prints, times, exits, installs signal handlers, changes locale
 * or folder, reads the environment or starts a thread before open.  One
 * pthread_once for its client library's own start is allowed; other mutable
 * statics are not.  It is never unloaded.
 *
 * GROWTH.  Tables and structs grow at the end only, and whoever receives one
 * stays inside its struct_size.  Structs without a struct_size stand in arrays
 * and never grow within a major.  While the major is 0, both numbers must match.
 *
 * 0.1  first version
 */
#ifndef BK_BACKEND_H
#define BK_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BK_MAGIC     0x31444b42u
#define BK_ABI_MAJOR 0u
#define BK_ABI_MINOR 1u

/* Incomplete on purpose: each backend completes them in its own .c file or
 * private header, so neither side ever casts. */
struct bk_store;
struct bk_session;
struct bk_cursor;
struct bk_writer;
struct bk_reader;

/* ---- Status and errors -------------------------------------------------- */

typedef int32_t bk_status;

#define BK_STATUS_MAP(X)                                                                           \
	X(OK, 0, "success")                                                                        \
	X(END, 1, "no more items")                                                                 \
	X(NOT_FOUND, -1, "no such node, binary or parent")                                         \
	X(EXISTS, -2, "already exists")                                                            \
	X(CONFLICT, -3, "lost to a concurrent change; run it again")                               \
	X(UNSUPPORTED, -4, "this backend does not offer it")                                       \
	X(INVALID, -5, "an argument breaks the contract")                                          \
	X(STATE, -6, "called in the wrong order")                                                  \
	X(TOO_LARGE, -7, "over one of the store's limits")                                         \
	X(TIMEOUT, -8, "the deadline passed")                                                      \
	X(CANCELLED, -9, "cancelled by the harness")                                               \
	X(UNAVAILABLE, -10, "connection lost; the session is of no use")                           \
	X(AUTH, -11, "not authenticated or not allowed")                                           \
	X(NO_SPACE, -12, "storage is full")                                                        \
	X(IO, -13, "input or output failed")                                                       \
	X(CORRUPT, -14, "stored data does not check out")                                          \
	X(NOMEM, -15, "out of memory")                                                             \
	X(INTERNAL, -16, "a defect in the backend")                                                \
	X(IN_USE, -17, "it still has children")                                                    \
	X(FOREIGN, -18, "it exists and does not bear the owner mark")

enum bk_status_code {
#define X(name, value, text) BK_##name = (value),
	BK_STATUS_MAP(X)
#undef X
};

#define BK_ERR_RETRY           (1u << 0) /* the same call may succeed later */
#define BK_ERR_OUTCOME_UNKNOWN (1u << 1) /* the change may have been made */

/* Caller-owned and of fixed size: it can be filled in with no allocation, and
 * nobody has to release it. */
struct bk_error {
	uint32_t struct_size;
	bk_status status;
	int64_t vendor_code; /* errno, SQL error number, HTTP status; 0 if none */
	uint64_t item;       /* put_many: index of the first node not stored; flush and
			      * commit: ordinal, from 0, of the failing write in the
			      * transaction; else UINT64_MAX */
	uint32_t flags;      /* BK_ERR_* */
	char sqlstate[6];    /* "" if none */
	char message[478];   /* one line, UTF-8, NUL-terminated, no secrets */
};

/* ---- Plain data --------------------------------------------------------- */

struct bk_slice {
	const void *data; /* may be NULL when len is 0 */
	size_t len;       /* bytes */
};

/* Those that apply are set: id, path, rel and doc with nodes (a link's target is an id), key and
 * binary with binaries.  What goes beyond is answered TOO_LARGE. */
struct bk_limits {
	uint32_t struct_size;
	uint32_t sessions_max;                                            /* 0: no limit known */
	uint64_t id_max, path_max, rel_max, key_max, doc_max, binary_max; /* bytes */
};

/* ---- Options ------------------------------------------------------------ */

enum bk_option_type {
	BK_OPT_BOOL = 1, /* uint8_t */
	BK_OPT_I64,
	BK_OPT_U64,
	BK_OPT_BYTES, /* uint64_t; the user may write 64KiB */
	BK_OPT_USEC,  /* uint64_t; the user may write 250ms */
	BK_OPT_F64,
	BK_OPT_STR,  /* const char * */
	BK_OPT_ENUM, /* uint32_t index into `choices` */
};
#define BK_OPTF_REQUIRED   (1u << 0)
#define BK_OPTF_SECRET     (1u << 1) /* never logged, never in a report */
#define BK_OPTF_DURABILITY (1u << 2) /* changes what a commit promises */
#define BK_OPTF_FOLDER                                                                             \
	(1u << 3) /* BK_OPT_STR: the folder that the store lives in.  Whoever runs                 \
		   * bakeoff seldom sets it: the harness fills in one of its own */
#define BK_OPTF_URL                                                                                \
	(1u << 4) /* BK_OPT_STR: the server, as a URL of one of `schemes`; a URL                   \
		   * given on the command line lands here.  Options named host, port,              \
		   * socket, user, database or password then lose what the environment said */

struct bk_option {
	const char *name; /* lower case, dashes */
	const char *help; /* one line, with the unit */
	const char *def;  /* as a user would write it; NULL: none */
	const char *env;  /* variable that supplies a default; read by the harness; or NULL */
	const char *const *choices; /* NULL-terminated; BK_OPT_ENUM only */
	int64_t min, max;           /* both 0: unbounded */
	uint32_t type;              /* enum bk_option_type */
	uint32_t offset;            /* into the backend's option struct */
	uint32_t flags;             /* BK_OPTF_* */
	uint32_t reserved;
};

/* ---- What the harness offers a backend ---------------------------------- */

#define BK_LOG_ERROR   0u
#define BK_LOG_WARNING 1u
#define BK_LOG_INFO    2u
#define BK_LOG_DEBUG   3u

struct bk_host {
	uint32_t struct_size;
	uint16_t abi_major, abi_minor;
	void *ctx;
	void (*log)(void *ctx, uint32_t level, const char *line); /* [any], BK_LOG_* */
	uint64_t (*now_ns)(void *ctx);                            /* [any] */
};

/* Takes what inspect() and counters() have to say.  Names are dotted lower case,
 * such as storage.bytes or server.version; units are bytes, ns, count, ratio.
 * begin/end bracket one item of a list: kind "table", name "node". */
#define BK_SINK_ESTIMATE (1u << 0)
struct bk_sink {
	uint32_t struct_size;
	uint32_t reserved;
	void *ctx;
	void (*put_u64)(void *ctx, const char *name, uint64_t value, const char *unit,
			uint32_t flags);
	void (*put_f64)(void *ctx, const char *name, double value, const char *unit,
			uint32_t flags);
	void (*put_str)(void *ctx, const char *name, const char *value);
	void (*begin)(void *ctx, const char *kind, const char *name);
	void (*end)(void *ctx);
	/* Something a reader must know before trusting a number: code "fsync-off". */
	void (*flag)(void *ctx, const char *code, const char *text);
};

/* ---- Durability ------------------------------------------------------------ */

#define BK_DURABLE_NONE    0u /* may be lost when the process dies */
#define BK_DURABLE_PROCESS 1u /* outlives the process, not the machine */
#define BK_DURABLE_MACHINE 2u /* outlives a power cut once acknowledged */

/* ---- Store: one target, driven by the control thread --------------------- */

#define BK_INSPECT_IDENTITY (1u << 0) /* product, version, settings in force and where from */
#define BK_INSPECT_SIZE     (1u << 1) /* bytes on disk, row and object counts */
#define BK_INSPECT_COUNTERS (1u << 2) /* the engine's own counters */

#define BK_CHILL_DROPPED 1u /* engine caches in this process are gone */
#define BK_CHILL_CANNOT  2u

struct bk_store_config {
	uint32_t struct_size;
	uint32_t durability; /* BK_DURABLE_*: the highest that a session may ask for */
	const char *space;   /* [a-z0-9_]{1,24}: a subfolder, schema, key prefix of its own;
			      * stores with different spaces never meet */
	const char *mark;    /* the owner mark: make() writes it first, unmake() removes it
			      * last, clear() keeps it; each checks it before its first
			      * destructive step and answers FOREIGN where the place exists
			      * without it.  Never counted or listed.  In a folder: the
			      * file .bakeoff, its first line the mark, its second the
			      * backend's name */
};

struct bk_store_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* Reach the target; change nothing.  Two stores may be open at once.  A store
	 * that cannot be opened without a change opens its files at make() or at the
	 * first session; inspect() of an unopened store reads from outside. [control] */
	bk_status (*open)(struct bk_store **out, const struct bk_host *host,
			  const struct bk_store_config *config, const void *opts,
			  struct bk_error *err);
	/* Close; keep the data.  Never fails.  [control] */
	void (*close)(struct bk_store *store);
	/* Features in force with these options.  native | emulated is a subset of the
	 * static union; a feature may move between the two.  [control] */
	bk_status (*features)(struct bk_store *store, uint64_t *native, uint64_t *emulated,
			      struct bk_limits *limits, struct bk_error *err);
	/* Make tables, buckets, folders.  Fine when they are there. [control] */
	bk_status (*make)(struct bk_store *store, struct bk_error *err);
	/* Empty it, leaving it as make() does.  No session is open.  [control] */
	bk_status (*clear)(struct bk_store *store, struct bk_error *err);
	/* Remove all that make() made, also after half of it.  No session is open.  [control] */
	bk_status (*unmake)(struct bk_store *store, struct bk_error *err);
	/* Describe the store into `sink`; change nothing.  [control] */
	bk_status (*inspect)(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			     struct bk_error *err);
	/* Optional (BK_F_SETTLE): wait for background work to finish. [control] */
	bk_status (*settle)(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err);
	/* Optional (BK_F_CHILL): drop what caches this process holds for the store.
	 * No session is open.  The harness restarts a private server and drops the page
	 * cache itself.  [control] */
	bk_status (*chill)(struct bk_store *store, uint32_t *reached, struct bk_error *err);
};

/* ---- Session: one per worker thread -------------------------------------- */

struct bk_session_config {
	uint32_t struct_size;
	uint32_t worker;     /* 0-based */
	uint32_t durability; /* BK_DURABLE_*: at least this; read back; refused when weaker */
	uint32_t reserved;
	uint64_t timeout_ns; /* for one call (BK_F_TIMEOUT); 0: none */
};

struct bk_session_ops {
	uint32_t struct_size;
	uint32_t reserved;
	bk_status (*open)(struct bk_session **out, struct bk_store *store,
			  const struct bk_session_config *config,
			  struct bk_error *err); /* [worker] */
	/* No handle is open; an open transaction is rolled back.  [worker] */
	void (*close)(struct bk_session *session);
	void (*cancel)(struct bk_session *session); /* [any], BK_F_CANCEL */
	/* Cumulative since open: requests, retries, reconnects, bytes.sent,
	 * bytes.received.  The harness takes differences.  Where the store's own counters
	 * (inspect) learn of a session's work late, they have learnt it after this, and after
	 * close().  [worker] */
	void (*counters)(struct bk_session *session, const struct bk_sink *sink);
};

/* ---- Transactions: at most one at a time in a session -------------------- */

#define BK_ISO_READ_COMMITTED  1u
#define BK_ISO_REPEATABLE_READ 2u
#define BK_ISO_SNAPSHOT        3u
#define BK_ISO_SERIALIZABLE    4u

#define BK_TXN_READ_ONLY 1u /* a write fails, with any status */
#define BK_TXN_DEFER     2u /* writes may answer OK before their outcome is known */

struct bk_txn_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* *isolation: wanted on the way in (0: as the store comes), in force on the way
	 * out, never weaker, else UNSUPPORTED.  No handle is open.  [worker] */
	bk_status (*begin)(struct bk_session *session, uint32_t *isolation, uint32_t flags,
			   struct bk_error *err);
	/* Waits for all deferred writes.  Any read and commit do so too.  The first failure
	 * ends the transaction with the status that the call would have had, and
	 * err->item.  With DEFER only whole-transaction latency means anything. [worker] */
	bk_status (*flush)(struct bk_session *session, struct bk_error *err);
	/* Both end the transaction, whatever they return.  A commit that fails keeps nothing,
	 * unless it says OUTCOME_UNKNOWN.  After a write that failed the caller rolls back.
	 * [worker] */
	bk_status (*commit)(struct bk_session *session, struct bk_error *err);
	bk_status (*rollback)(struct bk_session *session, struct bk_error *err);
};

/* ---- Nodes ----------------------------------------------------------------
 * The caller chooses id and path.  A node is (id, parent, path, doc, set of links).
 * id     1..limits.id_max bytes, any value.  Backends with BK_F_ID_IS_PATH get id == path.
 * parent id of an existing node (else NOT_FOUND), or empty.  Never changes.
 * path   UTF-8 without NUL, 1..limits.path_max bytes, unique in the store.  Never changes.
 *        The backend stores and looks it up; it never derives it from the parent.
 * doc    opaque bytes.
 * links  a set of (relation, target), neither of them empty; a relation has at most
 *        limits.rel_max bytes.  Order is not kept, duplicates collapse.  Targets need not
 *        exist and may go away: a link is data, not a constraint. */
struct bk_link {
	struct bk_slice rel, target;
};

struct bk_node { /* stands in arrays: never grows within a major */
	struct bk_slice id, parent, path, doc;
	const struct bk_link *links;
	size_t link_count;
	uint64_t version; /* 0 where none is kept */
};

#define BK_WANT_PATH  1u /* parent and path */
#define BK_WANT_DOC   2u
#define BK_WANT_LINKS 4u

#define BK_PUT_CREATE 1u /* EXISTS if the id or the path is taken */
#define BK_PUT_REPLACE                                                                             \
	2u /* NOT_FOUND if absent; CONFLICT if version is not 0 and differs; doc and               \
	    * the whole set of links are replaced; INVALID unless parent and path are as           \
	    * stored */
/* CREATE where the id is absent, else REPLACE; each with its checks. */
#define BK_PUT_UPSERT 3u

#define BK_CHILDREN 1u
#define BK_OUT      2u
#define BK_IN       3u
struct bk_step {
	struct bk_slice rel; /* relation; empty: any.  Unused with BK_CHILDREN */
	uint32_t dir;        /* BK_CHILDREN, BK_OUT, BK_IN */
	uint32_t reserved;
};
struct bk_hit {
	struct bk_slice id;
	struct bk_slice path; /* empty unless BK_WANT_PATH */
	struct bk_slice rel;  /* relation of the last step; empty for children */
};

struct bk_node_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* Fields not wanted are left empty.  Views: until the next call on the session.  Here, in
	 * find and in remove NOT_FOUND will do for a name that no node can have. [worker] */
	bk_status (*get)(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			 uint32_t want, struct bk_error *err);
	/* Answers a prefix of ids: *done >= 1 on OK, less than n when the backend would hold more
	 * than 8 MiB of views.  A missing id gives out[i].id.len == 0. [worker], BK_F_GET_MANY */
	bk_status (*get_many)(struct bk_node *out, size_t *done, struct bk_session *s,
			      const struct bk_slice *ids, size_t n, uint32_t want,
			      struct bk_error *err);
	bk_status (*find)(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			  struct bk_error *err);
	bk_status (*put)(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err);
	/* In order; a parent may stand earlier in the same call.  On error nodes [0, err->item)
	 * may be stored and no others; with BK_F_BATCH_ATOMIC none is. BK_F_PUT_MANY */
	bk_status (*put_many)(struct bk_session *s, const struct bk_node *nodes, size_t n,
			      uint32_t mode, struct bk_error *err);
	/* doc becomes doc followed by `tail`; links are added.  NOT_FOUND if absent. BK_F_APPEND */
	bk_status (*append)(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			    const struct bk_link *links, size_t link_count, struct bk_error *err);
	/* The node, its out-links and its place among its parent's children.  IN_USE if it has
	 * children.  Links that point at it stay, dangling. */
	bk_status (*remove)(struct bk_session *s, struct bk_slice id, struct bk_error *err);
	/* One hit for every way of reaching a node (no removal of duplicates), in no order.
	 * Nodes that do not exist (start, dangling targets) are not reached: fewer hits, no error.
	 * n_steps == 1 is required; more: BK_F_WALK. */
	bk_status (*walk_open)(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			       const struct bk_step *steps, size_t n_steps, uint32_t want,
			       struct bk_error *err);
	/* OK: 1..cap hits.  END: none, and none will follow. */
	bk_status (*walk_next)(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			       struct bk_error *err);
	void (*walk_close)(struct bk_cursor *c);
};

/* ---- Binaries --------------------------------------------------------------
 * The caller chooses the key before the first byte: UTF-8 without NUL, 1..limits.key_max.
 * Nothing is addressed by content here; a caller that wants that passes the digest as key. */
#define BK_SIZE_UNKNOWN UINT64_MAX

struct bk_binary_info {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t size_bytes;
};
struct bk_binary_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* size_bytes: exact, or BK_SIZE_UNKNOWN; finish() with another count is INVALID, and so may
	 * be the write() that goes beyond.  finish() closes the writer whatever it answers.
	 * mode: BK_PUT_CREATE (EXISTS at finish, BK_F_BINARY_CREATE) or BK_PUT_UPSERT.
	 * finish() and abort() end the writer, whatever finish() returns.  Nobody sees the
	 * binary before finish() has answered OK.  Of one that failed or was aborted nothing stays;
	 * on a full disk its room is free again. */
	bk_status (*write_open)(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
				uint64_t size_bytes, uint32_t mode, struct bk_error *err);
	bk_status (*write)(struct bk_writer *w, const void *data, size_t len, struct bk_error *err);
	bk_status (*finish)(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err);
	void (*abort)(struct bk_writer *w);
	/* Returns when the store has answered: the first byte's time is the caller's to take.
	 * At most `len` bytes come, BK_SIZE_UNKNOWN: all that follow; *info is of the whole binary.
	 * When it is replaced or removed meanwhile the reader goes on with the old bytes or fails.
	 * offset == size: END at the first read; offset > size: INVALID. */
	bk_status (*read_open)(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			       uint64_t offset, uint64_t len, struct bk_binary_info *info,
			       struct bk_error *err);
	bk_status (*read)(struct bk_reader *r, void *buf, size_t cap, size_t *n,
			  struct bk_error *err);
	void (*read_close)(struct bk_reader *r);
	bk_status (*stat)(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
			  struct bk_error *err);
	bk_status (*remove)(struct bk_session *s, struct bk_slice key, struct bk_error *err);
	/* All keys and sizes, without the backend's marker, in no order. */
	bk_status (*list_open)(struct bk_cursor **out, struct bk_session *s, struct bk_error *err);
	bk_status (*list_next)(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			       size_t cap, size_t *n, struct bk_error *err);
	void (*list_close)(struct bk_cursor *c);
};

/* ---- A private server ---------------------------------------------------------
 * Data only: the backend says what its server needs; the harness owns folders, copies, processes,
 * passwords and clean-up.  Strings are templates; a `{` that does not begin one of these names is
 * itself, an unknown name is an error:
 *   {data} {run}    folders of this server, 0700, owned by the user that it runs as.  {run} is
 *                   short enough for a socket and holds `files`; only {data} is ever copied
 *   {socket}        `socket`, expanded
 *   {host} {port}   where it listens with TCP, free when it starts; {port2} {port3} {port4}: more
 *   {user} {password} {database}   what clients use.  [a-z0-9_]; [A-Za-z0-9]; [a-z0-9_]
 *   {database_dns}  {database} with - for _
 *   {bin}           folder of the first program
 *   {uuid} {uuid2}  random, of this server
 *   {key} {value}   where a member says so
 *   whatever a command captured
 *   in `env` also the backend's options as the store is reached, with _ for -: {ca_file}
 * An argv[0] that is the name of one of `programs` becomes the path where that was found.
 * Servers and commands run in {run}, with a clean environment (PATH, HOME={run}, LC_ALL=C.UTF-8 and
 * `process_env`) and their output in a log; an error carries its last lines.  No {password} and
 * no captured secret belongs in an argv: every user of the machine reads those.  Use `files` or
 * stdin_text.
 *
 * LIFE OF A SERVER.  With BK_SERVICE_COPY, once per version and settings of init, into a cache:
 *   init -> processes -> after -> place.create({database}) where there are places -> --schema
 *   files by `load` -> seal -> processes stopped by stop_signal -> {data} kept as the template.
 * Each server then: {data} copied -> processes (`late` copied meanwhile) -> those of `after` that
 * are not for the template only -> one store.open with `reach`.  Without BK_SERVICE_COPY every
 * server goes the whole way. A backend without places makes {database} in init or after, if it has
 * such a thing. A string option `bin-dir` of the backend chooses among installed versions. */
struct bk_pair { /* arrays end at key NULL */
	const char *key;
	const char *value;
};

/* When an entry applies.  The bits of one line are alternatives, none of them: always; lines must
 * all be met. */
#define BK_WHEN_TEST    (1u << 0) /* throw-away data, as quick as it gets: for tests */
#define BK_WHEN_BENCH   (1u << 1) /* real disk, settings as for production: for measuring */
#define BK_WHEN_SOCKET  (1u << 2) /* it is reached through a Unix socket in {run} */
#define BK_WHEN_TCP     (1u << 3) /* it is reached at {host}:{port} */
#define BK_WHEN_NONE    (1u << 4) /* durability asked for: none */
#define BK_WHEN_PROCESS (1u << 5)
#define BK_WHEN_MACHINE (1u << 6)
#define BK_WHEN_ADMIN                                                                              \
	(1u << 7) /* `reach`: for the one who makes and drops places.  Of two entries              \
		   * with one key the later that applies counts */

struct bk_setting { /* arrays end at key NULL; of two with one key the later that applies counts */
	const char *key;
	const char *value;
	uint32_t when; /* BK_WHEN_* */
	uint32_t reserved;
};

#define BK_COMMAND_TEMPLATE                                                                        \
	(1u << 0)                     /* in `after`: its effect is in {data}, copies need no more  \
				       */
#define BK_COMMAND_MAY_FAIL (1u << 1) /* a status other than 0 is no error */
#define BK_COMMAND_RETRY    (1u << 2) /* may be run again: a few times, with pauses, till it is 0 */
struct bk_command {                   /* arrays end at argv NULL */
	const char *const *argv;
	const char *stdin_text;        /* or NULL */
	const struct bk_pair *capture; /* from JSON on its standard output: name, where: {"secret",
					* "keys.0.secret_key"}; or NULL */
	uint32_t when;                 /* BK_WHEN_* */
	uint32_t flags;                /* BK_COMMAND_* */
};

/* How to know that a process is up; of several the first that answers counts.  Always followed,
 * after the last process, by one store.open that works. */
#define BK_READY_NOTIFY 1u /* READY=1 on NOTIFY_SOCKET, where the program speaks it */
#define BK_READY_FILE                                                                              \
	2u /* line `ready_line` (from 1) of `ready_file` reads `ready_text`, blanks aside,         \
	    * and line 1 is the pid of the process */
#define BK_READY_CONNECT 4u /* {socket}, or {host}:{port} with TCP, takes a connection */
#define BK_READY_COMMAND                                                                           \
	8u /* `ready_argv` exits with 0 and `ready_text`, if any, is in what it prints */

struct bk_process { /* arrays end at name NULL */
	const char *name;
	const char *const *argv;
	const char *setting_argv;        /* how one of `settings` is passed, e.g. "-c{key}={value}";
					  * NULL: this process takes none */
	const struct bk_command *before; /* run before it starts; or NULL */
	const char *ready_file;
	const char *ready_text;
	const char *const *ready_argv;
	uint32_t ready; /* BK_READY_*; 0: the store.open alone tells */
	uint32_t ready_line;
	uint32_t stop_signal; /* ends it leaving good data; SIGKILL after 5 s */
	uint32_t drop_signal; /* ends it at once, data lost, nothing left in the system (shared
			       * memory); sent too when the keeper dies; 0: SIGKILL */
};

#define BK_SERVICE_COPY     (1u << 0) /* a stopped {data} may be copied and run elsewhere */
#define BK_SERVICE_SQL      (1u << 1) /* its URL may be exported as DATABASE_URL */
#define BK_SERVICE_TCP_ONLY (1u << 2) /* it has no Unix socket: BK_WHEN_TCP always */
#define BK_SERVICE_LOCALHOST                                                                       \
	(1u << 3) /* {host} must be 127.0.0.1; else it is a random address of 127.0.0.0/8 */

struct bk_service {
	uint32_t struct_size;
	uint32_t flags;                     /* BK_SERVICE_* */
	const char *const *programs;        /* all must be found: in the user's bin-dir, the folder
					     * of the first, PATH, `search`.  "a|b": either; argv[0]
					     * may then be "a" */
	const char *const *search;          /* folders and globs, tried in order; of one glob the
					     * highest version first */
	const char *const *users;           /* to run as when root; then nobody */
	const struct bk_command *init;      /* makes {data} from an empty folder */
	const struct bk_process *processes; /* in order of start; stopped in the opposite order */
	const struct bk_command *after;     /* once all are up */
	const struct bk_setting *settings;
	const struct bk_pair *options;  /* of the backend, that reach the server where somebody set
					 * them (bytes as a number): option, key of
					 * the setting that its value becomes */
	const struct bk_setting *reach; /* the backend's options with which store.open gets
					 * there: {"host", "{run}", BK_WHEN_SOCKET} */
	const struct bk_setting *env;   /* for clients, beside the BAKEOFF_* that the harness
					 * sets.  Also used with a server that exists: then
					 * {run} holds `files` only.  Value NULL: it is unset;
					 * then a key that ends in * stands for all that begin
					 * so */
	const struct bk_setting *files; /* written into {run}, 0600: name, content */
	const struct bk_command *load;  /* runs a script with the store's own client; the
					 * script is its standard input and {value} its path;
					 * its environment is `env` */
	const struct bk_pair *process_env;    /* for servers and commands; or NULL */
	const char *socket;                   /* what clients are told; NULL: none */
	const char *url_socket, *url_tcp;     /* what goes in is percent-encoded; NULL: none */
	const struct bk_service *alternative; /* tried when the programs are not there; or NULL */
	/* Folders right below {data}, by name, that the server does not need before a client
	 * connects: with the profile `test` a copy of the template fills them while it starts.
	 * Or NULL. */
	const char *const *late;
	/* Run on a server that is about to be stopped and to become the template: what makes copies
	 * smaller.  Or NULL. */
	const struct bk_command *seal;
};

/* ---- Places: empty databases, buckets, folders for other people's tests (BK_F_PLACES) ------
 * Nothing of bakeoff's own schema goes into a place.  `admin` is a store opened on the server. */
struct bk_place {
	struct bk_slice name, mark;
	uint64_t created_unix_s;
};
struct bk_place_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* EXISTS if the name is taken, whoever owns it.  `user` becomes its owner; it is made with
	 * `password` unless it is there.  `from`: a place to clone, or empty.  [control] */
	bk_status (*create)(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			    struct bk_slice user, struct bk_slice password, struct bk_slice from,
			    struct bk_error *err);
	/* FOREIGN unless it bears `mark`.  NOT_FOUND is for the caller to ignore.  Who is connected
	 * is disconnected.  Its owner goes too if create() made it and it owns nothing else.
	 * [control] */
	bk_status (*drop)(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			  struct bk_error *err);
	/* Places that bear any mark of bakeoff. [control] */
	bk_status (*list)(struct bk_store *admin, struct bk_place *out, size_t cap, size_t *n,
			  struct bk_error *err);
};

/* ---- The backend ---------------------------------------------------------- */

/* What is neither native nor emulated is absent; the harness then loops (get_many,
 * put_many, append, multi-step walk) and every report says `looped`.  A backend that
 * would only loop leaves the feature out. */
#define BK_F_NODES         (UINT64_C(1) << 0) /* .node is there */
#define BK_F_CAS           (UINT64_C(1) << 3) /* versions are kept and checked */
#define BK_F_DISCARDS      (UINT64_C(1) << 4) /* keeps nothing; no verification is possible */
#define BK_F_ID_IS_PATH    (UINT64_C(1) << 5) /* id == path for every node */
#define BK_F_TXN           (UINT64_C(1) << 8) /* .txn is there */
#define BK_F_TXN_BINARIES  (UINT64_C(1) << 9) /* binaries take part in them */
#define BK_F_GET_MANY      (UINT64_C(1) << 10)
#define BK_F_PUT_MANY      (UINT64_C(1) << 11)
#define BK_F_BATCH_ATOMIC  (UINT64_C(1) << 12) /* put_many: all or none */
#define BK_F_APPEND        (UINT64_C(1) << 13)
#define BK_F_WALK          (UINT64_C(1) << 14) /* several steps in one walk */
#define BK_F_TXN_WALK      (UINT64_C(1) << 15) /* walk sees the transaction's own writes */
#define BK_F_BINARIES      (UINT64_C(1) << 16) /* .binary is there */
#define BK_F_BINARY_STREAM (UINT64_C(1) << 17) /* memory use does not grow with size */
#define BK_F_BINARY_RANGE  (UINT64_C(1) << 18) /* reading from an offset skips work */
#define BK_F_BINARY_CREATE (UINT64_C(1) << 19) /* atomic create-if-absent */
#define BK_F_CANCEL        (UINT64_C(1) << 24)
#define BK_F_SETTLE        (UINT64_C(1) << 25)
#define BK_F_PLACES        (UINT64_C(1) << 26) /* .place is there */
#define BK_F_CHILL         (UINT64_C(1) << 27)
#define BK_F_TIMEOUT       (UINT64_C(1) << 28)

#define BK_THREADS_PARALLEL 1u /* sessions may run at once */
#define BK_THREADS_SERIAL   2u /* one call at a time; the harness takes a lock */
#define BK_THREADS_SINGLE   3u /* one session at a time */

struct bk_backend {
	/* These 16 bytes never change, in any version. */
	uint32_t magic;
	uint16_t abi_major, abi_minor;
	uint32_t struct_size;
	uint32_t threads; /* BK_THREADS_* */

	const char *name;    /* [a-z0-9-]; also the file name: bk-NAME.so */
	const char *version; /* of the backend */
	const char *summary; /* one line */
	uint64_t native;     /* BK_F_*: done by the engine itself */
	uint64_t emulated;   /* BK_F_*: done by the backend on top; no overlap */

	const struct bk_option *options; /* ends with name == NULL; NULL: none */
	size_t options_size;             /* size of the backend's option struct */
	const void *options_init;        /* initial value; NULL: all zero bytes */

	const struct bk_store_ops *store;     /* required */
	const struct bk_session_ops *session; /* required */
	const struct bk_txn_ops *txn;         /* BK_F_TXN */
	const struct bk_node_ops *node;       /* BK_F_NODES */
	const struct bk_binary_ops *binary;   /* BK_F_BINARIES */
	const struct bk_place_ops *place;     /* BK_F_PLACES */
	const struct bk_service *service;     /* the server behind it; NULL: none */
	const char *const *schemes; /* URL schemes it takes, NULL-terminated; NULL: none */
};

/* The one symbol a backend exports.  A function, called before anything else,
 * possibly more than once; it has no effect but to return its static table. */
#define BK_ENTRY_NAME "bk_backend"
typedef const struct bk_backend *(*bk_backend_entry)(void);

#ifdef __cplusplus
}
#endif
#endif
