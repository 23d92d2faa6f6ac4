/*
 * rel_walk_text.c - relational layout: the statement of a walk that goes on from a known node.
 *
 * x is the node that the walk goes on from; step k joins l<k> (links) and t<k> (the node reached).
 * Columns, a step at a time: CHILDREN and IN: n; OUT: target, n; before them rel where any.  At the
 * end id and, if wanted, path of the last node.
 *
 * The one invariant: columns here, their kinds in my_walk_columns() and their reading in advance()
 * of rel_walk.c follow the same order.
 */
#include "rel_walk.h"

struct text {
	struct my_buf buf;
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
		if (my_step_any(&c->steps[k]))
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
		if (!my_step_any(step))
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
	else if (my_step_any(step))
		add(t, " AND (l%zu.rel>? OR (l%zu.rel=? AND l%zu.%s>?))", k, k, k, column);
	else
		add(t, " AND l%zu.%s>?", k, column);
}

static void add_order(struct text *t, const struct my_walk *c, size_t k)
{
	const struct bk_step *step = &c->steps[k];

	if (step->dir == BK_CHILDREN)
		add(t, " ORDER BY t%zu.n", k);
	else if (my_step_any(step))
		add(t, " ORDER BY l%zu.rel,l%zu.%s", k, k, step->dir == BK_OUT ? "target" : "src");
	else
		add(t, " ORDER BY l%zu.%s", k, step->dir == BK_OUT ? "target" : "src");
	add(t, " LIMIT ?");
}

/* The statement that goes on from step `first`; begins it when `bound` is false. */
char *my_walk_text(const struct my_walk *c, size_t first, bool bound)
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

void my_walk_columns(char *out, const struct my_walk *c, size_t first)
{
	size_t k;

	for (k = first; k < c->n_steps; k++) {
		if (my_step_any(&c->steps[k]))
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
