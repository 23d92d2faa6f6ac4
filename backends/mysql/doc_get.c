/*
 * doc_get.c - document layout: reading nodes, one or many, and find.
 *
 * The one invariant: a row is decoded where it came in; of many, what is wanted is copied before
 * the next row takes its place.
 */
#include "doc.h"

static bk_status take_links(struct bk_node *out, struct bk_session *s, const struct my_row *row,
			    struct bk_error *err)
{
	struct bk_link *links = my_alloc(&s->views, (row->links.count + 1) * sizeof(*links));
	const char *p = my_entries_begin(&row->links), *end = p + row->links.len;
	size_t n = 0;

	if (!links)
		return my_nomem(err);
	while (n < row->links.count && my_entry(&links[n].rel, &p, end) &&
	       my_entry(&links[n].target, &p, end))
		n++;
	out->links = links;
	out->link_count = n;
	return BK_OK;
}

/* What is wanted of a row, as views into it. */
static bk_status take_node(struct bk_node *out, struct bk_session *s, const struct my_row *row,
			   uint32_t want, struct bk_error *err)
{
	out->version = row->version;
	if (want & BK_WANT_DOC)
		out->doc = row->doc;
	if (want & BK_WANT_PATH) {
		out->path = row->path;
		out->parent = row->parent;
	}
	return want & BK_WANT_LINKS ? take_links(out, s, row, err) : BK_OK;
}

static bk_status read_row(struct bk_session *s, char kind, struct bk_slice name, const char *what,
			  struct bk_error *err)
{
	struct bk_slice key;
	MYSQL_BIND b;

	if (!my_key(&s->work, &key, kind, name))
		return my_nomem(err);
	my_bind_bytes(&b, key);
	return my_one(s, MY_SQL_DOC_GET, &b, "b", what, err);
}

static bk_status doc_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			 uint32_t want, struct bk_error *err)
{
	struct bk_node node = {0};
	struct my_row row;
	bk_status st = read_row(s, 'n', id, "get", err);

	if (!st)
		st = my_row_decode(&row, my_bytes(s, 0), err);
	if (st == BK_END || (!st && !row.there))
		return bk_fail(err, BK_NOT_FOUND, 0, "mysql: get: no such node");
	if (!st && !my_copy(&s->views, &node.id, id))
		st = my_nomem(err);
	if (!st)
		st = take_node(&node, s, &row, want, err);
	if (!st)
		*out = node;
	return st;
}

static bk_status doc_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			  struct bk_error *err)
{
	bk_status st = read_row(s, 'p', path, "find", err);

	if (st == BK_END)
		return bk_fail(err, BK_NOT_FOUND, 0, "mysql: find: no node has this path");
	if (!st)
		*id_out = my_bytes(s, 0);
	return st;
}

/* ---- Many
 * ------------------------------------------------------------------------------------------------
 */

struct many {
	struct bk_session *s;
	struct my_map index; /* key -> distinct id */
	struct bk_node *out;
	struct bk_slice *keys;
	bool *dropped; /* there, and thrown away: over the limit */
	size_t n;
	uint32_t want;
};

static bk_status many_row(struct many *m, struct bk_error *err)
{
	struct bk_session *s = m->s;
	struct my_map_entry *e = my_map_at(&m->index, my_bytes(s, 0));
	struct bk_slice raw = my_bytes(s, 1), links = {0};
	struct my_row row;
	struct bk_node *node;
	bk_status st = my_row_decode(&row, raw, err);

	if (st || !e->used || !row.there)
		return st;
	node = &m->out[e->value];
	if (s->views.held && s->views.held + row.doc.len > MY_VIEWS_MAX) {
		m->dropped[e->value] = true;
		return BK_OK;
	}
	if (!my_copy(&s->views, &node->id,
		     bk_slice_of((const char *)my_bytes(s, 0).data + 1, my_bytes(s, 0).len - 1)))
		return my_nomem(err);
	/* The row's buffer is the next row's: keep what is wanted. */
	if ((m->want & BK_WANT_DOC) && !my_copy(&s->views, &row.doc, row.doc))
		return my_nomem(err);
	if ((m->want & BK_WANT_PATH) && (!my_copy(&s->views, &row.path, row.path) ||
					 !my_copy(&s->views, &row.parent, row.parent)))
		return my_nomem(err);
	if (m->want & BK_WANT_LINKS) {
		if (!my_copy(&s->views, &links, bk_slice_of(row.links.data, row.links.len)))
			return my_nomem(err);
		row.links.data = links.data;
	}
	return take_node(node, s, &row, m->want, err);
}

static bk_status many_query(struct many *m, struct bk_error *err)
{
	MYSQL_STMT *stmt;
	bk_status st = my_exec_in(&stmt, m->s, "SELECT id,document FROM @document WHERE id IN (*)",
				  m->keys, NULL, m->n, "get_many", err);

	if (!st)
		st = my_rows(m->s, stmt, "bb", "get_many", err);
	while (!st && !(st = my_row(m->s, stmt, "bb", "get_many", err))) {
		st = many_row(m, err);
		if (st)
			my_rows_end(stmt);
	}
	return st == BK_END ? BK_OK : st;
}

static bk_status many_init(struct many *m, struct bk_session *s, const struct bk_slice *ids,
			   size_t n, uint32_t want, struct bk_error *err)
{
	size_t i;

	memset(m, 0, sizeof(*m));
	m->s = s;
	m->want = want;
	m->out = my_alloc(&s->work, n * sizeof(*m->out));
	m->keys = my_alloc(&s->work, n * sizeof(*m->keys));
	m->dropped = my_alloc(&s->work, n * sizeof(*m->dropped));
	if (!m->out || !m->keys || !m->dropped || !my_map_init(&m->index, &s->work, n))
		return my_nomem(err);
	memset(m->out, 0, n * sizeof(*m->out));
	memset(m->dropped, 0, n * sizeof(*m->dropped));
	for (i = 0; i < n; i++) {
		struct my_map_entry *e;
		struct bk_slice key;

		if (!my_key(&s->work, &key, 'n', ids[i]))
			return my_nomem(err);
		e = my_map_at(&m->index, key);
		if (e->used)
			continue;
		e->used = true;
		e->value = m->n;
		m->keys[m->n++] = key;
	}
	return BK_OK;
}

static bk_status doc_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			      const struct bk_slice *ids, size_t n, uint32_t want,
			      struct bk_error *err)
{
	size_t from = 0, i = 0, take;
	struct bk_slice key;
	struct many m;
	bk_status st;

	while (from < n && s->views.held < MY_VIEWS_MAX / 2) {
		uint64_t fit = MY_VIEWS_MAX / (s->view_avg + 1) / 2 + 1;
		size_t before = s->views.held;

		take = n - from < MY_IN_MAX ? n - from : MY_IN_MAX;
		take = take < fit ? take : (size_t)fit;
		st = many_init(&m, s, ids + from, take, want, err);
		if (!st)
			st = many_query(&m, err);
		for (i = 0; i < take && !st; i++) {
			size_t k;

			if (!my_key(&s->work, &key, 'n', ids[from + i]))
				return my_nomem(err);
			k = (size_t)my_map_at(&m.index, key)->value;
			if (m.dropped[k])
				break;
			out[from + i] = m.out[k];
		}
		if (st)
			return st;
		s->view_avg = (s->views.held - before) / take;
		from += i;
		if (i < take)
			break;
	}
	if (from == 0) { /* the first alone is over the limit, and was beaten to it by another */
		st = doc_get(&out[0], s, ids[0], want, err);
		if (st)
			return st;
		from = 1;
	}
	*done = from;
	return BK_OK;
}

const struct my_node_table my_document = {
	.get = doc_get,
	.get_many = doc_get_many,
	.find = doc_find,
	.put = my_doc_put,
	.remove = my_doc_remove,
	.walk_open = my_doc_walk_open,
	.walk_next = my_doc_walk_next,
	.walk_close = my_doc_walk_close,
};
