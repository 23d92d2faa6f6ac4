/*
 * scratch.h - memory that is used again and again: filled, reset, filled.
 *
 * The one invariant: what it gave stays where it is until the next reset.
 */
#ifndef BK_LAYER_SCRATCH_H
#define BK_LAYER_SCRATCH_H

#include <bakeoff/backend.h>

struct bk_scratch_block;
struct bk_scratch { /* starts as all zero */
	struct bk_scratch_block *first, *current;
};

void *bk_scratch_alloc(struct bk_scratch *s, size_t bytes); /* aligned; NULL: out of memory */
/* A copy of the bytes.  False: out of memory. */
int bk_scratch_copy(struct bk_slice *out, struct bk_scratch *s, struct bk_slice from);
void bk_scratch_reset(struct bk_scratch *s); /* keeps the memory */
void bk_scratch_free(struct bk_scratch *s);

#endif
