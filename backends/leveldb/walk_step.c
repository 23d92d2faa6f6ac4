/*
 * walk_step.c - going along the ranges of a walk.
 *
 * Each level expands a page of nodes, sorted by id so that ranges are read in the order in which
 * they lie; a node that is reached twice is expanded twice.  Documents are never looked into: a
 * child's path stands beside it, a target's in the front of its entry.
 */
#include "walk.h"

#include <stdlib.h>

#define FEED_FIRST 64u
#define FEED_MAX   4096u
#define PAGE_BYTES (1u << 20)

uint32_t ldb_page_after(uint32_t page, uint32_t first, uint32_t max)
{
	if (page == 0)
		return first;
	return page < max / 4 ? page * 4 : max;
}

static bk_status no_memory_or(bool bad, struct bk_error *err)
{
	return bad ? ldb_nomem(err) : BK_OK;
}

static struct bk_hit *push(struct ldb_hits *h)
{
	struct bk_hit *v = h->v;

	if (h->count == h->cap) {
		size_t cap = h->cap ? h->cap * 2 : 64;

		v = realloc(h->v, cap * sizeof(*v));
		if (!v)
			return NULL;
		h->v = v;
		h->cap = cap;
	}
	memset(&v[h->count], 0, sizeof(*v));
	return &v[h->count++];
}

bool ldb_hits_add(struct ldb_hits *h, struct bk_slice id)
{
	struct bk_hit *hit = push(h);

	return hit && ldb_arena_copy(&h->arena, &hit->id, id);
}

void ldb_hits_reset(struct ldb_hits *h)
{
	h->count = 0;
	ldb_arena_reset(&h->arena);
}

void ldb_hits_free(struct ldb_hits *h)
{
	free(h->v);
	ldb_arena_free(&h->arena);
	memset(h, 0, sizeof(*h));
}

static int hit_cmp(const void *a, const void *b)
{
	return bk_slice_cmp(((const struct bk_hit *)a)->id, ((const struct bk_hit *)b)->id);
}

bk_status ldb_hits_existing(struct bk_cursor *c, struct ldb_hits *h, bool want_path,
			    struct bk_error *err)
{
	struct ldb_buf *key = &c->session->key;
	size_t i, kept = 0;
	bk_status status;

	qsort(h->v, h->count, sizeof(*h->v), hit_cmp);
	for (i = 0; i < h->count; i++) {
		struct ldb_head head;

		ldb_key_plain(key, LDB_KEY_NODE, h->v[i].id);
		if (key->failed)
			return ldb_nomem(err);
		c->session->requests++;
		if (!ldb_iter_find(&c->nodes, ldb_buf_slice(key))) {
			status = ldb_iter_status(&c->nodes, c->session->store, err);
			if (status != BK_OK)
				return status;
			continue;
		}
		if (want_path) {
			if (!ldb_head_read(&head, c->nodes.value))
				return ldb_head_corrupt(err, h->v[i].id);
			if (!ldb_arena_copy(&h->arena, &h->v[i].path, head.path))
				return ldb_nomem(err);
		}
		h->v[kept++] = h->v[i];
	}
	h->count = kept;
	return BK_OK;
}

static bk_status open_range(struct bk_cursor *c, struct ldb_level *l, struct bk_error *err)
{
	static const char tags[] = {0, LDB_KEY_CHILD, LDB_KEY_OUT, LDB_KEY_IN};
	struct ldb_buf *key = &c->session->key;
	struct bk_slice from = l->feed.v[l->at].id;

	ldb_key_link_prefix(key, tags[l->step.dir], from, l->step.rel);
	if (key->failed)
		return ldb_nomem(err);
	c->session->requests++;
	l->prefix = 3 + from.len;
	ldb_iter_seek(&l->it, ldb_buf_slice(key), key->len);
	l->in_range = true;
	return BK_OK;
}

/* The entry that the level stands on, as a hit.  last: relation and path are wanted too. */
static bk_status take_hit(struct bk_cursor *c, struct ldb_level *l, struct ldb_hits *out, bool last,
			  struct bk_error *err)
{
	struct bk_slice rest =
		bk_slice_of((const char *)l->it.key.data + l->prefix, l->it.key.len - l->prefix);
	struct bk_slice rel = {0};
	struct bk_hit *hit;

	if (l->step.dir != BK_CHILDREN && !ldb_key_take(&rest, &rel))
		return bk_fail(err, BK_CORRUPT, 0, "a link's entry does not check out");
	hit = push(out);
	if (!hit || !ldb_arena_copy(&out->arena, &hit->id, rest))
		return ldb_nomem(err);
	if (!last)
		return BK_OK;
	if (l->step.dir != BK_CHILDREN)
		return no_memory_or(!ldb_arena_copy(&out->arena, &hit->rel, rel), err);
	if (c->want & BK_WANT_PATH)
		return no_memory_or(!ldb_arena_copy(&out->arena, &hit->path, l->it.value), err);
	return BK_OK;
}

/* The next page of nodes to expand; an empty one is the end. */
static bk_status refill(struct bk_cursor *c, size_t level, struct bk_error *err)
{
	struct ldb_level *l = &c->levels[level];
	bk_status status;

	if (c->view.overlay)
		l->page = 1;
	else
		l->page = ldb_page_after(l->page, FEED_FIRST, FEED_MAX);
	do {
		ldb_hits_reset(&l->feed);
		l->at = 0;
		status = ldb_level_pull(c, level - 1, &l->feed, l->page, err);
		if (status != BK_OK || l->feed.count == 0)
			return status;
		/* Only in-links can lead on from a node that is not there. */
		if (l->step.dir == BK_IN && c->levels[level - 1].step.dir == BK_OUT)
			status = ldb_hits_existing(c, &l->feed, false, err);
		else
			qsort(l->feed.v, l->feed.count, sizeof(*l->feed.v), hit_cmp);
	} while (status == BK_OK && l->feed.count == 0);
	return status;
}

bk_status ldb_level_pull(struct bk_cursor *c, size_t level, struct ldb_hits *out, size_t max,
			 struct bk_error *err)
{
	struct ldb_level *l = &c->levels[level];
	bool last = level + 1 == c->level_count;
	bk_status status = BK_OK;

	while (status == BK_OK && out->count < max && out->arena.used < PAGE_BYTES) {
		if (!l->in_range) {
			if (l->at == l->feed.count && level > 0)
				status = refill(c, level, err);
			if (status != BK_OK || l->at == l->feed.count)
				break;
			status = open_range(c, l, err);
		} else if (l->it.valid) {
			status = take_hit(c, l, out, last, err);
			ldb_iter_next(&l->it);
		} else {
			status = ldb_iter_status(&l->it, c->session->store, err);
			l->in_range = false;
			l->at++;
		}
	}
	return status;
}

bk_status ldb_levels_again(struct bk_cursor *c, struct bk_error *err)
{
	size_t i;

	for (i = 0; i < c->level_count; i++) {
		struct ldb_level *l = &c->levels[i];

		if (!l->in_range || !l->it.valid)
			continue;
		ldb_buf_reset(&c->scratch);
		ldb_buf_add(&c->scratch, l->it.key.data, l->it.key.len);
		if (c->scratch.failed)
			return ldb_nomem(err);
		ldb_iter_seek(&l->it, ldb_buf_slice(&c->scratch), l->it.bound.len);
	}
	return BK_OK;
}
