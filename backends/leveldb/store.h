/*
 * store.h - the store: its options, its folder, its database, the locks of its writers.
 *
 * Stripes are locks by hash of an id or a path, held from the first check to the write, so that ids
 * and paths stay unique under concurrent writers.  Readers take none.
 */
#ifndef LDB_STORE_H
#define LDB_STORE_H

#include "buf.h"
#include "error.h"

#include <leveldb/c.h>

#include <pthread.h>
#include <stdatomic.h>

/* ---- Limits ---------------------------------------------------------------- */

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

/* ---- absent.c: ids and paths that are surely not there ----------------------- */

/* A Bloom filter in memory over every id and path written since the store was empty.  It is in
 * force only when it saw the store empty; then its "no" saves a lookup in every level. */
#define LDB_ABSENT_LAYERS 4
struct ldb_absent {
	_Atomic bool complete;
	pthread_mutex_t grow;
	uint64_t bytes_max;
	_Atomic uint32_t layers;
	_Atomic uint64_t entries;                  /* in the newest layer */
	_Atomic uint64_t *bits[LDB_ABSENT_LAYERS]; /* within `memory`, on a cache line */
	void *memory[LDB_ABSENT_LAYERS];
	uint64_t blocks[LDB_ABSENT_LAYERS];
};

bool ldb_absent_init(struct ldb_absent *a, uint64_t bytes_max);
void ldb_absent_free(struct ldb_absent *a);
void ldb_absent_restart(struct ldb_absent *a, bool store_is_empty);
/* True: it was surely not there.  From now on it is known, whether or not it comes to be written;
 * to be called under the name's lock, or where a wrong "perhaps" costs no more than a lookup. */
bool ldb_absent_claim(struct ldb_absent *a, uint64_t hash);
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
	bool alone; /* the gate, shared, and no stripes: there is one session */
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
	locks->alone = false;
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
/* A session comes or goes: writers that rely on being alone have left by then. */
void ldb_locks_session(struct bk_store *store, int change);
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
	uint32_t sessions; /* changes under the exclusive gate */
	struct ldb_stripe *stripes;
	struct ldb_absent absent;
	const char *settled; /* how settle() last ended, for inspect() */
};

/* folder.c: the folder and its owner mark */
#define LDB_MARK ".bakeoff"
/* FOLDER/PREFIX+NAME+SUFFIX; the caller frees.  NULL: out of memory. */
char *ldb_path_of(const char *folder, const char *prefix, const char *name, const char *suffix);
enum ldb_place { LDB_PLACE_NONE, LDB_PLACE_EMPTY, LDB_PLACE_OURS };
/* What stands there; FOREIGN when it is somebody else's. */
bk_status ldb_folder_look(enum ldb_place *out, const struct bk_store *store, struct bk_error *err);
/* LevelDB opens whatever bears a file's name, and waits for a pipe. */
bk_status ldb_folder_check_files(const struct bk_store *store, struct bk_error *err);
bk_status ldb_folder_make(const struct bk_store *store, struct bk_error *err);
bk_status ldb_folder_unmake(const struct bk_store *store, struct bk_error *err);
/* mark_lock.c.  Lock the mark, so that no second process, and no second store of this one, opens
 * the same database: LevelDB's own lock is lost when one process opens it twice. */
bk_status ldb_folder_lock(int *fd, const struct bk_store *store, struct bk_error *err);

/* db.c: the database handle */
bk_status ldb_db_open(struct bk_store *store, bool create, struct bk_error *err);
/* Has LevelDB been there? */
bool ldb_has_current(const struct bk_store *store);
/* A worker may be opening it just now. */
bool ldb_db_is_open(struct bk_store *store);
void ldb_db_close(struct bk_store *store);
/* Closed and opened again if it is open: all caches are gone. */
bk_status ldb_db_reopen(struct bk_store *store, struct bk_error *err);
/* Removes the database's files; the folder around them stays.  again: opens an empty one. */
bk_status ldb_db_destroy(struct bk_store *store, bool again, struct bk_error *err);
uint64_t ldb_version_next(struct bk_store *store);

/* settle.c, inspect.c, manifest.c */
bk_status ldb_store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err);
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

#endif
