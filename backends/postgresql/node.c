/*
 * node.c - the table of node operations: arguments against the contract and the limits, then on to
 * the layout in use.
 *
 * The invariant: what passes here fits into every index, so the server never refuses its length.
 */
#include "pg.h"

/* An index row must stay under 2704 bytes; the widest holds source, relation and target. */
static const struct pg_limits nod_relational = {
	.id = 1024,
	.path = 2048,
	.rel = 512,
	.key = 1024,
	.doc = UINT64_C(256) << 20,
	.binary = UINT64_C(1) << 42,
};
/* id as published: 255.  Relations and targets are inside the row, but a target is an id. */
static const struct pg_limits nod_document = {
	.id = 255,
	.path = 2048,
	.rel = 512,
	.key = 1024,
	.doc = UINT64_C(256) << 20,
	.binary = UINT64_C(1) << 42,
};

const struct pg_limits *pg_limits_of(const struct bk_store *store)
{
	return store->options->layout == PG_DOCUMENT ? &nod_document : &nod_relational;
}

static bk_status nod_check_name(const char *what, struct bk_slice v, uint64_t max,
				struct bk_error *err)
{
	if (v.len == 0)
		return bk_fail(err, BK_INVALID, 0, "an empty %s", what);
	if (v.len > max)
		return bk_fail(err, BK_TOO_LARGE, 0, "a %s of %zu bytes; the limit is %llu", what,
			       v.len, (unsigned long long)max);
	return BK_OK;
}

/* Length of the character at p, 0 when it is not UTF-8 (overlong forms and surrogates are not). */
static size_t nod_utf8_length(const unsigned char *p, size_t left)
{
	size_t n, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : (p[0] < 0xf0 ? 3 : 4);
	if (n > left)
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bk_status pg_check_text(const char *what, struct bk_slice v, uint64_t max, struct bk_error *err)
{
	const unsigned char *p = v.data;
	bk_status status = nod_check_name(what, v, max, err);
	size_t i, n;

	if (status < 0)
		return status;
	for (i = 0; i < v.len; i += n) {
		n = nod_utf8_length(p + i, v.len - i);
		if (n == 0 || p[i] == 0)
			return bk_fail(err, BK_INVALID, 0,
				       "a %s that is not UTF-8 without NUL (byte %zu)", what, i);
	}
	return BK_OK;
}

static bk_status nod_check_links(const struct pg_limits *max, const struct bk_link *links, size_t n,
				 struct bk_error *err)
{
	bk_status status = BK_OK;
	size_t i;

	for (i = 0; i < n && status == BK_OK; i++) {
		status = nod_check_name("relation", links[i].rel, max->rel, err);
		if (status == BK_OK)
			status = nod_check_name("link target", links[i].target, max->id, err);
	}
	return status;
}

static bk_status nod_check_node(const struct pg_limits *max, const struct bk_node *node,
				uint32_t mode, struct bk_error *err)
{
	bk_status status;

	if (mode < BK_PUT_CREATE || mode > BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "put: no such mode: %u", mode);
	status = nod_check_name("id", node->id, max->id, err);
	if (status == BK_OK && node->parent.len)
		status = nod_check_name("parent id", node->parent, max->id, err);
	if (status == BK_OK)
		status = pg_check_text("path", node->path, max->path, err);
	if (status == BK_OK)
		status = nod_check_links(max, node->links, node->link_count, err);
	if (status == BK_OK && node->doc.len > max->doc)
		status = bk_fail(err, BK_TOO_LARGE, 0, "a document of %zu bytes; the limit is %llu",
				 node->doc.len, (unsigned long long)max->doc);
	return status;
}

static bool nod_is_document(const struct bk_session *s)
{
	return s->store->options->layout == PG_DOCUMENT;
}

/* ---- reading ---------------------------------------------------------------------------- */

static bk_status pg_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			     uint32_t want, struct bk_error *err)
{
	bk_status status = nod_check_name("id", id, pg_limits_of(s->store)->id, err);

	if (status < 0)
		return status;
	return nod_is_document(s) ? pg_doc_get(out, s, id, want, err)
				  : pg_rel_get(out, s, id, want, err);
}

static bk_status pg_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
				  const struct bk_slice *ids, size_t n, uint32_t want,
				  struct bk_error *err)
{
	uint64_t max = pg_limits_of(s->store)->id;
	bk_status status = BK_OK;
	size_t i;

	if (n == 0)
		return bk_fail(err, BK_INVALID, 0, "get_many: of no ids");
	if (n > PG_MANY_IDS)
		n = PG_MANY_IDS;
	for (i = 0; i < n && status == BK_OK; i++)
		status = nod_check_name("id", ids[i], max, err);
	if (status < 0)
		return status;
	return nod_is_document(s) ? pg_doc_get_many(out, done, s, ids, n, want, err)
				  : pg_rel_get_many(out, done, s, ids, n, want, err);
}

static bk_status pg_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			      struct bk_error *err)
{
	bk_status status = pg_check_text("path", path, pg_limits_of(s->store)->path, err);

	if (status < 0)
		return status;
	return nod_is_document(s) ? pg_doc_find(id_out, s, path, err)
				  : pg_rel_find(id_out, s, path, err);
}

/* ---- writing ---------------------------------------------------------------------------- */

static bk_status pg_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			     struct bk_error *err)
{
	bk_status status = nod_check_node(pg_limits_of(s->store), node, mode, err);

	if (status < 0)
		return status;
	return nod_is_document(s) ? pg_doc_put(s, node, mode, err) : pg_rel_put(s, node, mode, err);
}

static bk_status pg_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				  uint32_t mode, struct bk_error *err)
{
	bk_status status;
	size_t i;

	for (i = 0; i < n; i++) {
		status = nod_check_node(pg_limits_of(s->store), &nodes[i], mode, err);
		if (status < 0) {
			err->item = i;
			return status;
		}
	}
	if (n == 0)
		return BK_OK;
	return nod_is_document(s) ? pg_doc_put_many(s, nodes, n, mode, err)
				  : pg_rel_put_many(s, nodes, n, mode, err);
}

static bk_status pg_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
				const struct bk_link *links, size_t link_count,
				struct bk_error *err)
{
	const struct pg_limits *max = pg_limits_of(s->store);
	bk_status status;

	if (nod_is_document(s))
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "append: the document layout rewrites its rows whole");
	status = nod_check_name("id", id, max->id, err);
	if (status == BK_OK)
		status = nod_check_links(max, links, link_count, err);
	if (status == BK_OK && tail.len > max->doc)
		status = bk_fail(err, BK_TOO_LARGE, 0, "append: %zu bytes; the limit is %llu",
				 tail.len, (unsigned long long)max->doc);
	if (status < 0)
		return status;
	return pg_rel_append(s, id, tail, links, link_count, err);
}

static bk_status pg_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	bk_status status = nod_check_name("id", id, pg_limits_of(s->store)->id, err);

	if (status < 0)
		return status;
	return nod_is_document(s) ? pg_doc_remove(s, id, err) : pg_rel_remove(s, id, err);
}

/* ---- walks ------------------------------------------------------------------------------ */

static bk_status nod_check_steps(const struct pg_limits *max, const struct bk_step *steps, size_t n,
				 struct bk_error *err)
{
	size_t i;

	if (n == 0)
		return bk_fail(err, BK_INVALID, 0, "walk: without steps");
	for (i = 0; i < n; i++) {
		if (steps[i].dir < BK_CHILDREN || steps[i].dir > BK_IN)
			return bk_fail(err, BK_INVALID, 0, "walk: no such direction: %u",
				       steps[i].dir);
		if (steps[i].dir != BK_CHILDREN && steps[i].rel.len > max->rel)
			return bk_fail(err, BK_TOO_LARGE, 0,
				       "walk: a relation of %zu bytes; the limit is %llu",
				       steps[i].rel.len, (unsigned long long)max->rel);
	}
	return BK_OK;
}

void pg_cursor_drop_page(struct bk_cursor *c)
{
	PQclear(c->page);
	c->page = NULL;
	c->row = c->rows = 0;
}

static bk_status pg_node_walk_open(struct bk_cursor **out, struct bk_session *s,
				   struct bk_slice start, const struct bk_step *steps,
				   size_t n_steps, uint32_t want, struct bk_error *err)
{
	const struct pg_limits *max = pg_limits_of(s->store);
	const struct bk_step *final;
	struct bk_cursor *c = &s->cursor;
	bk_status status = nod_check_name("start id", start, max->id, err);

	if (status == BK_OK)
		status = nod_check_steps(max, steps, n_steps, err);
	if (status < 0)
		return status;
	if (c->open)
		return bk_fail(err, BK_STATE, 0, "walk: the session has a cursor open");
	if (n_steps > 1 && nod_is_document(s))
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "walk: the document layout makes one step at a time");
	status = pg_begin_read(s, "walk", err);
	if (status < 0)
		return status;
	final = &steps[n_steps - 1];
	pg_cursor_drop_page(c);
	c->last = false;
	c->want = want;
	c->dir = final->dir;
	c->fixed_rel = final->dir != BK_CHILDREN && final->rel.len;
	pg_buffer_reset(&c->start);
	pg_buffer_add(&c->start, start.data, start.len);
	pg_buffer_reset(&c->rel);
	if (c->fixed_rel)
		pg_buffer_add(&c->rel, final->rel.data, final->rel.len);
	if (c->start.failed || c->rel.failed)
		return bk_fail(err, BK_NOMEM, 0, "walk: out of memory");
	status = nod_is_document(s) ? pg_doc_walk_open(c, start, steps, n_steps, err)
				    : pg_rel_walk_open(c, start, steps, n_steps, err);
	if (status < 0) {
		pg_cursor_drop_page(c);
		return status;
	}
	c->open = true;
	*out = c;
	return BK_OK;
}

static struct bk_slice nod_field(const struct bk_cursor *c, int field)
{
	return bk_slice_of(PQgetvalue(c->page, c->row, field),
			   (size_t)PQgetlength(c->page, c->row, field));
}

/* Columns of a page: id; path when it is wanted; the relation when it was left open. */
static void nod_take_hit(struct bk_cursor *c, struct bk_hit *hit)
{
	int field = 0;

	memset(hit, 0, sizeof(*hit));
	hit->id = nod_field(c, field++);
	if (c->want & BK_WANT_PATH)
		hit->path = nod_field(c, field++);
	if (c->fixed_rel)
		hit->rel = pg_buffer_slice(&c->rel);
	else if (c->dir != BK_CHILDREN)
		hit->rel = nod_field(c, field);
	c->row++;
}

static bk_status pg_node_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
				   struct bk_error *err)
{
	bk_status status;
	size_t taken = 0;

	if (c->kind == PG_CURSOR_ROW)
		return pg_doc_walk_next(c, out, cap, n, err);
	while (c->row == c->rows) {
		if (c->last)
			return BK_END;
		status = pg_begin_handle(c->session, "walk", err);
		if (status == BK_OK)
			status = pg_rel_walk_page(c, err);
		if (status < 0)
			return status;
	}
	while (taken < cap && c->row < c->rows)
		nod_take_hit(c, &out[taken++]);
	*n = taken;
	return BK_OK;
}

/* What the server still holds is closed together with the next walk, or with the session. */
static void pg_node_walk_close(struct bk_cursor *c)
{
	pg_cursor_drop_page(c);
	pg_buffer_reset(&c->list);
	c->open = false;
}

const struct bk_node_ops pg_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = pg_node_get,
	.get_many = pg_node_get_many,
	.find = pg_node_find,
	.put = pg_node_put,
	.put_many = pg_node_put_many,
	.append = pg_node_append,
	.remove = pg_node_remove,
	.walk_open = pg_node_walk_open,
	.walk_next = pg_node_walk_next,
	.walk_close = pg_node_walk_close,
};
