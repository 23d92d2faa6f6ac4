/*
 * loop_walk.c - walks of several steps made of walks of one, breadth first.
 *
 * The one invariant: all steps but the last are made at open; the last is made as its hits are
 * asked for.
 */
#include "layer/loop.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

#define PAGE 256u /* hits asked for at a time within a walk */

static bk_status no_memory(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "out of memory");
}
/* ---- walk: step by step, breadth first --------------------------------- */

/* All steps but the last are made at open; the last is made as its hits are asked for. */

static bool frontier_add(struct frontier *f, struct bk_slice id)
{
	struct bk_slice *ids;
	size_t cap;

	if (f->count == f->cap) {
		cap = f->cap ? f->cap * 2 : 64;
		ids = realloc(f->ids, cap * sizeof(*ids));
		if (!ids)
			return false;
		f->ids = ids;
		f->cap = cap;
	}
	if (!bk_scratch_copy(&f->ids[f->count], &f->bytes, id))
		return false;
	f->count++;
	return true;
}

static void frontier_reset(struct frontier *f)
{
	bk_scratch_reset(&f->bytes);
	f->count = 0;
}

static bk_status step_from(struct bk_session *s, struct bk_slice id, const struct bk_step *step,
			   struct bk_error *err)
{
	const struct bk_pass_session *p = &s->pass;
	struct bk_hit page[PAGE];
	struct bk_cursor *c;
	size_t n, i;
	bk_status st;

	st = p->next->node.walk_open(&c, p->s, id, step, 1, 0, err);
	if (st)
		return st;
	while ((st = p->next->node.walk_next(c, page, PAGE, &n, err)) == BK_OK) {
		for (i = 0; i < n; i++) {
			if (!frontier_add(&s->to, page[i].id)) {
				st = no_memory(err);
				goto close;
			}
		}
	}
close:
	p->next->node.walk_close(c);
	return st == BK_END ? BK_OK : st;
}

static bk_status step_all(struct bk_session *s, const struct bk_step *step, struct bk_error *err)
{
	struct frontier swap;
	bk_status st;
	size_t i;

	frontier_reset(&s->to);
	for (i = 0; i < s->from.count; i++) {
		st = step_from(s, s->from.ids[i], step, err);
		if (st)
			return st;
	}
	swap = s->from;
	s->from = s->to;
	s->to = swap;
	return BK_OK;
}

/* The last step from the next id that the steps before have reached. */
static bk_status inner_open(struct bk_cursor *c, struct bk_error *err)
{
	struct bk_session *s = c->session;
	const struct bk_pass_session *p = &s->pass;
	bk_status st = p->next->node.walk_open(&c->inner, p->s, s->from.ids[c->next], &c->last, 1,
					       c->want, err);

	if (!st)
		c->next++;
	return st;
}

bk_status bk_loop_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			    const struct bk_step *steps, size_t n_steps, uint32_t want,
			    struct bk_error *err)
{
	struct bk_cursor *c = &s->cursor;
	bk_status st = BK_OK;
	size_t k;

	if (n_steps == 0)
		return bk_fail(err, BK_INVALID, 0, "a walk without steps");
	if (c->open)
		return bk_fail(err, BK_STATE, 0, "walk: the session has a cursor open");
	memset(c, 0, sizeof(*c));
	c->session = s;
	c->last = steps[n_steps - 1];
	c->want = want;
	bk_scratch_reset(&s->rel);
	frontier_reset(&s->from);
	if (!bk_scratch_copy(&c->last.rel, &s->rel, steps[n_steps - 1].rel) ||
	    !frontier_add(&s->from, start))
		return no_memory(err);
	for (k = 0; k + 1 < n_steps && !st; k++)
		st = step_all(s, &steps[k], err);
	if (!st && s->from.count)
		st = inner_open(c, err);
	if (st)
		return st;
	c->open = true;
	*out = c;
	return BK_OK;
}

bk_status bk_loop_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			    struct bk_error *err)
{
	const struct bk_pass_session *p = &c->session->pass;
	bk_status st;

	for (;;) {
		if (c->inner) {
			st = p->next->node.walk_next(c->inner, out, cap, n, err);
			if (st != BK_END)
				return st;
			p->next->node.walk_close(c->inner);
			c->inner = NULL;
		}
		if (c->next == c->session->from.count)
			return BK_END;
		st = inner_open(c, err);
		if (st)
			return st;
	}
}

void bk_loop_walk_close(struct bk_cursor *c)
{
	if (c->inner)
		c->session->pass.next->node.walk_close(c->inner);
	c->inner = NULL;
	c->open = false;
}

void bk_loop_walk_free(struct bk_session *s)
{
	bk_scratch_free(&s->from.bytes);
	bk_scratch_free(&s->to.bytes);
	bk_scratch_free(&s->rel);
	free(s->from.ids);
	free(s->to.ids);
}
