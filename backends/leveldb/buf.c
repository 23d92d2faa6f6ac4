/*
 * buf.c - growing bytes, and memory that is given back all at once.
 */
#include "buf.h"

#include <stdlib.h>

#define CHUNK_BYTES 65536u

struct ldb_chunk {
	struct ldb_chunk *next;
	size_t len, cap;
	char data[];
};

bool ldb_buf_reserve(struct ldb_buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 256;
	char *data;

	if (b->failed)
		return false;
	while (cap - b->len < more)
		cap *= 2;
	if (cap == b->cap)
		return true;
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void ldb_buf_free(struct ldb_buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void *ldb_arena_alloc(struct ldb_arena *a, size_t len)
{
	struct ldb_chunk *c = a->chunks;
	size_t need = (len + 7) & ~(size_t)7;
	void *p;

	if (!c || c->cap - c->len < need) {
		size_t cap = need > CHUNK_BYTES / 4 ? need : CHUNK_BYTES;

		c = malloc(sizeof(*c) + cap);
		if (!c)
			return NULL;
		c->len = 0;
		c->cap = cap;
		/* A big one goes behind the current chunk, which still has room. */
		if (cap != CHUNK_BYTES && a->chunks) {
			c->next = a->chunks->next;
			a->chunks->next = c;
		} else {
			c->next = a->chunks;
			a->chunks = c;
		}
	}
	p = c->data + c->len;
	c->len += need;
	a->used += need;
	return p;
}

bool ldb_arena_copy(struct ldb_arena *a, struct bk_slice *out, struct bk_slice from)
{
	char *p = ldb_arena_alloc(a, from.len);

	if (!p)
		return false;
	if (from.len)
		memcpy(p, from.data, from.len);
	*out = bk_slice_of(p, from.len);
	return true;
}

void ldb_arena_reset(struct ldb_arena *a)
{
	struct ldb_chunk *c = a->chunks, *keep = NULL;

	if (!a->used)
		return;
	while (c) {
		struct ldb_chunk *next = c->next;

		if (!keep && c->cap == CHUNK_BYTES)
			keep = c;
		else
			free(c);
		c = next;
	}
	if (keep) {
		keep->next = NULL;
		keep->len = 0;
	}
	a->chunks = keep;
	a->used = 0;
}

void ldb_arena_free(struct ldb_arena *a)
{
	struct ldb_chunk *c = a->chunks;

	while (c) {
		struct ldb_chunk *next = c->next;

		free(c);
		c = next;
	}
	a->chunks = NULL;
	a->used = 0;
}
