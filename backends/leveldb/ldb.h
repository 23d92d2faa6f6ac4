/*
 * ldb.h - what the files of this backend share: store, session, transaction, and who does what.
 *
 * Three things carry everything else:
 *   view     what a session reads: the database, or a transaction's snapshot and its own writes
 *   sink     where a session's changes go: a WriteBatch, or a transaction's overlay
 *   stripes  locks by hash of an id or a path, held from the first check to the write, so that
 *            ids and paths stay unique under concurrent writers.  Readers take none.
 */
#ifndef LDB_LDB_H
#define LDB_LDB_H

#include "buf.h"

#include <leveldb/c.h>

#include <pthread.h>
#include <stdatomic.h>

/* ---- Limits ---------------------------------------------------------------- */

#define LDB_NAME_MAX  4096u       /* id, path, relation: their lengths go into two bytes of a key */
#define LDB_DOC_MAX   (64u << 20) /* one put; a batch of the engine is held in memory */
#define LDB_VIEWS_MAX (8u << 20)  /* what get_many may hold */

/* A document up to this size stands in the node's own entry: one lookup reads all.  Above, it
 * goes into segments, so that whoever asks for a path does not drag a large document along. */
#define LDB_INLINE_DOC 16384u
#define LDB_SEGMENT    (256u << 10)
/* append() rewrites the entry while the document is this small; then it writes segments. */
#define LDB_INLINE_APPEND 1024u
/* Links stand in the node's entry too (get needs no scan) while they take no more than this. */
#define LDB_INLINE_LINKS 2048u

/* ---- Features ----------------------------------------------------------------
 * Native is what LevelDB does by itself: batches, ordered ranges, compaction, caches. */

#define LDB_NATIVE                                                                                 \
	(BK_F_NODES | BK_F_PUT_MANY | BK_F_BATCH_ATOMIC | BK_F_WALK | BK_F_SETTLE | BK_F_CHILL)
#define LDB_EMULATED (BK_F_CAS | BK_F_TXN | BK_F_TXN_WALK | BK_F_GET_MANY | BK_F_APPEND)

/* ---- Options --------------------------------------------------------------- */

enum ldb_settle { LDB_SETTLE_POLL, LDB_SETTLE_COMPACT };

struct ldb_options {
	const char *path;
	uint64_t block_cache, write_buffer, bloom_bits, open_files, block_size, file_size;
	uint64_t absent_filter;
	uint32_t compression; /* leveldb_no_compression, leveldb_snappy_compression */
	uint32_t settle;      /* enum ldb_settle */
	uint8_t paranoid_checks, verify_checksums;
};

/* ---- error.c: LevelDB's texts to statuses ------------------------------------ */

/* `text` is LevelDB's, malloc()ed; it is freed.  `what`: "open", "write to", ... */
bk_status ldb_error(struct bk_error *err, char *text, const char *what, const char *folder);
/* errno, on a path: "cannot <what> <path>: ...". */
bk_status ldb_errno(struct bk_error *err, int errnum, const char *what, const char *path);
bk_status ldb_nomem(struct bk_error *err);
bk_status ldb_no_node(struct bk_error *err, struct bk_slice id);
/* INVALID when empty, TOO_LARGE over the limit.  `what`: "the id", ... */
bk_status ldb_check_name(struct bk_error *err, struct bk_slice name, const char *what);
bk_status ldb_check_path(struct bk_error *err, struct bk_slice path);
/* An id or path for a message: printable, cut to fit. */
#define LDB_NAME_TEXT 96
const char *ldb_name(char text[LDB_NAME_TEXT], struct bk_slice name);

/* ---- absent.c: ids and paths that are surely not there ----------------------- */

/* A Bloom filter in memory over every id and path written since the store was empty.  It is in
 * force only when it saw the store empty; then its "no" saves a lookup in every level. */
#define LDB_ABSENT_LAYERS 5
struct ldb_absent {
	_Atomic bool complete;
	pthread_mutex_t grow;
	uint64_t bytes_max;
	_Atomic uint32_t layers;
	_Atomic uint64_t entries; /* in the newest layer */
	_Atomic uint64_t *bits[LDB_ABSENT_LAYERS];
	uint64_t blocks[LDB_ABSENT_LAYERS];
};

bool ldb_absent_init(struct ldb_absent *a, uint64_t bytes_max);
void ldb_absent_free(struct ldb_absent *a);
void ldb_absent_restart(struct ldb_absent *a, bool store_is_empty);
void ldb_absent_add(struct ldb_absent *a, uint64_t hash);
bool ldb_absent_surely(struct ldb_absent *a, uint64_t hash);
void ldb_absent_prefetch(struct ldb_absent *a, uint64_t hash); /* it will be asked about soon */
uint64_t ldb_absent_bytes(const struct ldb_absent *a);

/* ---- lock.c: stripes ---------------------------------------------------------- */

#define LDB_STRIPES  1024u
#define LDB_HELD_MAX 40u /* more than this, and the whole store is taken instead */

struct ldb_stripe {
	pthread_rwlock_t lock;
	_Atomic uint64_t changed; /* the store's clock after the last write under this stripe */
};

struct ldb_locks { /* what one call holds */
	uint32_t count;
	bool whole; /* the gate, exclusively, instead of stripes */
	bool held;
	struct {
		uint16_t stripe;
		bool exclusive;
	} want[LDB_HELD_MAX];
};

static inline void ldb_locks_init(struct ldb_locks *locks)
{
	locks->count = 0;
	locks->whole = false;
	locks->held = false;
}
struct ldb_hashes { /* of a node's names; computed once a put */
	uint64_t id, path;
};
uint64_t ldb_hash(char kind, struct bk_slice name); /* kind: 'n' for ids, 'p' for paths */
bool ldb_stripes_init(struct bk_store *store);
void ldb_stripes_free(struct bk_store *store);
void ldb_locks_add(struct ldb_locks *locks, uint64_t hash, bool exclusive);
void ldb_locks_take(struct bk_store *store, struct ldb_locks *locks);
/* wrote: the stripes' contents may have changed; transactions that began before look closer. */
void ldb_locks_drop(struct bk_store *store, struct ldb_locks *locks, bool wrote);
/* Has anything under this hash been written since `clock`?  No means no. */
bool ldb_changed_since(struct bk_store *store, uint64_t hash, uint64_t clock);

/* ---- The store ------------------------------------------------------------------ */

struct bk_store {
	const struct bk_host *host;
	const struct bk_store_config *config;
	const struct ldb_options *opts;
	char *folder;    /* PATH/SPACE: holds the mark */
	char *db_folder; /* PATH/SPACE/db: LevelDB's */

	pthread_mutex_t mutex; /* opening, closing, failing */
	leveldb_t *db;         /* NULL until make() or the first session */
	leveldb_options_t *engine_opts;
	leveldb_cache_t *cache;
	leveldb_filterpolicy_t *bloom;
	int mark_fd; /* locked while the database is open; -1 */

	uint64_t epoch; /* times the database has been opened; upper part of every version */
	_Atomic uint64_t versions;
	_Atomic uint64_t clock; /* counts writes while there are transactions */
	_Atomic uint32_t txns;  /* open */
	_Atomic uint64_t whole; /* clock after the last write under the exclusive gate */
	_Atomic uint64_t
		removals;        /* nodes removed; says whether "that parent exists" still holds */
	_Atomic uint32_t pinned; /* cursors and transactions: they hold parts of the database */
	_Atomic bool failed;     /* a write failed: none is taken until the database is reopened */
	struct bk_error failure;

	pthread_rwlock_t gate;
	struct ldb_stripe *stripes;
	struct ldb_absent absent;
	const char *settled; /* how settle() last ended, for inspect() */
};

/* folder.c: the folder and its owner mark */
enum ldb_place { LDB_PLACE_NONE, LDB_PLACE_EMPTY, LDB_PLACE_OURS };
/* What stands there; FOREIGN when it is somebody else's. */
bk_status ldb_folder_look(enum ldb_place *out, const struct bk_store *store, struct bk_error *err);
bk_status ldb_folder_make(const struct bk_store *store, struct bk_error *err);
bk_status ldb_folder_unmake(const struct bk_store *store, struct bk_error *err);
/* Lock the mark, so that no second process, and no second store of this one, opens the same
 * database: LevelDB's own lock is lost when one process opens it twice. */
bk_status ldb_folder_lock(int *fd, const struct bk_store *store, struct bk_error *err);

/* db.c: the database handle */
bk_status ldb_db_open(struct bk_store *store, bool create, struct bk_error *err);
void ldb_db_close(struct bk_store *store);
/* Closed and opened again if it is open: all caches are gone. */
bk_status ldb_db_reopen(struct bk_store *store, struct bk_error *err);
/* Removes the database's files; the folder around them stays.  again: opens an empty one. */
bk_status ldb_db_destroy(struct bk_store *store, bool again, struct bk_error *err);
uint64_t ldb_version_next(struct bk_store *store);

/* settle.c, inspect.c, manifest.c */
bk_status ldb_store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err);
bk_status ldb_store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err);
bk_status ldb_store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			    struct bk_error *err);

#define LDB_LEVELS 7
struct ldb_manifest {
	uint64_t files[LDB_LEVELS], bytes[LDB_LEVELS];
	uint64_t last_sequence, log_number;
	char comparator[64];
};
/* Replays a MANIFEST read from outside.  False when it does not check out. */
bool ldb_manifest_read(struct ldb_manifest *out, const char *path);

/* ---- overlay.c: a transaction's own writes, in key order --------------------------- */

enum ldb_entry_state { LDB_ENTRY_NONE, LDB_ENTRY_PUT, LDB_ENTRY_DELETE };

struct ldb_entry {
	struct bk_slice key, value;
	uint32_t state;   /* enum ldb_entry_state; NONE: taken back */
	uint32_t ordinal; /* which write of the transaction touched it first */
	struct ldb_entry *next[];
};

#define LDB_OVERLAY_HEIGHT 12
struct ldb_undo {
	struct ldb_entry *entry;
	struct bk_slice value;
	uint32_t state, ordinal;
};
struct ldb_overlay {
	struct ldb_arena arena;
	struct ldb_entry *head[LDB_OVERLAY_HEIGHT];
	uint32_t height, ordinal;
	uint64_t random;
	size_t count; /* entries, NONE included */
	struct ldb_undo *undo;
	size_t undo_count, undo_cap;
	bool failed; /* out of memory since the last mark */
};

void ldb_overlay_init(struct ldb_overlay *o);
void ldb_overlay_reset(struct ldb_overlay *o);
void ldb_overlay_free(struct ldb_overlay *o);
void ldb_overlay_set(struct ldb_overlay *o, struct bk_slice key, struct bk_slice value,
		     uint32_t state);
struct ldb_entry *ldb_overlay_find(const struct ldb_overlay *o, struct bk_slice key);
/* The first entry at or after key. */
struct ldb_entry *ldb_overlay_seek(const struct ldb_overlay *o, struct bk_slice key);
static inline struct ldb_entry *ldb_overlay_first(const struct ldb_overlay *o)
{
	return o->head[0];
}
void ldb_overlay_mark(struct ldb_overlay *o); /* from here on ... */
void ldb_overlay_back(struct ldb_overlay *o); /* ... all is taken back */

/* ---- key.c: keys (README.md draws them) --------------------------------------------- */

#define LDB_KEY_STORE   'm'
#define LDB_KEY_NODE    'n'
#define LDB_KEY_PATH    'p'
#define LDB_KEY_CHILD   'c'
#define LDB_KEY_OUT     'o'
#define LDB_KEY_IN      'i'
#define LDB_KEY_SEGMENT 's'

/* Each resets `b` first. */
void ldb_key_plain(struct ldb_buf *b, char tag, struct bk_slice name); /* node, path */
void ldb_key_prefix(struct ldb_buf *b, char tag,
		    struct bk_slice name); /* child, out, in, segment */
void ldb_key_child(struct ldb_buf *b, struct bk_slice parent, struct bk_slice id);
/* OUT: near is the source, far the target; IN: the other way round. */
void ldb_key_link(struct ldb_buf *b, char tag, struct bk_slice near, struct bk_slice rel,
		  struct bk_slice far);
void ldb_key_link_prefix(struct ldb_buf *b, char tag, struct bk_slice near, struct bk_slice rel);
void ldb_key_segment(struct ldb_buf *b, struct bk_slice id, uint32_t number);
/* Takes two bytes of length and as many bytes off the front of *rest. */
bool ldb_key_take(struct bk_slice *rest, struct bk_slice *out);

/* ---- head.c: a node's own entry ------------------------------------------------------ */

#define LDB_HEAD_SEGMENTS 1u /* the document stands in segments */
#define LDB_HEAD_SPREAD   2u /* the links stand in the out-range only */

struct ldb_head {
	uint32_t flags;
	uint32_t segments; /* number of the next one */
	uint64_t version, doc_len;
	struct bk_slice parent, path;
	struct bk_slice links; /* encoded, sorted */
	size_t link_count;
	struct bk_slice doc;
};
bool ldb_head_read(struct ldb_head *out, struct bk_slice value);
void ldb_head_write(struct ldb_buf *b, const struct ldb_head *h); /* resets b first */
void ldb_head_add_link(struct ldb_buf *b, const struct bk_link *link);
/* The links that stand in the entry: link_count of them. */
bool ldb_head_links(const struct ldb_head *h, struct bk_link *out);
bk_status ldb_head_corrupt(struct bk_error *err, struct bk_slice id);

/* ---- links.c: sets of links ------------------------------------------------------------ */

struct ldb_links { /* views; sorted in key order and free of duplicates after ldb_links_sort() */
	struct bk_link *v;
	size_t count, cap;
};
int ldb_link_cmp(const struct bk_link *a, const struct bk_link *b);
bool ldb_links_room(struct ldb_links *l, size_t n); /* for n more */
bool ldb_links_add(struct ldb_links *l, const struct bk_link *links, size_t n);
void ldb_links_sort(struct ldb_links *l);
/* Encodes a sorted set; false: more than `max` bytes. */
bool ldb_links_encode(struct ldb_buf *b, const struct ldb_links *l, size_t max);
bk_status ldb_links_from_head(struct ldb_links *l, const struct ldb_head *h, struct bk_slice id,
			      struct bk_error *err);
void ldb_links_free(struct ldb_links *l);

/* ---- view.c, iter.c: reading -------------------------------------------------------------- */

struct ldb_view {
	leveldb_t *db;
	const leveldb_readoptions_t *ro;
	const struct ldb_overlay *overlay; /* NULL: none */
};

struct ldb_value {
	struct bk_slice bytes;
	char *owned; /* LevelDB's, to be freed; NULL when it lies in the overlay */
};
void ldb_value_free(struct ldb_value *v);

struct ldb_iter {
	struct ldb_view view;
	leveldb_iterator_t *it;  /* NULL until the first seek */
	struct ldb_entry *entry; /* the overlay's place */
	struct ldb_buf bound;    /* every key begins with it */
	struct ldb_buf last;     /* what was sought */
	bool db_valid, from_overlay, valid;
	bool passed; /* entries of the database, since the seek */
	struct bk_slice db_key;
	struct bk_slice key, value; /* while valid */
	uint32_t stride, idle;      /* how far stepping may go instead of seeking */
};
void ldb_iter_init(struct ldb_iter *i, struct ldb_view view);
void ldb_iter_free(struct ldb_iter *i);
/* To the first key >= `key` that begins with its first `bound` bytes.  Steps instead of seeking
 * when the place lies close ahead: keys and ranges in rising order come cheap. */
void ldb_iter_seek(struct ldb_iter *i, struct bk_slice key, size_t bound);
void ldb_iter_next(struct ldb_iter *i);
/* Exactly `key`? */
bool ldb_iter_find(struct ldb_iter *i, struct bk_slice key);
/* To be asked when a range has come to its end. */
bk_status ldb_iter_status(struct ldb_iter *i, const struct bk_store *store, struct bk_error *err);

/* ---- The session ------------------------------------------------------------------------- */

struct ldb_txn {
	bool active, read_only;
	uint64_t serial; /* counts transactions of the session, from 1 */
	uint64_t clock;  /* the store's, before the snapshot was taken */
	const leveldb_snapshot_t *snapshot;
	leveldb_readoptions_t *ro;
	struct ldb_overlay overlay;
};

struct ldb_seen; /* batch.c: what a put_many has created so far */
struct ldb_many; /* read_many.c: scratch */

/* What one call lent to the caller.  There are two, used in turn: what the last call gave may be
 * what this one is asked about. */
struct ldb_lent {
	struct ldb_value held;
	struct ldb_arena arena;
	struct ldb_buf key, doc; /* key: the node's, and in it the id */
	struct ldb_links links;
};

struct bk_session {
	struct bk_store *store;
	leveldb_readoptions_t *ro;
	leveldb_writeoptions_t *wo;
	leveldb_writebatch_t *batch;
	size_t batch_bytes;
	bool sync, oom;    /* oom: the sink could not take something */
	uint64_t requests; /* calls of LevelDB that read or write */

	struct ldb_txn txn;
	struct ldb_overlay *sink;   /* NULL: changes go to `batch` */
	struct ldb_seen *seen;      /* inside put_many only */
	struct ldb_seen *seen_kept; /* its memory */

	struct ldb_lent lents[2];
	struct ldb_lent *lent; /* this call's */

	/* Scratch: means nothing between two calls. */
	struct ldb_buf key, val, enc, grown;
	struct ldb_links links, old_links;
	struct ldb_arena arena;
	struct ldb_many *many;

	/* The parent that was last seen to exist: outside transactions while `removals` stands
	 * still, inside only within the same one. */
	struct ldb_buf parent;
	uint64_t parent_removals, parent_txn;

	struct bk_cursor *cursor; /* made once, used again */
};

bk_status ldb_session_open(struct bk_session **out, struct bk_store *store,
			   const struct bk_session_config *config, struct bk_error *err);
void ldb_session_close(struct bk_session *s);
void ldb_session_counters(struct bk_session *s, const struct bk_sink *sink);
/* At the start of every read: what the last but one lent out lapses. */
void ldb_session_lapse(struct bk_session *s);

/* view.c */
struct ldb_view ldb_session_view(const struct bk_session *s);
/* 1 found, 0 not there, negative: a status, and *err filled in. */
int ldb_look(struct bk_session *s, struct ldb_value *out, const struct ldb_buf *key,
	     struct bk_error *err);
/* The same for keys that are likely not there: asks the filter first. */
int ldb_look_node(struct bk_session *s, struct ldb_value *out, struct bk_slice id, uint64_t hash,
		  struct bk_error *err);
int ldb_look_path(struct bk_session *s, struct ldb_value *out, struct bk_slice path, uint64_t hash,
		  struct bk_error *err);
int ldb_look_parent(struct bk_session *s, struct bk_slice parent, struct bk_error *err);
bk_status ldb_has_children(struct bk_session *s, bool *out, struct bk_slice id,
			   struct bk_error *err);
/* All links of a node from its out-range, copied into the arena. */
bk_status ldb_scan_links(struct bk_session *s, struct ldb_iter *it, struct ldb_links *out,
			 struct ldb_arena *arena, struct bk_slice id, struct bk_error *err);

/* read.c, read_many.c */
bk_status ldb_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		       struct bk_error *err);
bk_status ldb_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			    const struct bk_slice *ids, size_t n, uint32_t want,
			    struct bk_error *err);
bk_status ldb_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			struct bk_error *err);
void ldb_many_free(struct ldb_many *many);
/* Does what is wanted stand outside the node's entry? */
bool ldb_is_spread(const struct ldb_head *h, uint32_t want);
/* Then reads it: the document into s->lent->doc (and h->doc), the links into `links`. */
bk_status ldb_read_spread(struct bk_session *s, struct ldb_iter *it, struct ldb_head *h,
			  struct ldb_links *links, struct bk_slice id, uint32_t want,
			  struct bk_error *err);
bk_status ldb_fill_node(struct bk_session *s, struct bk_node *out, const struct ldb_head *h,
			struct ldb_links *links, struct bk_slice id, uint32_t want,
			struct bk_error *err);

/* write.c: changes put into the sink, nothing written yet */
void ldb_sink_put(struct bk_session *s, const struct ldb_buf *key, struct bk_slice value);
void ldb_sink_delete(struct bk_session *s, const struct ldb_buf *key);
void ldb_sink_link(struct bk_session *s, struct bk_slice source, const struct bk_link *link,
		   bool add);
/* The document in segments from `number` on; returns the number after the last. */
uint32_t ldb_sink_segments(struct bk_session *s, struct bk_slice id, uint32_t number,
			   struct bk_slice doc);
void ldb_sink_head(struct bk_session *s, struct bk_slice id, const struct ldb_head *h);
bk_status ldb_old_links(struct bk_session *s, struct ldb_links *out, struct bk_slice id,
			const struct ldb_head *h, struct bk_error *err);
bk_status ldb_apply_put(struct bk_session *s, const struct bk_node *node, struct ldb_hashes hashes,
			uint32_t mode, struct bk_error *err);
bk_status ldb_apply_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			   const struct bk_link *links, size_t link_count, struct bk_error *err);
bk_status ldb_apply_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err);

/* node.c: the operations, with their locks */
void ldb_locks_for_put(struct ldb_locks *locks, const struct bk_node *node,
		       struct ldb_hashes hashes, uint32_t mode);
struct ldb_hashes ldb_hashes_of(const struct bk_node *node);
bk_status ldb_check_node(struct bk_error *err, const struct bk_node *node, uint32_t mode);
/* Before and after the changes of one call are put into the sink.  end() writes the batch, or
 * leaves the overlay as it was when `status` is not OK; it returns `status` or what went wrong. */
bk_status ldb_change_begin(struct bk_session *s, struct ldb_locks *locks, struct bk_error *err);
bk_status ldb_change_end(struct bk_session *s, struct ldb_locks *locks, bk_status status,
			 struct bk_error *err);
/* Writes the batch.  The locks are held. */
bk_status ldb_write(struct bk_session *s, struct bk_error *err);
void ldb_empty_batch(struct bk_session *s);
bk_status ldb_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		       struct bk_error *err);
bk_status ldb_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			  const struct bk_link *links, size_t link_count, struct bk_error *err);
bk_status ldb_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err);

/* batch.c */
bool ldb_seen_id(const struct ldb_seen *seen, struct bk_slice id, uint64_t hash);
bool ldb_seen_path(const struct ldb_seen *seen, struct bk_slice path, uint64_t hash);
void ldb_seen_free(struct ldb_seen *seen);
bk_status ldb_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			    uint32_t mode, struct bk_error *err);

/* txn.c, txn_commit.c */
void ldb_txn_end(struct bk_session *s);
bk_status ldb_commit_overlay(struct bk_session *s, struct bk_error *err);
void ldb_overlay_to_batch(struct bk_session *s, const struct ldb_overlay *overlay);

/* walk.c */
bool ldb_cursor_is_open(const struct bk_session *s);
/* The transaction ends: a cursor that reads from it reads no more, and is still to be closed. */
void ldb_cursor_cut(struct bk_session *s);
void ldb_cursor_free(struct bk_cursor *c);
bk_status ldb_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			const struct bk_step *steps, size_t n_steps, uint32_t want,
			struct bk_error *err);
bk_status ldb_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			struct bk_error *err);
void ldb_walk_close(struct bk_cursor *c);

/* the tables */
extern const struct bk_store_ops ldb_store_ops;
extern const struct bk_session_ops ldb_session_ops;
extern const struct bk_txn_ops ldb_txn_ops;
extern const struct bk_node_ops ldb_node_ops;

#endif
