/*
 * doc_read.c - document layout: get_many, and walks of one step.
 *
 * A walk reads the start's row once and visits the list in it, so its memory is that of the row:
 * that is the layout.  Paths, and whether a link's target exists, are looked up a page at a time.
 */
#include "doc.h"

#include <stdlib.h>

static struct bk_slice dr_field(const PGresult *res, int row, int field)
{
	return bk_slice_of(PQgetvalue(res, row, field), (size_t)PQgetlength(res, row, field));
}

/* ---- get_many
 * -------------------------------------------------------------------------------------- */

enum { DR_ID, DR_SIZE, DR_VALUE };

struct dr_row {
	struct bk_slice value;
	uint64_t size_bytes;
	bool counted;
};

static bk_status dr_ask(struct bk_session *s, enum pg_statement st, uint64_t share,
			struct bk_error *err)
{
	struct pg_params p;

	pg_params_init(&p);
	pg_params_array(&p, &s->arrays[0]);
	if (st == PG_DOC_MANY_SIZES)
		pg_params_int(&p, share);
	pg_send(&s->wire, st, &p, NULL, PG_NO_ITEM);
	return pg_end(s, "get_many", false, err);
}

static void dr_map(struct bk_session *s, struct dr_row *rows, size_t n)
{
	const PGresult *res = s->wire.result;
	int row;

	pg_map_reset(&s->map, n);
	for (row = 0; row < PQntuples(res); row++) {
		rows[row].size_bytes = pg_get_u32(PQgetvalue(res, row, DR_SIZE));
		if (!PQgetisnull(res, row, DR_VALUE))
			rows[row].value = dr_field(res, row, DR_VALUE);
		pg_map_add(&s->map, dr_field(res, row, DR_ID), (uint32_t)row);
	}
}

/* How many of the caller's ids fit; those whose value is still to come, as an array. */
static size_t dr_prefix(struct bk_session *s, const struct bk_slice *ids, size_t n,
			struct dr_row *rows, size_t *missing)
{
	uint64_t bytes = 0;
	uint32_t at;
	size_t i;

	*missing = 0;
	pg_array_begin(&s->arrays[0]);
	for (i = 0; i < n; i++) {
		at = pg_map_get(&s->map, ids[i]);
		if (at == PG_MAP_NONE || rows[at].counted)
			continue;
		bytes += rows[at].size_bytes;
		if (i && bytes > PG_MANY_BYTES)
			break;
		rows[at].counted = true;
		if (!rows[at].value.data) {
			pg_array_add(&s->arrays[0], ids[i]);
			(*missing)++;
		}
	}
	pg_array_end(&s->arrays[0], *missing);
	return i;
}

/* A row that has gone since the first statement keeps no value: the node is missing. */
static bk_status dr_fetch_rest(struct bk_session *s, struct dr_row *rows, struct bk_error *err)
{
	const PGresult *res;
	bk_status status;
	uint32_t at;
	int row;

	s->more = s->wire.result;
	s->wire.result = NULL;
	status = dr_ask(s, PG_DOC_MANY, 0, err);
	if (status < 0)
		return status;
	res = s->wire.result;
	for (row = 0; row < PQntuples(res); row++) {
		at = pg_map_get(&s->map, dr_field(res, row, 0));
		if (at != PG_MAP_NONE)
			rows[at].value = dr_field(res, row, 1);
	}
	return BK_OK;
}

/* Links go into one array that must not move: its size is known before it is filled. */
static bk_status dr_fill(struct bk_node *out, struct bk_session *s, const struct bk_slice *ids,
			 size_t n, const struct dr_row *rows, uint32_t want, struct bk_error *err)
{
	struct bk_link *links;
	struct doc_value v;
	struct doc_entry e;
	size_t i, k, at_list, sum = 0;
	uint32_t at;

	for (i = 0; i < n; i++) {
		at = pg_map_get(&s->map, ids[i]);
		memset(&out[i], 0, sizeof(out[i]));
		if (at == PG_MAP_NONE || !rows[at].value.data)
			continue;
		if (!doc_value_decode(&v, rows[at].value))
			return doc_corrupt(err, "get_many");
		if (!v.exists)
			continue;
		out[i].id = pg_map_key(&s->map, ids[i]);
		out[i].version = v.version;
		if (want & BK_WANT_PATH) {
			out[i].parent = v.parent;
			out[i].path = v.path;
		}
		if (want & BK_WANT_DOC)
			out[i].doc = v.doc;
		if (want & BK_WANT_LINKS) {
			out[i].link_count = v.link_count;
			sum += v.link_count;
		}
	}
	pg_buffer_reset(&s->views);
	links = (struct bk_link *)(void *)pg_buffer_grow(&s->views, (sum + 1) * sizeof(*links));
	if (!links)
		return bk_fail(err, BK_NOMEM, 0, "get_many: out of memory");
	for (i = 0; i < n; i++) {
		if (out[i].link_count == 0)
			continue;
		at = pg_map_get(&s->map, ids[i]);
		doc_value_decode(&v, rows[at].value);
		for (k = 0, at_list = 0;
		     k < out[i].link_count && doc_entry_next(&e, v.links, &at_list); k++) {
			links[k].rel = e.rel;
			links[k].target = e.id;
		}
		out[i].links = links;
		out[i].link_count = k;
		links += k;
	}
	return BK_OK;
}

bk_status pg_doc_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			  const struct bk_slice *ids, size_t n, uint32_t want, struct bk_error *err)
{
	struct dr_row *rows = NULL;
	size_t missing = 0, i;
	bk_status status = pg_begin_read(s, "get_many", err);

	if (status < 0)
		return status;
	pg_array_begin(&s->arrays[0]);
	for (i = 0; i < n; i++)
		pg_array_add(&s->arrays[0], ids[i]);
	pg_array_end(&s->arrays[0], n);
	status = dr_ask(s, PG_DOC_MANY_SIZES, PG_MANY_BYTES / n, err);
	if (status < 0)
		return status;
	rows = calloc((size_t)PQntuples(s->wire.result) + 1, sizeof(*rows));
	if (!rows)
		return bk_fail(err, BK_NOMEM, 0, "get_many: out of memory");
	dr_map(s, rows, n);
	n = dr_prefix(s, ids, n, rows, &missing);
	if (s->map.failed || s->arrays[0].failed)
		status = bk_fail(err, BK_NOMEM, 0, "get_many: out of memory");
	if (status == BK_OK && missing)
		status = dr_fetch_rest(s, rows, err);
	if (status == BK_OK)
		status = dr_fill(out, s, ids, n, rows, want, err);
	pg_show(s);
	if (status == BK_OK)
		*done = n;
	free(rows);
	return status;
}

/* ---- walk
 * ------------------------------------------------------------------------------------------- */

/* Keep the entries that the step asks for. */
static void dr_keep_entries(struct bk_cursor *c, struct bk_slice list)
{
	struct bk_slice rel = pg_buffer_slice(&c->rel);
	struct doc_entry e;
	size_t at = 0;

	while (doc_entry_next(&e, list, &at)) {
		if (!c->fixed_rel || bk_slice_eq(e.rel, rel))
			doc_entry_add(&c->list, e.rel, e.id);
	}
}

bk_status pg_doc_walk_open(struct bk_cursor *c, struct bk_slice start, const struct bk_step *steps,
			   size_t n_steps, struct bk_error *err)
{
	struct bk_session *s = c->session;
	struct doc_value v;
	struct pg_params p;
	bk_status status;

	c->kind = PG_CURSOR_ROW;
	c->list_at = c->list_page_end = 0;
	pg_buffer_reset(&c->list);
	pg_params_init(&p);
	pg_params_bytes(&p, start);
	pg_send(&s->wire, PG_DOC_GET, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "walk", false, err);
	if (status < 0 || PQntuples(s->wire.result) == 0)
		return status;
	if (!doc_value_decode(&v, dr_field(s->wire.result, 0, 0)))
		return doc_corrupt(err, "walk");
	if (!v.exists)
		return BK_OK;
	dr_keep_entries(c, c->dir == BK_CHILDREN ? v.children
			   : c->dir == BK_OUT    ? v.links
						 : v.referrers);
	return c->list.failed ? bk_fail(err, BK_NOMEM, 0, "walk: out of memory") : BK_OK;
}

/* Look up the next page's ids: which exist, and their paths. */
static bk_status dr_page(struct bk_cursor *c, struct bk_error *err)
{
	struct bk_session *s = c->session;
	struct bk_slice list = pg_buffer_slice(&c->list);
	struct pg_params p;
	struct doc_entry e;
	size_t at = c->list_at, n;
	bk_status status = pg_begin_handle(s, "walk", err);
	int row;

	if (status < 0)
		return status;
	pg_array_begin(&s->arrays[0]);
	for (n = 0; n < PG_PAGE && doc_entry_next(&e, list, &at); n++)
		pg_array_add(&s->arrays[0], e.id);
	pg_array_end(&s->arrays[0], n);
	pg_params_init(&p);
	pg_params_array(&p, &s->arrays[0]);
	pg_send(&s->wire, PG_DOC_HITS, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "walk", false, err);
	if (status < 0)
		return status;
	pg_cursor_drop_page(c);
	c->page = s->wire.result;
	s->wire.result = NULL;
	c->list_page_end = at;
	pg_map_reset(&c->map, n);
	for (row = 0; row < PQntuples(c->page); row++)
		pg_map_add(&c->map, dr_field(c->page, row, 0), (uint32_t)row);
	return c->map.failed ? bk_fail(err, BK_NOMEM, 0, "walk: out of memory") : BK_OK;
}

bk_status pg_doc_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			   struct bk_error *err)
{
	bool look_up = c->dir == BK_OUT || (c->want & BK_WANT_PATH);
	struct bk_slice list = pg_buffer_slice(&c->list);
	struct doc_entry e;
	size_t taken = 0;
	uint32_t row = 0;
	bk_status status;

	while (taken < cap && c->list_at < list.len) {
		if (look_up && c->list_at >= c->list_page_end) {
			if (taken) /* a new page would take away what these hits point at */
				break;
			status = dr_page(c, err);
			if (status < 0)
				return status;
		}
		if (!doc_entry_next(&e, list, &c->list_at))
			return doc_corrupt(err, "walk");
		if (look_up)
			row = pg_map_get(&c->map, e.id);
		if (look_up && row == PG_MAP_NONE)
			continue;
		memset(&out[taken], 0, sizeof(out[taken]));
		out[taken].id = e.id;
		out[taken].rel = e.rel;
		if (c->want & BK_WANT_PATH)
			out[taken].path = dr_field(c->page, (int)row, 1);
		taken++;
	}
	*n = taken;
	return taken ? BK_OK : BK_END;
}
