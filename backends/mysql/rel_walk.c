/*
 * rel_walk.c - relational layout: walks of one step or many, each page one join.
 *
 * A page ends anywhere; the next one begins behind the last hit.  The last hit is a way: the start,
 * then one row a step.  What comes behind it, in the order of nested loops: first other rows of
 * the last step from the same node before it, then other rows of the step before that, and so on up
 * to the first.  Each of these is again a walk, of fewer steps, from a known node, with a lower
 * bound on its first step: one statement per level, made once.
 *
 * The one invariant: rows of a page come in strictly rising order of (step 1, step 2, ...), the
 * order of the indexes in nested loops, which STRAIGHT_JOIN and FORCE INDEX ask for; every page
 * is checked for it.
 */
#include "rel_walk.h"

#include <stdlib.h>

#define PAGE_FIRST 128u
#define PAGE_LAST  4096u

/* ---- A page --------------------------------------------------------------------- */

static unsigned bind_page(MYSQL_BIND *b, struct my_walk *c, size_t first, bool bound,
			  uint64_t *limit)
{
	unsigned n = 0;
	size_t k;

	for (k = first; k < c->n_steps; k++) {
		if (c->steps[k].dir != BK_CHILDREN && !my_step_any(&c->steps[k]))
			my_bind_bytes(&b[n++], c->steps[k].rel);
	}
	if (first == 0)
		my_bind_bytes(&b[n++], bk_slice_of(c->start, c->start_len));
	else
		my_bind_num(&b[n++], &c->at[first - 1].n);
	if (bound) {
		struct place *at = &c->at[first];
		struct bk_slice rel = bk_slice_of(at->rel.data, at->rel.len);

		if (my_step_any(&c->steps[first])) {
			my_bind_bytes(&b[n++], rel);
			my_bind_bytes(&b[n++], rel);
		}
		if (c->steps[first].dir == BK_OUT)
			my_bind_bytes(&b[n++], bk_slice_of(at->target.data, at->target.len));
		else
			my_bind_num(&b[n++], &at->n);
	}
	my_bind_num(&b[n++], limit);
	return n;
}

static bool keep_bytes(struct my_buf *out, struct bk_slice v)
{
	out->len = 0;
	return my_buf_add(out, v.data, v.len);
}

/* Compares the row at hand with the last hit and becomes it.  *rises: it comes behind. */
static bk_status advance(struct my_walk *c, size_t first, bool *rises, struct bk_error *err)
{
	struct bk_session *s = c->s;
	bool same = true, behind = false;
	unsigned col = 0;
	size_t k;

	for (k = first; k < c->n_steps; k++) {
		const struct bk_step *step = &c->steps[k];
		struct place *at = &c->at[k];
		int d = 0;

		if (my_step_any(step)) {
			struct bk_slice rel = my_bytes(s, col++);

			d = bk_slice_cmp(rel, bk_slice_of(at->rel.data, at->rel.len));
			if (!keep_bytes(&at->rel, rel))
				return my_nomem(err);
		}
		if (step->dir == BK_OUT) {
			struct bk_slice target = my_bytes(s, col++);

			if (!d)
				d = bk_slice_cmp(target,
						 bk_slice_of(at->target.data, at->target.len));
			if (!keep_bytes(&at->target, target))
				return my_nomem(err);
		} else if (!d) {
			d = (s->col[col].num > at->n) - (s->col[col].num < at->n);
		}
		at->n = s->col[col++].num;
		behind = behind || (same && d > 0);
		same = same && d == 0;
	}
	*rises = behind;
	return BK_OK;
}

static bk_status keep_hit(struct my_walk *c, const char *columns, struct bk_error *err)
{
	struct bk_session *s = c->s;
	struct my_hit *hit = &c->hits[c->hit_count];
	const struct bk_step *last = &c->steps[c->n_steps - 1];
	unsigned id = (unsigned)strlen(columns) - 1 - ((c->want & BK_WANT_PATH) != 0);

	memset(hit, 0, sizeof(*hit));
	if (!my_copy(&s->cursor_views, &hit->id, my_bytes(s, id)))
		return my_nomem(err);
	if ((c->want & BK_WANT_PATH) && !my_copy(&s->cursor_views, &hit->path, my_bytes(s, id + 1)))
		return my_nomem(err);
	if (my_step_any(last)) {
		struct place *at = &c->at[c->n_steps - 1];

		if (!my_copy(&s->cursor_views, &hit->rel, bk_slice_of(at->rel.data, at->rel.len)))
			return my_nomem(err);
	} else if (last->dir != BK_CHILDREN) {
		hit->rel = last->rel;
	}
	c->hit_count++;
	return BK_OK;
}

static bk_status read_page(struct my_walk *c, size_t first, bool bound, MYSQL_STMT *stmt,
			   struct bk_error *err)
{
	char columns[MY_COLUMNS + 1];
	bool rises = false, fresh = !bound;
	bk_status st;

	my_walk_columns(columns, c, first);
	st = my_rows(c->s, stmt, columns, "walk", err);
	while (!st && !(st = my_row(c->s, stmt, columns, "walk", err))) {
		st = advance(c, first, &rises, err);
		if (!st && !rises && !fresh)
			st = bk_fail(err, BK_INTERNAL, 0,
				     "mysql: walk: the server answers out of the indexes' order "
				     "(check optimizer_switch and join_cache_level)");
		fresh = false;
		if (!st)
			st = keep_hit(c, columns, err);
		if (st)
			my_rows_end(stmt);
	}
	return st == BK_END ? BK_OK : st;
}

/* Asks at c->level, or begins; goes up a level when that is exhausted. */
static bk_status next_page(struct my_walk *c, struct bk_error *err)
{
	struct bk_session *s = c->s;
	size_t first = c->begun ? c->level : 0;
	size_t slot = c->begun ? c->level : c->n_steps;
	uint64_t limit = c->page;
	MYSQL_BIND binds[MY_STEPS_MAX + 6];
	MYSQL_STMT *stmt;
	bk_status st;

	if (!c->texts[slot])
		c->texts[slot] = my_walk_text(c, first, c->begun);
	if (!c->texts[slot])
		return my_nomem(err);
	my_arena_reset(&s->cursor_views);
	c->hit_count = c->hit_next = 0;
	c->hits = my_alloc(&s->cursor_views, c->page * sizeof(*c->hits));
	if (!c->hits)
		return my_nomem(err);
	bind_page(binds, c, first, c->begun, &limit);
	st = my_stmt_text(&stmt, s, c->texts[slot], err);
	if (!st)
		st = my_exec(s, stmt, binds, "walk", err);
	if (!st)
		st = read_page(c, first, c->begun, stmt, err);
	if (st)
		return st;
	if (c->hit_count == limit)
		c->level = c->n_steps - 1; /* there may be more right behind the last */
	else if (first == 0)
		c->ended = true;
	else
		c->level = first - 1;
	c->begun = true;
	c->page = c->page * 4 < PAGE_LAST ? c->page * 4 : PAGE_LAST;
	return BK_OK;
}

bk_status my_rel_walk_next(struct bk_cursor *cursor, struct bk_hit *out, size_t cap, size_t *n,
			   struct bk_error *err)
{
	struct my_walk *c = cursor->walk;
	size_t i, take;
	bk_status st = BK_OK;

	while (!st && c->hit_next == c->hit_count && !c->ended)
		st = next_page(c, err);
	if (st)
		return st;
	take = c->hit_count - c->hit_next;
	if (take == 0)
		return BK_END;
	if (take > cap)
		take = cap;
	for (i = 0; i < take; i++) {
		const struct my_hit *hit = &c->hits[c->hit_next + i];

		out[i].id = hit->id;
		out[i].path = hit->path;
		out[i].rel = hit->rel;
	}
	c->hit_next += take;
	*n = take;
	return BK_OK;
}

/* ---- Open and close ------------------------------------------------------------- */

static bool copy_bytes(char **out, struct bk_slice v)
{
	*out = malloc(v.len ? v.len : 1);
	if (*out && v.len)
		memcpy(*out, v.data, v.len);
	return *out != NULL;
}

static void walk_free(struct my_walk *c)
{
	size_t k;

	for (k = 0; k < c->n_steps; k++) {
		free((void *)(uintptr_t)c->steps[k].rel.data);
		my_buf_free(&c->at[k].rel);
		my_buf_free(&c->at[k].target);
	}
	for (k = 0; c->texts && k <= c->n_steps; k++)
		free(c->texts[k]);
	free(c->texts);
	free(c->at);
	free(c->steps);
	free(c->start);
	free(c);
}

bk_status my_rel_walk_open(struct bk_cursor *cursor, struct bk_slice start,
			   const struct bk_step *steps, size_t n_steps, uint32_t want,
			   struct bk_error *err)
{
	struct my_walk *c;
	size_t k;

	if (n_steps > MY_STEPS_MAX)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "mysql: walk: %zu steps; at most %u fit into one join", n_steps,
			       MY_STEPS_MAX);
	c = calloc(1, sizeof(*c));
	if (!c)
		return my_nomem(err);
	c->s = cursor->s;
	c->want = want;
	c->start_len = start.len;
	c->page = PAGE_FIRST;
	c->steps = calloc(n_steps, sizeof(*c->steps));
	c->at = calloc(n_steps, sizeof(*c->at));
	c->texts = calloc(n_steps + 1, sizeof(*c->texts));
	if (!c->steps || !c->at || !c->texts || !copy_bytes(&c->start, start))
		goto nomem;
	for (k = 0; k < n_steps; k++) {
		char *rel;

		if (!copy_bytes(&rel, steps[k].rel))
			goto nomem;
		c->steps[k] = steps[k];
		c->steps[k].rel.data = rel;
		c->n_steps++;
	}
	cursor->walk = c;
	return BK_OK;
nomem:
	walk_free(c);
	return my_nomem(err);
}

void my_rel_walk_close(struct bk_cursor *cursor)
{
	walk_free(cursor->walk);
	cursor->walk = NULL;
}

const struct my_node_table my_relational = {
	.get = my_rel_get,
	.get_many = my_rel_get_many,
	.find = my_rel_find,
	.put = my_rel_put,
	.remove = my_rel_remove,
	.walk_open = my_rel_walk_open,
	.walk_next = my_rel_walk_next,
	.walk_close = my_rel_walk_close,
};
