/*
 * check_walk.c - walks, checked; and what they share with lists: a cursor's life.
 */
#include "layer/check.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

struct bk_cursor *bk_check_cursor_new(struct bk_session *s, const char *op)
{
	struct bk_cursor *c;

	if (s->cursors && s->cursors->open)
		bk_check_die(op, "the session has a cursor open; it may have one at a time");
	c = calloc(1, sizeof(*c));
	if (!c)
		bk_check_die(op, "out of memory");
	c->session = s;
	c->next = s->cursors;
	s->cursors = c;
	return c;
}

static void cursor_check(struct bk_cursor *c, bool is_list, const char *op)
{
	bk_check_thread(c->session, op);
	if (!c->open)
		bk_check_die(op, "called on a cursor that is closed");
	if (c->is_list != is_list)
		bk_check_die(op, "called on a cursor of a %s", c->is_list ? "list" : "walk");
}

bk_status bk_check_cursor_enter(struct bk_cursor *c, bool is_list, size_t cap, const char *op,
				struct bk_error *err)
{
	cursor_check(c, is_list, op);
	if (!cap)
		bk_check_die(op, "room for no items");
	if (!bk_check_lapse(&c->views))
		return bk_check_breach(err, op,
				       "a borrowed view was changed before this call, the next on "
				       "its cursor");
	return bk_check_enter_handle(c->session, op, err);
}

void bk_check_cursor_end(struct bk_cursor *c, bool is_list, const char *op)
{
	cursor_check(c, is_list, op);
	if (!bk_check_lapse(&c->views))
		snprintf(c->session->breach, sizeof(c->session->breach),
			 "a view borrowed from a cursor was changed before the cursor was closed");
	c->open = false;
}

bk_status bk_check_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			     const struct bk_step *steps, size_t n_steps, uint32_t want,
			     struct bk_error *err)
{
	static const char op[] = "node.walk_open";
	const struct bk_pass_session *p = &s->pass;
	struct bk_cursor *c, *inner = BK_CHECK_UNWRITTEN;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err), raw;
	size_t i;

	bk_check_slice(op, "start", start);
	if (!n_steps || !steps)
		bk_check_die(op, "no steps");
	for (i = 0; i < n_steps; i++)
		bk_check_slice(op, "relation of a step", steps[i].rel);
	c = bk_check_cursor_new(s, op);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	raw = p->next->node.walk_open(&inner, p->s, start, steps, n_steps, want, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	st = bk_check_handle(st, raw, inner, op, err);
	if (st)
		return st;
	c->inner = inner;
	c->children = steps[n_steps - 1].dir == BK_CHILDREN;
	c->want_path = want & BK_WANT_PATH;
	c->open = true;
	*out = c;
	return BK_OK;
}

static bk_status keep_hit(struct bk_hit *hit, struct bk_cursor *c, struct bk_error *err)
{
	static const char op[] = "node.walk_next";

	if (!hit->id.len)
		return bk_check_breach(err, op, "a hit has an empty id");
	if (c->want_path ? !hit->path.len : hit->path.len)
		return bk_check_breach(err, op, "a hit %s",
				       c->want_path ? "lacks the path that was wanted"
						    : "has a path that was not wanted");
	if (c->children ? hit->rel.len : !hit->rel.len)
		return bk_check_breach(err, op, "a hit %s",
				       c->children ? "of a child has a relation"
						   : "of a link lacks its relation");
	if (!bk_check_keep(&hit->id, &c->views) || !bk_check_keep(&hit->path, &c->views) ||
	    !bk_check_keep(&hit->rel, &c->views))
		return bk_check_breach(err, op, "a view is NULL with a length");
	return BK_OK;
}

bk_status bk_check_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			     struct bk_error *err)
{
	static const char op[] = "node.walk_next";
	const struct bk_tables *next = c->session->pass.next;
	bk_status st = bk_check_cursor_enter(c, false, cap, op, err);
	size_t got = SIZE_MAX, i;
	struct bk_error armed;

	if (st)
		return st;
	bk_check_error_arm(&armed);
	st = bk_check_answer(next->node.walk_next(c->inner, out, cap, &got, &armed), &armed, true,
			     op, err);
	if (st)
		return st;
	if (got < 1 || got > cap)
		return bk_check_breach(err, op, "it answers OK with n = %zu of %zu", got, cap);
	for (i = 0; i < got && !st; i++)
		st = keep_hit(&out[i], c, err);
	if (!st)
		*n = got;
	return st;
}

void bk_check_walk_close(struct bk_cursor *c)
{
	bk_check_cursor_end(c, false, "node.walk_close");
	c->session->pass.next->node.walk_close(c->inner);
}
