/*
 * walk.c - walks: every hit is gathered at open.
 *
 * The one invariant: hits are offsets while they are gathered and slices afterwards.
 */
#include "sound.h"

#include <stdlib.h>

struct walk {
	const struct snd_state *state;
	const struct bk_step *steps;
	size_t n_steps;
	uint32_t want;
	struct bk_cursor *c;
};

static struct bk_slice keep(struct bk_cursor *c, struct bk_slice s)
{
	struct bk_slice at = bk_slice_of((const void *)(uintptr_t)c->bytes.len, s.len);

	snd_buf_put(&c->bytes, s.data, s.len);
	return at;
}

static void add(struct walk *w, const struct snd_record *r, struct bk_slice rel)
{
	struct bk_cursor *c = w->c;

	if (c->count == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 64;
		c->hits = realloc(c->hits, c->cap * sizeof(*c->hits));
		if (!c->hits)
			abort();
	}
	memset(&c->hits[c->count], 0, sizeof(*c->hits));
	c->hits[c->count].id = keep(c, r->node.id);
	c->hits[c->count].rel = keep(c, rel);
	if (w->want & BK_WANT_PATH)
		c->hits[c->count].path = keep(c, r->node.path);
	c->count++;
}

static void go(struct walk *w, const struct snd_record *at, size_t step, struct bk_slice rel);

/* Along the links of `from` that fit, to `to` (in) or to whatever they lead to (out). */
static void along(struct walk *w, const struct snd_record *from, const struct snd_record *to,
		  size_t step)
{
	size_t i;

	for (i = 0; i < from->node.link_count; i++) {
		const struct bk_link *link = &from->node.links[i];

		if (w->steps[step].rel.len && !bk_slice_eq(w->steps[step].rel, link->rel))
			continue;
		if (to && bk_slice_eq(link->target, to->node.id))
			go(w, from, step + 1, link->rel);
		else if (!to)
			go(w, snd_find(w->state, link->target, false), step + 1, link->rel);
	}
}

static void go(struct walk *w, const struct snd_record *at, size_t step, struct bk_slice rel)
{
	size_t i;

	if (!at)
		return;
	if (step == w->n_steps) {
		add(w, at, rel);
		return;
	}
	if (w->steps[step].dir == BK_OUT) {
		along(w, at, NULL, step);
		return;
	}
	for (i = 0; i < w->state->count; i++) {
		const struct snd_record *r = w->state->list[i];

		if (r->is_binary)
			continue;
		if (w->steps[step].dir == BK_IN)
			along(w, r, at, step);
		else if (bk_slice_eq(r->node.parent, at->node.id))
			go(w, r, step + 1, bk_slice_of(NULL, 0));
	}
}

static void settle_slice(struct bk_cursor *c, struct bk_slice *s)
{
	s->data = s->len ? c->bytes.data + (uintptr_t)s->data : NULL;
}

static bk_status check_steps(const struct bk_step *steps, size_t n, struct bk_error *err)
{
	size_t i;

	if (n == 0)
		return bk_fail(err, BK_INVALID, 0, "a walk of no steps");
	for (i = 0; i < n; i++) {
		if (steps[i].dir < BK_CHILDREN || steps[i].dir > BK_IN)
			return bk_fail(err, BK_INVALID, 0, "no such direction: %u", steps[i].dir);
	}
	return BK_OK;
}

bk_status snd_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			const struct bk_step *steps, size_t n_steps, uint32_t want,
			struct bk_error *err)
{
	struct walk w = {snd_seen(s), steps, n_steps, want, &s->cursor};
	bk_status st = check_steps(steps, n_steps, err);
	size_t i;

	if (st != BK_OK)
		return st;
	if (s->cursor.open)
		return bk_fail(err, BK_STATE, 0, "a cursor is open");
	snd_views_lapse(s);
	s->cursor.s = s;
	s->cursor.open = true;
	s->cursor.count = s->cursor.at = s->cursor.bytes.len = 0;
	go(&w, snd_find(w.state, start, false), 0, bk_slice_of(NULL, 0));
	for (i = 0; i < s->cursor.count; i++) {
		settle_slice(&s->cursor, &s->cursor.hits[i].id);
		settle_slice(&s->cursor, &s->cursor.hits[i].path);
		settle_slice(&s->cursor, &s->cursor.hits[i].rel);
	}
	*out = &s->cursor;
	return BK_OK;
}

bk_status snd_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			struct bk_error *err)
{
	size_t left = c->count - c->at;

	left = left < cap ? left : cap;
	if (left)
		memcpy(out, c->hits + c->at, left * sizeof(*out));
	c->at += left;
	*n = left;
	return left ? BK_OK : BK_END;
}

void snd_cursor_close(struct bk_cursor *c)
{
	c->open = false;
}
