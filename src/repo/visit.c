/*
 * visit.c - what one reader does with the ids it is given: load them, write what they say, name
 * the next ones.
 */
#include "repo/pool.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PAGE 256u

static bk_status no_memory(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "out of memory while reading");
}

static void note_touched(struct reader *r, struct bk_slice id)
{
	struct bk_readers *pool = r->pool;

	if (!pool->touched)
		return;
	pthread_mutex_lock(&pool->lock);
	bk_u64set_add(pool->touched, XXH3_64bits(id.data, id.len));
	pthread_mutex_unlock(&pool->lock);
}

bk_status bk_visit_load(struct bk_cached **out, struct reader *r, struct bk_slice id,
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
				return no_memory(err);
		}
		from += done;
	}
	return BK_OK;
}

static bk_status load_chunk(struct bk_cached **out, struct reader *r, const struct chunk *chunk,
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

/* Every hit of a walk, to `fn`. */
static bk_status walk(struct reader *r, struct bk_slice start, const struct bk_step *steps,
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
				st = no_memory(err);
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

static bk_status list_of(const struct bk_cached_list **out, struct reader *r,
			 struct bk_cached *node, bool inbound, struct bk_slice rel,
			 struct bk_error *err)
{
	struct bk_cache *cache = r->pool->config.cache;
	struct bk_step step = {.rel = rel, .dir = inbound ? BK_IN : BK_CHILDREN};
	struct id_list ids = {0};
	struct bk_cached_list *list;
	bk_status st;

	*out = bk_cache_list(cache, node, inbound, rel);
	if (*out)
		return BK_OK;
	st = walk(r, node->id, &step, 1, 0, collect_id, &ids, err);
	if (st >= 0) {
		list = id_list_freeze(&ids, inbound, rel);
		*out = list ? bk_cache_attach(cache, node, list) : NULL;
		if (!*out)
			st = no_memory(err);
	}
	free(ids.bytes);
	free(ids.ends);
	return st;
}

/* ---- What a node leads to --------------------------------------------------- */

struct next { /* one open chunk for each way of visiting what this chunk's nodes name */
	struct reader *reader;
	struct chunk *open[4];
};

static bk_status name_id(struct next *next, enum visit visit, size_t hop, struct bk_slice id,
			 struct bk_error *err)
{
	struct bk_readers *pool = next->reader->pool;
	struct chunk *c = next->open[visit];

	if (c && (c->count >= pool->chunk_size || c->hop != hop)) {
		bk_pool_push(pool, c);
		c = NULL;
	}
	if (!c)
		c = bk_pool_chunk(pool, visit, hop);
	next->open[visit] = c;
	return c && bk_chunk_add(c, id) ? BK_OK : no_memory(err);
}

static bk_status name_list(struct next *next, enum visit visit, size_t hop, struct bk_cached *node,
			   bool inbound, struct bk_slice rel, struct bk_error *err)
{
	const struct bk_cached_list *list;
	bk_status st = list_of(&list, next->reader, node, inbound, rel, err);
	size_t i;

	for (i = 0; st >= 0 && i < list->count; i++)
		st = name_id(next, visit, hop, list->ids[i], err);
	return st;
}

static bk_status name_children(struct next *next, enum visit visit, size_t hop,
			       struct bk_cached *node, struct bk_error *err)
{
	return name_list(next, visit, hop, node, false, bk_slice_of("", 0), err);
}

static void emit(struct reader *r, struct bk_slice path)
{
	const struct bk_read *read = r->pool->read;
	struct bk_slice start = r->pool->start->path, predicate = bk_slice_str(read->predicate);

	if (read->inverse)
		bk_ntriples_link(&r->out, path, predicate, start);
	else
		bk_ntriples_link(&r->out, start, predicate, path);
}

static bk_status take_hop(struct next *next, size_t hop, struct bk_cached *node,
			  struct bk_error *err)
{
	const struct bk_hop *h = &next->reader->pool->read->hops[hop];
	struct bk_slice rel = h->rel ? bk_slice_str(h->rel) : bk_slice_of("", 0);
	bk_status st = BK_OK;
	size_t i;

	switch (h->kind) {
	case BK_HOP_CHILDREN:
		return name_children(next, VISIT_ARRIVE, hop + 1, node, err);
	case BK_HOP_IN:
		return name_list(next, VISIT_ARRIVE, hop + 1, node, true, rel, err);
	case BK_HOP_CONTAINER:
		return node->parent.len ? name_id(next, VISIT_CONTAINER, hop + 1, node->parent, err)
					: BK_OK;
	case BK_HOP_OUT:
		for (i = 0; i < node->link_count && st >= 0; i++) {
			if (bk_slice_eq(node->links[i].rel, rel))
				st = name_id(next, VISIT_ARRIVE, hop + 1, node->links[i].target,
					     err);
		}
		return st;
	}
	return st;
}

/* A node that hop `hop` - 1 has reached. */
static bk_status arrive(struct next *next, size_t hop, struct bk_cached *node, struct bk_error *err)
{
	const struct bk_read *read = next->reader->pool->read;
	const struct bk_hop *last = hop ? &read->hops[hop - 1] : NULL;
	bk_status st = BK_OK;

	if (last && last->kind == BK_HOP_CHILDREN && node->pairtree)
		return name_children(next, VISIT_ARRIVE, hop, node, err);
	if (last && last->ancestors && node->parent.len)
		st = name_id(next, VISIT_ANCESTOR, hop, node->parent, err);
	if (last && last->descendants && st >= 0)
		st = name_children(next, VISIT_DESCEND, hop, node, err);
	if (st < 0)
		return st;
	if (hop < read->hop_count)
		return take_hop(next, hop, node, err);
	emit(next->reader, node->path);
	return BK_OK;
}

static bk_status visit(struct next *next, const struct chunk *chunk, struct bk_cached *node,
		       struct bk_error *err)
{
	switch (chunk->visit) {
	case VISIT_ARRIVE:
		return arrive(next, chunk->hop, node, err);
	case VISIT_CONTAINER:
		if (node->pairtree && node->parent.len)
			return name_id(next, VISIT_CONTAINER, chunk->hop, node->parent, err);
		return arrive(next, chunk->hop, node, err);
	case VISIT_ANCESTOR:
		return node->parent.len
			       ? name_id(next, VISIT_ANCESTOR, chunk->hop, node->parent, err)
			       : BK_OK;
	case VISIT_DESCEND:
		return node->pairtree ? name_children(next, VISIT_DESCEND, chunk->hop, node, err)
				      : BK_OK;
	}
	return BK_OK;
}

static bk_status visit_batched(struct next *next, const struct chunk *chunk, struct bk_error *err)
{
	struct bk_cached *nodes[CHUNK_MAX] = {NULL};
	struct reader *r = next->reader;
	bk_status st = load_chunk(nodes, r, chunk, err);
	size_t i;

	for (i = 0; i < chunk->count; i++) {
		if (st >= 0)
			st = visit(next, chunk, nodes[i], err);
		bk_cache_release(r->pool->config.cache, nodes[i]);
	}
	return st;
}

static bk_status visit_one_by_one(struct next *next, const struct chunk *chunk,
				  struct bk_error *err)
{
	struct reader *r = next->reader;
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; i < chunk->count && st >= 0; i++) {
		struct bk_cached *node;

		st = bk_visit_load(&node, r, bk_chunk_id(chunk, i), err);
		if (st < 0)
			return st;
		st = visit(next, chunk, node, err);
		bk_cache_release(r->pool->config.cache, node);
	}
	return st;
}

bk_status bk_visit_chunk(struct reader *r, const struct chunk *chunk, struct bk_error *err)
{
	struct next next = {.reader = r};
	bk_status st;
	size_t i;

	st = r->pool->access == BK_ACCESS_BATCHED ? visit_batched(&next, chunk, err)
						  : visit_one_by_one(&next, chunk, err);
	for (i = 0; i < sizeof(next.open) / sizeof(next.open[0]); i++) {
		if (!next.open[i])
			continue;
		if (st >= 0)
			bk_pool_push(r->pool, next.open[i]);
		else
			bk_pool_recycle(r->pool, next.open[i]);
	}
	return st;
}

/* ---- Native ------------------------------------------------------------------ */

static bool emit_hit(void *ctx, const struct bk_hit *hit)
{
	emit(ctx, hit->path);
	return true;
}

bk_status bk_visit_native(struct reader *r, struct bk_error *err)
{
	const struct bk_read *read = r->pool->read;

	return walk(r, r->pool->start->id, read->steps, read->step_count, BK_WANT_PATH, emit_hit, r,
		    err);
}
