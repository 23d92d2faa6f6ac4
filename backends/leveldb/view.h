/*
 * view.h - reading: the database, or a transaction's snapshot with its own writes laid over it.
 */
#ifndef LDB_VIEW_H
#define LDB_VIEW_H

#include "store.h"

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

#endif
