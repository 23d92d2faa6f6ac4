/*
 * scratch.c - a list of blocks, the current one filled from the front.
 *
 * The one invariant: blocks after the current one are empty.
 */
#include "layer/scratch.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 * 1024)
#define ALIGN       _Alignof(max_align_t)

struct bk_scratch_block {
	struct bk_scratch_block *next;
	size_t cap, used;
	max_align_t data[];
};

/* The next block with room; blocks that are too small stay, empty, for later. */
static struct bk_scratch_block *block_with(struct bk_scratch *s, size_t bytes)
{
	struct bk_scratch_block *b = s->current ? s->current : s->first, *last = NULL;
	size_t cap = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

	for (; b; last = b, b = b->next) {
		if (b->cap - b->used >= bytes)
			return b;
	}
	b = malloc(sizeof(*b) + cap);
	if (!b)
		return NULL;
	b->next = NULL;
	b->cap = cap;
	b->used = 0;
	if (last)
		last->next = b;
	else
		s->first = b;
	return b;
}

void *bk_scratch_alloc(struct bk_scratch *s, size_t bytes)
{
	struct bk_scratch_block *b;
	void *p;

	bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
	b = block_with(s, bytes);
	if (!b)
		return NULL;
	p = (char *)b->data + b->used;
	b->used += bytes;
	s->current = b;
	return p;
}

int bk_scratch_copy(struct bk_slice *out, struct bk_scratch *s, struct bk_slice from)
{
	void *p = NULL;

	if (from.len) {
		p = bk_scratch_alloc(s, from.len);
		if (!p)
			return 0;
		memcpy(p, from.data, from.len);
	}
	out->data = p;
	out->len = from.len;
	return 1;
}

void bk_scratch_reset(struct bk_scratch *s)
{
	struct bk_scratch_block *b;

	for (b = s->first; b; b = b->next)
		b->used = 0;
	s->current = s->first;
}

void bk_scratch_free(struct bk_scratch *s)
{
	struct bk_scratch_block *b, *next;

	for (b = s->first; b; b = next) {
		next = b->next;
		free(b);
	}
	s->first = s->current = NULL;
}
