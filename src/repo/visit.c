/*
 * visit.c - what one reader does with the ids it is given: load them, write what they say, name
 * the next ones.
 */
#include "repo/pool.h"

#include <bakeoff/backend_util.h>

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
	return c && bk_chunk_add(c, id) ? BK_OK : bk_fetch_no_memory(err);
}

static bk_status name_list(struct next *next, enum visit visit, size_t hop, struct bk_cached *node,
			   bool inbound, struct bk_slice rel, struct bk_error *err)
{
	const struct bk_cached_list *list;
	bk_status st = bk_fetch_list(&list, next->reader, node, inbound, rel, err);
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
	bk_status st = bk_fetch_chunk(nodes, r, chunk, err);
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

		st = bk_fetch_node(&node, r, bk_chunk_id(chunk, i), err);
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

	return bk_fetch_walk(r, r->pool->start->id, read->steps, read->step_count, BK_WANT_PATH,
			     emit_hit, r, err);
}
