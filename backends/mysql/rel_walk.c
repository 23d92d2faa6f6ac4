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
#include "rel.h"

#include <stdlib.h>

#define PAGE_FIRST 128u
#define PAGE_LAST  4096u

/* Where one step stands: its row's place in the index, and the node that it reached. */
struct place {
	struct my_buf rel, target; /* OUT: (rel, target); IN: (rel, n) */
	uint64_t n;                /* the node reached; CHILDREN, IN: part of the order too */
};

struct my_hit {
	struct bk_slice id, path, rel;
};

struct my_walk {
	struct bk_session *s;
	struct bk_step *steps; /* owned, with their relations */
	char *start;
	size_t start_len, n_steps;
	uint32_t want;
	struct place *at; /* of the last hit, one a step */
	char **texts;     /* [level]: continues below; [n_steps]: the first page */
	size_t level;     /* steps [0, level) are fixed; n_steps: not begun */
	bool begun, ended;
	size_t page; /* rows to ask for */
	struct my_hit *hits;
	size_t hit_count, hit_next;
};

static bool any(const struct bk_step *step)
{
	return step->dir != BK_CHILDREN && step->rel.len == 0;
}

/* ---- The text ------------------------------------------------------------------------------
 *
 * x is the node that the walk goes on from; step k joins l<k> (links) and t<k> (the node reached).
 * Columns, a step at a time: CHILDREN and IN: n; OUT: target, n; before them rel where any.
 * At the end id and, if wanted, path of the last node.
 */

struct text {
	struct my_buf buf;
	char *columns; /* kinds, for my_rows() */
	bool failed;
};

static void add(struct text *t, const char *fmt, ...) BK_PRINTF(2, 3);
static void add(struct text *t, const char *fmt, ...)
{
	char part[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(part, sizeof(part), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(part) || !my_buf_add(&t->buf, part, (size_t)n))
		t->failed = true;
}

/* How a node is called before step k, and where its number and its id are. */
static void from_n(char *out, size_t cap, const struct my_walk *c, size_t k, size_t first)
{
	if (k == first)
		snprintf(out, cap, "x.n");
	else if (c->steps[k - 1].dir == BK_IN)
		snprintf(out, cap, "l%zu.src", k - 1);
	else
		snprintf(out, cap, "t%zu.n", k - 1);
}

/* The last node's row is always joined; the others only where the next step needs their id, or to
 * leave out those that do not exist. */
static bool needs_node(const struct my_walk *c, size_t k)
{
	if (k + 1 == c->n_steps || c->steps[k].dir != BK_IN)
		return true;
	return c->steps[k + 1].dir == BK_IN;
}

static void add_columns(struct text *t, const struct my_walk *c, size_t first)
{
	size_t k;

	for (k = first; k < c->n_steps; k++) {
		if (any(&c->steps[k]))
			add(t, "l%zu.rel,", k);
		if (c->steps[k].dir == BK_OUT)
			add(t, "l%zu.target,t%zu.n,", k, k);
		else if (c->steps[k].dir == BK_IN)
			add(t, "l%zu.src,", k);
		else
			add(t, "t%zu.n,", k);
	}
	add(t, "t%zu.id", c->n_steps - 1);
	if (c->want & BK_WANT_PATH)
		add(t, ",t%zu.path", c->n_steps - 1);
}

static void add_joins(struct text *t, const struct my_walk *c, size_t first)
{
	char from[32], id[32];
	size_t k;

	for (k = first; k < c->n_steps; k++) {
		const struct bk_step *step = &c->steps[k];

		from_n(from, sizeof(from), c, k, first);
		if (k == first)
			snprintf(id, sizeof(id), "x.id");
		else
			snprintf(id, sizeof(id), "t%zu.id", k - 1);
		if (step->dir == BK_CHILDREN) {
			add(t, " JOIN @node t%zu FORCE INDEX (parent) ON t%zu.parent=%s", k, k,
			    from);
			continue;
		}
		if (step->dir == BK_OUT)
			add(t, " JOIN @link l%zu FORCE INDEX (PRIMARY) ON l%zu.src=%s", k, k, from);
		else
			add(t, " JOIN @link l%zu FORCE INDEX (inbound) ON l%zu.target=%s", k, k,
			    id);
		if (!any(step))
			add(t, " AND l%zu.rel=?", k);
		if (step->dir == BK_OUT)
			add(t, " JOIN @node t%zu FORCE INDEX (id) ON t%zu.id=l%zu.target", k, k, k);
		else if (needs_node(c, k))
			add(t, " JOIN @node t%zu FORCE INDEX (PRIMARY) ON t%zu.n=l%zu.src", k, k,
			    k);
	}
}

/* Behind the last hit's row of step k. */
static void add_bound(struct text *t, const struct my_walk *c, size_t k)
{
	const struct bk_step *step = &c->steps[k];
	const char *column = step->dir == BK_OUT ? "target" : "src";

	if (step->dir == BK_CHILDREN)
		add(t, " AND t%zu.n>?", k);
	else if (any(step))
		add(t, " AND (l%zu.rel>? OR (l%zu.rel=? AND l%zu.%s>?))", k, k, k, column);
	else
		add(t, " AND l%zu.%s>?", k, column);
}

static void add_order(struct text *t, const struct my_walk *c, size_t k)
{
	const struct bk_step *step = &c->steps[k];

	if (step->dir == BK_CHILDREN)
		add(t, " ORDER BY t%zu.n", k);
	else if (any(step))
		add(t, " ORDER BY l%zu.rel,l%zu.%s", k, k, step->dir == BK_OUT ? "target" : "src");
	else
		add(t, " ORDER BY l%zu.%s", k, step->dir == BK_OUT ? "target" : "src");
	add(t, " LIMIT ?");
}

/* The statement that goes on from step `first`; begins it when `bound` is false. */
static char *make_text(const struct my_walk *c, size_t first, bool bound)
{
	struct text t = {.failed = false};

	add(&t, "SELECT STRAIGHT_JOIN ");
	add_columns(&t, c, first);
	add(&t, " FROM @node x");
	add_joins(&t, c, first);
	add(&t, first == 0 ? " WHERE x.id=?" : " WHERE x.n=?");
	if (bound)
		add_bound(&t, c, first);
	add_order(&t, c, first);
	if (t.failed || !my_buf_add(&t.buf, "", 1)) {
		my_buf_free(&t.buf);
		return NULL;
	}
	return t.buf.data;
}

static void make_columns(char *out, const struct my_walk *c, size_t first)
{
	size_t k;

	for (k = first; k < c->n_steps; k++) {
		if (any(&c->steps[k]))
			*out++ = 'b';
		if (c->steps[k].dir == BK_OUT)
			*out++ = 'b';
		*out++ = 'n';
	}
	*out++ = 'b';
	if (c->want & BK_WANT_PATH)
		*out++ = 'b';
	*out = '\0';
}

/* ---- A page -------------------------------------------------------------------------------- */

static unsigned bind_page(MYSQL_BIND *b, struct my_walk *c, size_t first, bool bound,
			  uint64_t *limit)
{
	unsigned n = 0;
	size_t k;

	for (k = first; k < c->n_steps; k++) {
		if (c->steps[k].dir != BK_CHILDREN && !any(&c->steps[k]))
			my_bind_bytes(&b[n++], c->steps[k].rel);
	}
	if (first == 0)
		my_bind_bytes(&b[n++], bk_slice_of(c->start, c->start_len));
	else
		my_bind_num(&b[n++], &c->at[first - 1].n);
	if (bound) {
		struct place *at = &c->at[first];
		struct bk_slice rel = bk_slice_of(at->rel.data, at->rel.len);

		if (any(&c->steps[first])) {
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

		if (any(step)) {
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
	if (any(last)) {
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

	make_columns(columns, c, first);
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
		c->texts[slot] = make_text(c, first, c->begun);
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

/* ---- Open and close -------------------------------------------------------------------------- */

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
