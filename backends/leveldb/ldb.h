/*
 * ldb.h - the session, and who does what with it.
 *
 * Two things carry everything else:
 *   view     what a session reads: the database, or a transaction's snapshot and its own writes
 *   sink     where a session's changes go: a WriteBatch, or a transaction's overlay
 */
#ifndef LDB_LDB_H
#define LDB_LDB_H

#include "data.h"
#include "store.h"
#include "view.h"

/* ---- The session ------------------------------------------------------------------------- */

struct ldb_txn {
	bool active, read_only;
	uint64_t serial; /* counts transactions of the session, from 1 */
	uint64_t clock;  /* the store's, before the snapshot was taken */
	const leveldb_snapshot_t *snapshot;
	leveldb_readoptions_t *ro;
	struct ldb_overlay overlay;
};

struct ldb_seen; /* seen.c: what a put_many has created so far */
struct ldb_many; /* read_many.c: scratch */

/* What one call lent to the caller.  There are two, used in turn: what the last call gave may be
 * what this one is asked about. */
struct ldb_lent {
	struct ldb_value held;
	struct ldb_buf key; /* the node's, and in it the id */
	struct ldb_links links;
	struct ldb_arena arena;
	struct ldb_buf doc;
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

/* lent.c */
/* At the start of every read: what the last but one lent out lapses. */
void ldb_lent_lapse(struct bk_session *s);
void ldb_lent_free(struct bk_session *s);

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
bk_status ldb_fill_node(struct bk_node *out, const struct ldb_head *h, struct ldb_links *links,
			struct bk_slice id, uint32_t want, struct bk_error *err);

/* write.c: changes put into the sink, nothing written yet */
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

/* seen.c */
/* For n nodes, in the memory that the session keeps; NULL: out of memory. */
struct ldb_seen *ldb_seen_start(struct bk_session *s, const struct bk_node *nodes, size_t n);
/* The node at `at` is about to be put.  True: its id stands earlier in the call. */
bool ldb_seen_add(struct ldb_seen *seen, size_t at, struct ldb_hashes hashes);
/* Does the node stand earlier in the call? */
bool ldb_seen_before(const struct ldb_seen *seen, struct bk_slice id, uint64_t hash);
/* Does the path of the node that is being put? */
bool ldb_seen_path(const struct ldb_seen *seen);
void ldb_seen_free(struct ldb_seen *seen);

/* batch.c */
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
