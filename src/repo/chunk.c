/*
 * chunk.c - ids that are to be visited, in chunks, and the stack of chunks that the readers share.
 */
#include "repo/pool.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>

bool bk_chunk_add(struct chunk *chunk, struct bk_slice id)
{
	if (chunk->cap - chunk->used < id.len) {
		size_t cap = (chunk->cap + id.len) * 2 + 256;
		unsigned char *bytes = realloc(chunk->bytes, cap);

		if (!bytes)
			return false;
		chunk->bytes = bytes;
		chunk->cap = cap;
	}
	memcpy(chunk->bytes + chunk->used, id.data, id.len);
	chunk->used += id.len;
	chunk->ends[chunk->count++] = (uint32_t)chunk->used;
	return true;
}

struct bk_slice bk_chunk_id(const struct chunk *chunk, size_t i)
{
	size_t from = i ? chunk->ends[i - 1] : 0;

	return bk_slice_of(chunk->bytes + from, chunk->ends[i] - from);
}

struct chunk *bk_pool_chunk(struct bk_readers *pool, enum visit visit, size_t hop)
{
	struct chunk *c;

	pthread_mutex_lock(&pool->lock);
	c = pool->spare;
	if (c)
		pool->spare = c->next;
	pthread_mutex_unlock(&pool->lock);
	if (!c)
		c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->next = NULL;
	c->visit = visit;
	c->hop = hop;
	c->count = c->used = 0;
	return c;
}

void bk_pool_push(struct bk_readers *pool, struct chunk *chunk)
{
	pthread_mutex_lock(&pool->lock);
	chunk->next = pool->todo;
	pool->todo = chunk;
	if (pool->config.readers > 1)
		pthread_cond_broadcast(&pool->change);
	pthread_mutex_unlock(&pool->lock);
}

void bk_pool_recycle(struct bk_readers *pool, struct chunk *chunk)
{
	pthread_mutex_lock(&pool->lock);
	chunk->next = pool->spare;
	pool->spare = chunk;
	pthread_mutex_unlock(&pool->lock);
}
