/*
 * rel_get_many.c - relational layout: many nodes at once, in the order in which they were asked
 * for.
 *
 * Views are held up to MY_VIEWS_MAX; beyond that what comes is thrown away, and the answer ends
 * before it.  How many ids go into one query follows from what the last ones took.
 *
 * The one invariant: an id that was thrown away is never answered as one that is not there.
 */
#include "rel_read.h"

#include <stdlib.h>

struct many {
	struct bk_session *s;
	struct bk_node *out; /* one a distinct id */
	struct my_map index; /* id -> out */
	bool *segmented, *full;
	struct bk_slice *ids;
	size_t n;
	struct piece *pieces; /* documents in segments, to be joined */
	struct held_link *links;
	size_t piece_count;
	bool over; /* more than MY_VIEWS_MAX: the rest was thrown away */
};

struct piece {
	struct piece *next;
	struct bk_slice data;
	size_t node;
	uint64_t seq;
};
struct held_link {
	struct held_link *next;
	struct bk_link link;
	size_t node;
};

static bk_status many_node(struct many *m, size_t i, uint64_t version, uint64_t segs,
			   struct bk_slice doc, struct bk_slice path, struct bk_slice parent,
			   struct bk_error *err)
{
	struct my_arena *views = &m->s->views;
	struct bk_node *node = &m->out[i];

	/* At most one node may take the views over the limit, or there would be no progress. */
	if (m->over || (views->held > 0 && views->held + doc.len > MY_VIEWS_MAX)) {
		m->over = true;
		return BK_OK;
	}
	if (!my_copy(views, &node->id, m->ids[i]) || !my_copy(views, &node->doc, doc) ||
	    !my_copy(views, &node->path, path) || !my_copy(views, &node->parent, parent))
		return my_nomem(err);
	node->version = version;
	m->segmented[i] = segs > 0;
	m->full[i] = true;
	return BK_OK;
}

static bk_status many_flat_row(struct many *m, uint32_t want, struct bk_error *err)
{
	struct bk_session *s = m->s;
	struct my_map_entry *e = my_map_at(&m->index, my_bytes(s, 2));
	struct bk_slice none = bk_slice_of(NULL, 0), doc = none, path = none, parent = none;
	unsigned c = 3;

	if (!e->used)
		return bk_fail(err, BK_INTERNAL, 0,
			       "mysql: get_many: an id that was not asked for");
	if (want & BK_WANT_DOC)
		doc = my_bytes(s, c++);
	if (want & BK_WANT_PATH) {
		path = my_bytes(s, c++);
		parent = my_bytes(s, c);
	}
	return many_node(m, (size_t)e->value, s->col[0].num, s->col[1].num, doc, path, parent, err);
}

static bk_status many_union_row(struct many *m, struct bk_error *err)
{
	struct bk_session *s = m->s;
	struct my_map_entry *e = my_map_at(&m->index, my_bytes(s, 1));
	size_t i = (size_t)e->value;

	if (!e->used)
		return bk_fail(err, BK_INTERNAL, 0,
			       "mysql: get_many: an id that was not asked for");
	if (s->col[0].num == 0)
		return many_node(m, i, s->col[2].num, 0, my_bytes(s, 6), my_bytes(s, 4),
				 my_bytes(s, 5), err);
	if (!m->full[i])
		return BK_OK;
	if (s->col[0].num == 1) {
		struct piece *p = my_alloc(&s->work, sizeof(*p));

		if (s->views.held + my_bytes(s, 6).len > MY_VIEWS_MAX) {
			m->over = true;
			m->full[i] = false;
			return BK_OK;
		}
		if (!p || !my_copy(&s->views, &p->data, my_bytes(s, 6)))
			return my_nomem(err);
		p->node = i;
		p->seq = s->col[2].num;
		p->next = m->pieces;
		m->pieces = p;
		m->piece_count++;
	} else {
		struct held_link *l = my_alloc(&s->work, sizeof(*l));

		if (!l || !my_copy(&s->views, &l->link.rel, my_bytes(s, 4)) ||
		    !my_copy(&s->views, &l->link.target, my_bytes(s, 5)))
			return my_nomem(err);
		l->node = i;
		l->next = m->links;
		m->links = l;
		m->out[i].link_count++;
	}
	return BK_OK;
}

static bk_status many_query(struct many *m, const struct bk_slice *ids, size_t n, uint32_t want,
			    bool flat, struct bk_error *err)
{
	struct bk_session *s = m->s;
	char text[768], flat_kinds[10];
	const char *columns = MY_UNION_COLUMNS;
	MYSQL_STMT *stmt;
	bk_status st;

	if (flat) {
		my_read_flat(text, sizeof(text), want, true);
		my_read_flat_columns(flat_kinds, want, true);
		columns = flat_kinds;
	} else {
		my_read_union(text, sizeof(text), want, true);
	}
	st = my_exec_in(&stmt, s, text, ids, NULL, n, "get_many", err);
	if (st)
		return st;
	st = my_rows(s, stmt, columns, "get_many", err);
	while (!st && !(st = my_row(s, stmt, columns, "get_many", err)))
		st = flat ? many_flat_row(m, want, err) : many_union_row(m, err);
	if (st != BK_END) {
		my_rows_end(stmt);
		return st;
	}
	return BK_OK;
}

static int by_place(const void *a, const void *b)
{
	const struct piece *const *x = a, *const *y = b;

	if ((*x)->node != (*y)->node)
		return (*x)->node < (*y)->node ? -1 : 1;
	return (*x)->seq < (*y)->seq ? -1 : 1;
}

/* Head and segments of each segmented document become one run of bytes. */
static bk_status join_pieces(struct many *m, struct bk_error *err)
{
	struct piece **sorted = my_alloc(&m->s->work, (m->piece_count + 1) * sizeof(*sorted));
	size_t n = 0, i, k, len;
	struct piece *p;

	if (!sorted)
		return my_nomem(err);
	for (p = m->pieces; p; p = p->next)
		sorted[n++] = p;
	qsort(sorted, n, sizeof(*sorted), by_place);
	for (i = 0; i < n; i = k) {
		struct bk_slice *doc = &m->out[sorted[i]->node].doc;
		char *w;

		for (k = i, len = doc->len; k < n && sorted[k]->node == sorted[i]->node; k++)
			len += sorted[k]->data.len;
		w = my_alloc(&m->s->views, len ? len : 1);
		if (!w)
			return my_nomem(err);
		if (doc->len)
			memcpy(w, doc->data, doc->len);
		len = doc->len;
		for (; i < k; i++) {
			if (sorted[i]->data.len)
				memcpy(w + len, sorted[i]->data.data, sorted[i]->data.len);
			len += sorted[i]->data.len;
		}
		*doc = bk_slice_of(w, len);
	}
	m->pieces = NULL;
	m->piece_count = 0;
	return BK_OK;
}

static bk_status hand_out_links(struct many *m, struct bk_error *err)
{
	struct held_link *l;
	size_t i;

	for (i = 0; i < m->n; i++) {
		m->out[i].links =
			my_alloc(&m->s->views, (m->out[i].link_count + 1) * sizeof(struct bk_link));
		if (!m->out[i].links)
			return my_nomem(err);
		m->out[i].link_count = 0;
	}
	for (l = m->links; l; l = l->next) {
		struct bk_node *node = &m->out[l->node];

		((struct bk_link *)(uintptr_t)node->links)[node->link_count++] = l->link;
	}
	return BK_OK;
}

/* Reads ids once more, with their segments: the flat read says which of them have some. */
static bk_status many_segmented(struct many *m, uint32_t want, struct bk_error *err)
{
	struct bk_slice *ids = my_alloc(&m->s->work, m->n * sizeof(*ids));
	size_t n = 0, i;

	if (!ids)
		return my_nomem(err);
	for (i = 0; i < m->n; i++) {
		if (!m->segmented[i])
			continue;
		m->segmented[i] = m->full[i] = false;
		ids[n++] = m->ids[i];
	}
	return n ? many_query(m, ids, n, want, false, err) : BK_OK;
}

static bk_status many_init(struct many *m, struct bk_session *s, const struct bk_slice *ids,
			   size_t n, struct bk_error *err)
{
	size_t i;

	memset(m, 0, sizeof(*m));
	m->s = s;
	m->out = my_alloc(&s->work, n * sizeof(*m->out));
	m->ids = my_alloc(&s->work, n * sizeof(*m->ids));
	m->segmented = my_alloc(&s->work, n * sizeof(*m->segmented));
	m->full = my_alloc(&s->work, n * sizeof(*m->full));
	if (!m->out || !m->ids || !m->segmented || !m->full || !my_map_init(&m->index, &s->work, n))
		return my_nomem(err);
	memset(m->out, 0, n * sizeof(*m->out));
	memset(m->segmented, 0, n * sizeof(*m->segmented));
	memset(m->full, 0, n * sizeof(*m->full));
	for (i = 0; i < n; i++) {
		struct my_map_entry *e = my_map_at(&m->index, ids[i]);

		if (e->used)
			continue;
		e->used = true;
		e->value = m->n;
		m->ids[m->n++] = ids[i];
	}
	return BK_OK;
}

/* How many ids to ask for at once, from what the last ones took. */
static size_t portion(const struct bk_session *s, size_t n)
{
	uint64_t fit = MY_VIEWS_MAX / (s->view_avg + 1) / 2;

	if (fit < 1)
		fit = 1;
	if (fit > MY_IN_MAX)
		fit = MY_IN_MAX;
	return n < fit ? n : (size_t)fit;
}

static void learn(struct bk_session *s, size_t before, size_t ids, bool over)
{
	uint64_t avg = (s->views.held - before) / ids + 1;

	if (over)
		avg = MY_VIEWS_MAX / ids * 2;
	/* Up at once, down slowly. */
	s->view_avg = avg > s->view_avg ? avg : s->view_avg - (s->view_avg - avg) / 4;
}

bk_status my_rel_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			  const struct bk_slice *ids, size_t n, uint32_t want, struct bk_error *err)
{
	bool flat = !(want & BK_WANT_LINKS);
	size_t from = 0, i, before;
	struct many m;
	bk_status st;

	while (from < n && (from == 0 || s->views.held < MY_VIEWS_MAX / 2)) {
		size_t take = portion(s, n - from);

		before = s->views.held;
		st = many_init(&m, s, ids + from, take, err);
		if (!st)
			st = many_query(&m, m.ids, m.n, want, flat, err);
		if (!st && flat && (want & BK_WANT_DOC))
			st = many_segmented(&m, want, err);
		if (!st)
			st = join_pieces(&m, err);
		if (!st && (want & BK_WANT_LINKS))
			st = hand_out_links(&m, err);
		if (st)
			return st;
		learn(s, before, take, m.over);
		for (i = 0; i < take; i++) {
			size_t k = (size_t)my_map_at(&m.index, ids[from + i])->value;

			if (m.over && !m.full[k])
				break; /* thrown away, or not there: asked again */
			out[from + i] = m.out[k];
		}
		from += i;
		if (m.over)
			break;
	}
	if (from == 0) {
		st = my_rel_get(&out[0], s, ids[0], want, err);
		if (st == BK_NOT_FOUND)
			memset(&out[0], 0, sizeof(out[0]));
		else if (st)
			return st;
		from = 1;
	}
	*done = from;
	return BK_OK;
}
