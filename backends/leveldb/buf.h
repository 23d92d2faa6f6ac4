/*
 * buf.h - growing bytes, and memory that is given back all at once.
 *
 * A buffer that could not grow remembers it: whoever fills one looks at `failed` once, before
 * what it holds is used.
 */
#ifndef LDB_BUF_H
#define LDB_BUF_H

#include <bakeoff/backend_util.h>

#include <stdbool.h>

struct ldb_buf {
	char *data;
	size_t len, cap;
	bool failed; /* out of memory since the last reset */
};

bool ldb_buf_reserve(struct ldb_buf *b, size_t more);
void ldb_buf_free(struct ldb_buf *b);

static inline void ldb_buf_reset(struct ldb_buf *b)
{
	b->len = 0;
	b->failed = false;
}

static inline void ldb_buf_add(struct ldb_buf *b, const void *data, size_t len)
{
	if (b->cap - b->len < len && !ldb_buf_reserve(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline struct bk_slice ldb_buf_slice(const struct ldb_buf *b)
{
	return bk_slice_of(b->data, b->len);
}

/* Chunks; what was handed out stays where it is until the reset. */
struct ldb_chunk;
struct ldb_arena {
	struct ldb_chunk *chunks; /* newest first */
	size_t used;              /* bytes handed out since the reset */
};

void *ldb_arena_alloc(struct ldb_arena *a, size_t len); /* aligned to 8; NULL: out of memory */
/* A copy; false: out of memory. */
bool ldb_arena_copy(struct ldb_arena *a, struct bk_slice *out, struct bk_slice from);
void ldb_arena_reset(struct ldb_arena *a); /* keeps one chunk of ordinary size */
void ldb_arena_free(struct ldb_arena *a);

#endif
