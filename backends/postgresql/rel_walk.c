/*
 * rel_walk.c - relational layout: walks.
 *
 * One step is fetched page by page, each page by the key of the last hit: nothing stays open, and
 * keys never change, so a hit that is there throughout comes exactly once.  Several steps are one
 * query behind a cursor of the server, held beyond its transaction when none is open.
 */
#include "pg.h"

#define WLK_FETCH     "FETCH 2000 FROM bakeoff_walk"
#define WLK_FETCH_MAX 2000

static void wlk_keep_page(struct bk_cursor *c, int full)
{
	struct pg_wire *w = &c->session->wire;

	pg_cursor_drop_page(c);
	c->page = w->result;
	w->result = NULL;
	c->rows = PQntuples(c->page);
	c->last = c->rows < full;
}

/* ---- one step --------------------------------------------------------------------------- */

static enum pg_statement wlk_statement(const struct bk_cursor *c)
{
	int path = c->want & BK_WANT_PATH ? 1 : 0, any = c->fixed_rel ? 0 : 2;

	if (c->dir == BK_CHILDREN)
		return (enum pg_statement)(PG_CHILDREN + path);
	return (enum pg_statement)((c->dir == BK_OUT ? PG_OUT : PG_IN) + path + any);
}

/* Of the last hit of the page before; "" comes before every key. */
static struct bk_slice wlk_last(const struct bk_cursor *c, int field)
{
	if (!c->page)
		return bk_slice_of("", 0);
	return bk_slice_of(PQgetvalue(c->page, c->rows - 1, field),
			   (size_t)PQgetlength(c->page, c->rows - 1, field));
}

static bk_status wlk_key_page(struct bk_cursor *c, struct bk_error *err)
{
	struct bk_session *s = c->session;
	struct pg_params p;
	bk_status status;

	pg_params_init(&p);
	pg_params_bytes(&p, pg_buffer_slice(&c->start));
	if (c->fixed_rel)
		pg_params_bytes(&p, pg_buffer_slice(&c->rel));
	else if (c->dir != BK_CHILDREN)
		pg_params_bytes(&p, wlk_last(c, c->want & BK_WANT_PATH ? 2 : 1));
	pg_params_bytes(&p, wlk_last(c, 0));
	pg_send(&s->wire, wlk_statement(c), &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "walk", false, err);
	if (status == BK_OK)
		wlk_keep_page(c, PG_PAGE);
	return status;
}

/* ---- several steps ---------------------------------------------------------------------- */

struct wlk_sql {
	struct pg_buffer *text;
	struct pg_params params;
	char at[32];  /* the expression that names where the walk stands */
	bool unsure;  /* ... which may be no node at all */
	bool has_row; /* node n<last> is joined */
};

static void wlk_add_rel(struct wlk_sql *q, size_t i, struct bk_slice rel)
{
	if (rel.len == 0)
		return;
	pg_params_bytes(&q->params, rel);
	pg_buffer_print(q->text, " AND l%zu.rel = $%d", i, q->params.n);
}

static void wlk_add_step(struct wlk_sql *q, size_t i, const struct bk_step *step)
{
	q->has_row = false;
	if (step->dir == BK_CHILDREN) {
		pg_buffer_print(q->text, " JOIN node n%zu ON n%zu.parent = %s", i, i, q->at);
		snprintf(q->at, sizeof(q->at), "n%zu.id", i);
		q->unsure = false;
		q->has_row = true;
	} else if (step->dir == BK_OUT) { /* only what exists has links */
		pg_buffer_print(q->text, " JOIN link l%zu ON l%zu.source = %s", i, i, q->at);
		wlk_add_rel(q, i, step->rel);
		snprintf(q->at, sizeof(q->at), "l%zu.target", i);
		q->unsure = true;
	} else { /* links may point at what does not exist */
		if (q->unsure)
			pg_buffer_print(q->text, " JOIN node e%zu ON e%zu.id = %s", i, i, q->at);
		pg_buffer_print(q->text, " JOIN link l%zu ON l%zu.target = %s", i, i, q->at);
		wlk_add_rel(q, i, step->rel);
		snprintf(q->at, sizeof(q->at), "l%zu.source", i);
		q->unsure = false;
	}
}

/* The statement in session->text, its parameters in q->params. */
static void wlk_compose(struct wlk_sql *q, struct bk_cursor *c, struct bk_slice start,
			const struct bk_step *steps, size_t n)
{
	bool path = (c->want & BK_WANT_PATH) != 0;
	struct pg_buffer from = {0};
	size_t i;

	pg_params_init(&q->params);
	pg_params_bytes(&q->params, start);
	q->text = &from;
	q->unsure = true;
	snprintf(q->at, sizeof(q->at), "s.id");
	for (i = 0; i < n; i++)
		wlk_add_step(q, i, &steps[i]);
	if (!q->has_row && (q->unsure || path))
		pg_buffer_print(&from, " JOIN node n%zu ON n%zu.id = %s", n - 1, n - 1, q->at);

	q->text = &c->session->text;
	pg_buffer_reset(q->text);
	pg_buffer_print(q->text, "DECLARE bakeoff_walk NO SCROLL CURSOR %s FOR SELECT %s",
			c->session->txn == PG_TXN_NONE ? "WITH HOLD" : "WITHOUT HOLD", q->at);
	if (path)
		pg_buffer_print(q->text, ", n%zu.path", n - 1);
	if (c->dir != BK_CHILDREN && !c->fixed_rel)
		pg_buffer_print(q->text, ", l%zu.rel", n - 1);
	pg_buffer_print(q->text, " FROM (SELECT $1::bytea AS id) s%s", from.data ? from.data : "");
	q->text->failed = q->text->failed || from.failed;
	pg_buffer_free(&from);
}

static void wlk_take_closed(struct pg_wire *w, PGresult *res, uint64_t item)
{
	w->session->server_cursor = PG_HELD_NONE;
}

static void wlk_take_declared(struct pg_wire *w, PGresult *res, uint64_t item)
{
	w->session->server_cursor = w->session->txn == PG_TXN_NONE ? PG_HELD : PG_HELD_IN_TXN;
}

static bk_status wlk_declare(struct bk_cursor *c, struct bk_slice start,
			     const struct bk_step *steps, size_t n, struct bk_error *err)
{
	struct bk_session *s = c->session;
	struct wlk_sql q;
	bk_status status;

	if (n + 1 > PG_PARAMS_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "walk: %zu steps; the limit is %d", n,
			       PG_PARAMS_MAX - 1);
	wlk_compose(&q, c, start, steps, n);
	if (s->text.failed)
		return bk_fail(err, BK_NOMEM, 0, "walk: out of memory");
	if (s->server_cursor != PG_HELD_NONE)
		pg_send_sql(&s->wire, "CLOSE bakeoff_walk", NULL, wlk_take_closed, PG_NO_ITEM);
	pg_send_sql(&s->wire, s->text.data, &q.params, wlk_take_declared, PG_NO_ITEM);
	pg_send_sql(&s->wire, WLK_FETCH, NULL, NULL, PG_NO_ITEM);
	status = pg_end(s, "walk", false, err);
	if (status < 0) {
		s->server_cursor = PG_HELD_NONE; /* gone with what failed */
		return status;
	}
	wlk_keep_page(c, WLK_FETCH_MAX);
	return BK_OK;
}

static bk_status wlk_fetch(struct bk_cursor *c, struct bk_error *err)
{
	struct bk_session *s = c->session;
	bk_status status;

	pg_send_sql(&s->wire, WLK_FETCH, NULL, NULL, PG_NO_ITEM);
	status = pg_end(s, "walk", false, err);
	if (status == BK_OK)
		wlk_keep_page(c, WLK_FETCH_MAX);
	return status;
}

bk_status pg_rel_walk_open(struct bk_cursor *c, struct bk_slice start, const struct bk_step *steps,
			   size_t n_steps, struct bk_error *err)
{
	c->kind = n_steps == 1 ? PG_CURSOR_PAGES : PG_CURSOR_SERVER;
	return n_steps == 1 ? wlk_key_page(c, err) : wlk_declare(c, start, steps, n_steps, err);
}

bk_status pg_rel_walk_page(struct bk_cursor *c, struct bk_error *err)
{
	return c->kind == PG_CURSOR_PAGES ? wlk_key_page(c, err) : wlk_fetch(c, err);
}
