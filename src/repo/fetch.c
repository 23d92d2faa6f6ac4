/*
 * fetch.c - one reader and its store: nodes, lists and walks, through the cache where it holds
 * them.
 */
#include "repo/pool.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PAGE 256u

bk_status bk_fetch_no_memory(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "out of memory while reading");
}

/* ---- Nodes ----------------------------------------------------------------- */

static void note_touched(struct reader *r, struct bk_slice id)
{
	struct bk_readers *pool = r->pool;

	if (!pool->touched)
		return;
	pthread_mutex_lock(&pool->lock);
	bk_u64set_add(pool->touched, XXH3_64bits(id.data, id.len));
	pthread_mutex_unlock(&pool->lock);
}

bk_status bk_fetch_node(struct bk_cached **out, struct reader *r, struct bk_slice id,
			struct bk_error *err)
{
	note_touched(r, id);
	return bk_repo_load(out, &r->session, r->pool->config.cache, id, err);
}

/* Loads what the cache lacks of a chunk, a prefix at a time as the backend answers. */
static bk_status load_missing(struct bk_cached **out, struct reader *r, const struct chunk *chunk,
			      const size_t *missing, size_t n, struct bk_error *err)
{
	struct bk_slice ids[CHUNK_MAX];
	struct bk_node nodes[CHUNK_MAX];
	size_t from = 0, done, i;

	for (i = 0; i < n; i++)
		ids[i] = bk_chunk_id(chunk, missing[i]);
	while (from < n) {
		bk_status st;

		r->session.round_trips++;
		st = bk_repo_nodes(r->session.repo)
			     ->get_many(nodes, &done, r->session.nodes, ids + from, n - from,
					BK_REPO_WANT, err);
		if (st < 0)
			return st;
		if (done == 0 || done > n - from)
			return bk_fail(err, BK_INTERNAL, 0, "get_many answered %zu of %zu ids",
				       done, n - from);
		for (i = 0; i < done; i++) {
			if (nodes[i].id.len == 0)
				return bk_fail(err, BK_NOT_FOUND, 0,
					       "a node that another names is not there");
			out[missing[from + i]] = bk_cache_put(r->pool->config.cache, &nodes[i]);
			if (!out[missing[from + i]])
				return bk_fetch_no_memory(err);
		}
		from += done;
	}
	return BK_OK;
}

bk_status bk_fetch_chunk(struct bk_cached **out, struct reader *r, const struct chunk *chunk,
			 struct bk_error *err)
{
	size_t missing[CHUNK_MAX], n = 0, i;

	for (i = 0; i < chunk->count; i++) {
		struct bk_slice id = bk_chunk_id(chunk, i);

		note_touched(r, id);
		out[i] = bk_cache_get(r->pool->config.cache, id);
		if (!out[i])
			missing[n++] = i;
	}
	return n ? load_missing(out, r, chunk, missing, n, err) : BK_OK;
}

/* ---- Lists ----------------------------------------------------------------- */

struct id_list { /* ids while a cursor runs */
	unsigned char *bytes;
	size_t used, cap;
	size_t *ends;
	size_t count, slots;
};

static bool id_list_add(struct id_list *l, struct bk_slice id)
{
	if (l->cap - l->used < id.len) {
		size_t cap = (l->cap + id.len) * 2 + 512;
		unsigned char *bytes = realloc(l->bytes, cap);

		if (!bytes)
			return false;
		l->bytes = bytes;
		l->cap = cap;
	}
	if (l->count == l->slots) {
		size_t slots = l->slots * 2 + 32;
		size_t *ends = realloc(l->ends, slots * sizeof(*ends));

		if (!ends)
			return false;
		l->ends = ends;
		l->slots = slots;
	}
	memcpy(l->bytes + l->used, id.data, id.len);
	l->used += id.len;
	l->ends[l->count++] = l->used;
	return true;
}

static struct bk_cached_list *id_list_freeze(const struct id_list *l, bool inbound,
					     struct bk_slice rel)
{
	struct bk_cached_list *list;
	size_t i, from = 0;
	char *at;

	list = malloc(sizeof(*list) + l->count * sizeof(struct bk_slice) + l->used + rel.len + 1);
	if (!list)
		return NULL;
	at = (char *)&list->ids[l->count];
	list->next = NULL;
	list->inbound = inbound;
	list->count = l->count;
	if (rel.len)
		memcpy(at, rel.data, rel.len);
	list->rel = bk_slice_of(at, rel.len);
	at += rel.len;
	if (l->used)
		memcpy(at, l->bytes, l->used);
	for (i = 0; i < l->count; i++) {
		list->ids[i] = bk_slice_of(at + from, l->ends[i] - from);
		from = l->ends[i];
	}
	return list;
}

bk_status bk_fetch_walk(struct reader *r, struct bk_slice start, const struct bk_step *steps,
			size_t n_steps, uint32_t want,
			bool (*fn)(void *ctx, const struct bk_hit *hit), void *ctx,
			struct bk_error *err)
{
	const struct bk_node_ops *ops = bk_repo_nodes(r->session.repo);
	const int *stop = r->pool->config.stop;
	struct bk_cursor *cursor;
	struct bk_hit hits[PAGE];
	bk_status st;
	size_t n, i;

	r->session.round_trips++;
	st = ops->walk_open(&cursor, r->session.nodes, start, steps, n_steps, want, err);
	if (st < 0)
		return st;
	while ((st = ops->walk_next(cursor, hits, PAGE, &n, err)) == BK_OK) {
		r->session.round_trips++;
		for (i = 0; i < n; i++) {
			if (!fn(ctx, &hits[i])) {
				st = bk_fetch_no_memory(err);
				goto out;
			}
		}
		if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) {
			st = bk_fail(err, BK_CANCELLED, 0, "the read was stopped");
			goto out;
		}
	}
out:
	ops->walk_close(cursor);
	return st == BK_END ? BK_OK : st;
}

static bool collect_id(void *ctx, const struct bk_hit *hit)
{
	return id_list_add(ctx, hit->id);
}

bk_status bk_fetch_list(const struct bk_cached_list **out, struct reader *r, struct bk_cached *node,
			bool inbound, struct bk_slice rel, struct bk_error *err)
{
	struct bk_cache *cache = r->pool->config.cache;
	struct bk_step step = {.rel = rel, .dir = inbound ? BK_IN : BK_CHILDREN};
	struct id_list ids = {0};
	struct bk_cached_list *list;
	bk_status st;

	*out = bk_cache_list(cache, node, inbound, rel);
	if (*out)
		return BK_OK;
	st = bk_fetch_walk(r, node->id, &step, 1, 0, collect_id, &ids, err);
	if (st >= 0) {
		list = id_list_freeze(&ids, inbound, rel);
		*out = list ? bk_cache_attach(cache, node, list) : NULL;
		if (!*out)
			st = bk_fetch_no_memory(err);
	}
	free(ids.bytes);
	free(ids.ends);
	return st;
}
