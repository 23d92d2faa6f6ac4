/*
 * walk.c - walks of one or more steps.
 *
 * The one invariant: all hits are gathered under one hold of the lock, so that a walk of several
 * steps sees one state of the store.
 */
#include "mem.h"

#include <stdlib.h>

struct way { /* one way of reaching a node */
	struct mem_seen node;
	const struct mem_edge *via; /* NULL: by parentage */
};

struct ways {
	struct mem_buf *buf;
	size_t count;
	bool failed; /* out of memory */
};

static void ways_add(struct ways *w, struct mem_seen node, const struct mem_edge *via)
{
	struct way *list;
	size_t cap;

	if ((w->count + 1) * sizeof(*list) > w->buf->cap) {
		cap = w->buf->cap ? w->buf->cap * 2 : 64 * sizeof(*list);
		list = realloc(w->buf->data, cap);
		if (!list) {
			w->failed = true;
			return;
		}
		w->buf->data = list;
		w->buf->cap = cap;
	}
	list = w->buf->data;
	list[w->count].node = node;
	list[w->count].via = via;
	w->count++;
}

static struct mem_seen seen_base(const struct mem_view *v, struct mem_slot *base)
{
	struct mem_seen n;

	n.base = base;
	n.over = v->over ? mem_slot_find(v->over, mem_slot_id(base)) : NULL;
	return n;
}

static struct mem_seen seen_over(const struct mem_view *v, struct mem_slot *over)
{
	struct mem_seen n;

	n.base = mem_slot_find(v->base, mem_slot_id(over));
	n.over = over;
	return n;
}

static void step_children(struct ways *to, const struct mem_view *v, struct mem_seen from)
{
	struct mem_slot *c;

	for (c = from.base ? from.base->children : NULL; c; c = c->sibling_next) {
		if (!mem_is_hidden(v, c))
			ways_add(to, seen_base(v, c), NULL);
	}
	for (c = from.over ? from.over->children : NULL; c; c = c->sibling_next)
		ways_add(to, seen_over(v, c), NULL);
}

static bool rel_fits(const struct mem_edge *e, struct bk_slice rel)
{
	return rel.len == 0 || bk_slice_eq(bk_slice_of(e->rel, e->rel_len), rel);
}

static void reach(struct ways *to, struct mem_seen node, const struct mem_edge *via)
{
	if (mem_is_there(node))
		ways_add(to, node, via);
}

static void step_out(struct ways *to, const struct mem_view *v, struct mem_seen from,
		     struct bk_slice rel)
{
	bool base_counts = from.base && !(from.over && from.over->state == MEM_FULL);
	const struct mem_edge *e;

	for (e = base_counts ? from.base->out : NULL; e; e = e->out_next) {
		if (rel_fits(e, rel))
			reach(to, seen_base(v, e->to), e);
	}
	for (e = from.over ? from.over->out : NULL; e; e = e->out_next) {
		if (rel_fits(e, rel) && !mem_is_repeated(v, e))
			reach(to, seen_over(v, e->to), e);
	}
}

static void step_in(struct ways *to, const struct mem_view *v, struct mem_seen from,
		    struct bk_slice rel)
{
	const struct mem_edge *e;

	for (e = from.base ? from.base->in : NULL; e; e = e->in_next) {
		if (rel_fits(e, rel) && !mem_is_hidden(v, e->from))
			reach(to, seen_base(v, e->from), e);
	}
	for (e = from.over ? from.over->in : NULL; e; e = e->in_next) {
		if (rel_fits(e, rel) && !mem_is_repeated(v, e))
			reach(to, seen_over(v, e->from), e);
	}
}

/* All ways of making the steps; they lie in one of the two buffers. */
static struct ways walk_all(const struct mem_view *v, struct bk_session *s, struct bk_slice start,
			    const struct bk_step *steps, size_t n_steps)
{
	struct ways from = {&s->frontier, 0, false}, to = {&s->seen, 0, false}, swap;
	const struct way *list;
	size_t i, k;

	reach(&from, mem_see(v, start), NULL);
	for (k = 0; k < n_steps && !from.failed; k++) {
		to.count = 0;
		for (i = 0; i < from.count && !to.failed; i++) {
			list = from.buf->data;
			if (steps[k].dir == BK_CHILDREN)
				step_children(&to, v, list[i].node);
			else if (steps[k].dir == BK_OUT)
				step_out(&to, v, list[i].node, steps[k].rel);
			else
				step_in(&to, v, list[i].node, steps[k].rel);
		}
		swap = from;
		from = to;
		to = swap;
	}
	return from;
}

static char *put_bytes(struct bk_slice *out, char *at, const char *from, size_t len)
{
	memcpy(at, from, len);
	*out = bk_slice_of(at, len);
	return at + len;
}

static bool hits_copy(struct bk_cursor *c, const struct ways *ways, uint32_t want)
{
	const struct way *list = ways->buf->data;
	size_t bytes = 0, i;
	const struct mem_slot *face;
	char *at;

	for (i = 0; i < ways->count; i++) {
		face = mem_face(list[i].node);
		bytes += face->id_len + (want & BK_WANT_PATH ? face->path_len : 0) +
			 (list[i].via ? list[i].via->rel_len : 0);
	}
	c->block = calloc(1, ways->count * sizeof(struct bk_hit) + bytes + 1);
	if (!c->block)
		return false;
	c->hits = c->block;
	at = (char *)(c->hits + ways->count);
	for (i = 0; i < ways->count; i++) {
		face = mem_face(list[i].node);
		at = put_bytes(&c->hits[i].id, at, face->id, face->id_len);
		if (want & BK_WANT_PATH)
			at = put_bytes(&c->hits[i].path, at, face->path, face->path_len);
		if (list[i].via)
			at = put_bytes(&c->hits[i].rel, at, list[i].via->rel, list[i].via->rel_len);
	}
	c->count = ways->count;
	return true;
}

bk_status mem_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			const struct bk_step *steps, size_t n_steps, uint32_t want,
			struct bk_error *err)
{
	struct bk_cursor *c = &s->cursor;
	struct mem_view v = mem_view_of(s);
	struct ways ways;
	size_t i;
	bk_status st = mem_check_name(err, "start id", start);

	if (st)
		return st;
	if (n_steps == 0)
		return bk_fail(err, BK_INVALID, 0, "mem: a walk without steps");
	for (i = 0; i < n_steps; i++) {
		if (steps[i].dir < BK_CHILDREN || steps[i].dir > BK_IN)
			return bk_fail(err, BK_INVALID, 0, "mem: walk: no such direction: %u",
				       steps[i].dir);
	}
	if (c->open)
		return bk_fail(err, BK_STATE, 0, "mem: walk: the session has a cursor open");
	memset(c, 0, sizeof(*c));
	pthread_rwlock_rdlock(&s->store->lock);
	st = mem_txn_check(s, false, err);
	if (!st) {
		ways = walk_all(&v, s, start, steps, n_steps);
		if (ways.failed || !hits_copy(c, &ways, want))
			st = bk_fail(err, BK_NOMEM, 0, "mem: walk: out of memory");
	}
	pthread_rwlock_unlock(&s->store->lock);
	if (st)
		return st;
	c->open = true;
	*out = c;
	return BK_OK;
}

bk_status mem_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			struct bk_error *err)
{
	size_t left = c->count - c->next;

	if (!left)
		return BK_END;
	*n = left < cap ? left : cap;
	memcpy(out, c->hits + c->next, *n * sizeof(*out));
	c->next += *n;
	return BK_OK;
}

void mem_cursor_close(struct bk_cursor *c)
{
	free(c->block);
	c->block = NULL;
	c->open = false;
}
