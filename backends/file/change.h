/*
 * change.h - one change to the index: built, written, published; or found in the log and done
 * again.
 *
 * The one invariant: what is added comes before what is killed, and nothing is visible before
 * file_change_publish().
 */
#ifndef BK_FILE_CHANGE_H
#define BK_FILE_CHANGE_H

#include "control.h"
#include "index.h"
#include "record.h"

struct file_change {
	struct file_index *ix;
	struct file_intent *intent; /* NULL while rebuilding */
	struct file_buf buf;
	size_t last;     /* where in buf the newest entry begins */
	size_t kills;    /* where in buf the kills begin; SIZE_MAX: none yet */
	uint64_t offset; /* in the log, once written */
	uint64_t carry;  /* copies only: where the list went on before buf was begun */
	uint32_t carry_nth;
	uint32_t promised[FILE_SHARDS];
	bool failed; /* out of memory while building */
};

void file_change_begin(struct file_change *c, struct file_index *ix, struct file_intent *intent);
void file_change_add_node(struct file_change *c, struct bk_slice parent, struct bk_slice id,
			  struct bk_slice path);
/* Links of one change to the same target come one after the other. */
void file_change_add_link(struct file_change *c, struct bk_slice target, struct bk_slice source,
			  struct bk_slice rel, struct bk_slice path);
void file_change_kill(struct file_change *c, uint64_t offset);

/* Write it and arm the intent.  On error nothing is left. */
bk_status file_change_write(struct file_change *c, enum file_intent_op op, const char *name,
			    uint64_t version, struct bk_error *err);
/* After the node's file has changed.  Cannot fail. */
void file_change_publish(struct file_change *c);
/* The node's file did not change. */
void file_change_drop(struct file_change *c);

/* A copy of an entry, the first of its list or chained to the copy before it. */
void file_change_copy(struct file_change *c, const struct file_entry *e, bool first);
/* Write what was built, without an intent: for an index that nobody uses yet. */
bk_status file_change_store(struct file_change *c, struct bk_error *err);

/* ---- publish.c -------------------------------------------------------------------------- */

/* An entry of the log takes effect; `again`: it may have before. */
void file_publish_entry(struct file_index *ix, uint64_t offset, bool again);
/* A list's entries have moved: point at the new ones, the head last. */
void file_publish_list(struct file_index *ix, uint64_t offset, uint64_t len);
/* Recovery: publish a change that lies in the log. */
bk_status file_change_redo(struct file_index *ix, enum file_intent_op op, uint64_t offset,
			   uint64_t len, struct bk_error *err);

/* ---- relist.c --------------------------------------------------------------------------- */

/* Do so for every list in which this published change killed something. */
void file_change_relist(struct file_change *c);

/* The live entries of a list, oldest first.  CORRUPT, NOMEM. */
bk_status file_list_live(struct file_log *log, uint64_t head, uint64_t **offsets, size_t *n,
			 struct bk_error *err);

#endif
