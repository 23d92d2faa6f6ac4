/*
 * loop.h - the parts of the loop layer.
 *
 * The one invariant: a session's `views` belong to the call that was made last.
 */
#ifndef BK_LAYER_LOOP_H
#define BK_LAYER_LOOP_H

#include "layer/pass.h"
#include "layer/scratch.h"

struct bk_store {
	struct bk_pass_store pass;
	bool versions; /* BK_F_CAS */
};

struct frontier { /* ids that one step has reached */
	struct bk_scratch bytes;
	struct bk_slice *ids;
	size_t count, cap;
};

struct bk_cursor {
	struct bk_session *session;
	struct bk_cursor *inner; /* of the last step, from frontier id `next - 1`; or NULL */
	size_t next;
	struct bk_step last; /* its relation lies in the session's `rel` */
	uint32_t want;
	bool open;
};

struct bk_session {
	struct bk_pass_session pass;
	struct bk_store *store;
	bool in_txn;
	struct bk_scratch views, rel;
	struct bk_cursor cursor;
	struct frontier from, to;
};

/* loop_walk.c */
bk_status bk_loop_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			    const struct bk_step *steps, size_t n_steps, uint32_t want,
			    struct bk_error *err);
bk_status bk_loop_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			    struct bk_error *err);
void bk_loop_walk_close(struct bk_cursor *c);
void bk_loop_walk_free(struct bk_session *s);

#endif
