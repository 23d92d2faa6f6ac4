/*
 * rel_get_many.c - relational layout: many nodes at once, in the caller's order.
 *
 * The invariant: what is held stays near PG_MANY_BYTES.  The first statement leaves out documents
 * that are larger than their share or lie in segments, but tells their sizes; a prefix of the
 * caller's list is then chosen that fits, and a second statement fetches what it still lacks.
 */
#include "pg.h"

#include <stdlib.h>

#define MANY_LINKS_MAX 50000
#define MANY_TRIES     3

enum { MANY_ID, MANY_VERSION, MANY_SIZE, MANY_A, MANY_B, MANY_DOC };
enum { DOCS_ID, DOCS_VERSION, DOCS_DOC };

struct many_row {
	uint64_t version, size_bytes;
	int row; /* of the first result */
	bool counted;
	bool missing_doc;    /* it has to come with the second */
	struct bk_slice doc; /* in views: `data` is set last, since views move while they grow */
	size_t doc_at;
	size_t links, links_at, link_bytes;
};

static struct bk_slice many_field(const PGresult *res, int row, int field)
{
	return bk_slice_of(PQgetvalue(res, row, field), (size_t)PQgetlength(res, row, field));
}

static void many_add_ids(struct bk_session *s, const struct bk_slice *ids, size_t n)
{
	size_t i;

	pg_array_begin(&s->arrays[0]);
	for (i = 0; i < n; i++)
		pg_array_add(&s->arrays[0], ids[i]);
	pg_array_end(&s->arrays[0], n);
}

/* The nodes' own rows, a map from id to them, and how many links belong to each.  *n shrinks when
 * the links alone are too many. */
static bk_status many_ask(struct bk_session *s, const struct bk_slice *ids, size_t *n,
			  uint32_t want, struct many_row **rows, struct bk_error *err)
{
	struct many_row *list = NULL;
	const PGresult *res;
	struct pg_params p;
	uint32_t at, count = 0;
	int row, total;
	bk_status status;

	for (;;) {
		many_add_ids(s, ids, *n);
		pg_params_init(&p);
		pg_params_array(&p, &s->arrays[0]);
		pg_params_int(&p, PG_MANY_BYTES / *n);
		pg_params_int(&p, *n == 1 ? (uint64_t)INT64_MAX : MANY_LINKS_MAX);
		pg_send(&s->wire, PG_MANY + (int)want, &p, NULL, PG_NO_ITEM);
		status = pg_end(s, "get_many", false, err);
		if (status < 0)
			return status;
		res = s->wire.result;
		total = PQntuples(res);
		if (*n == 1 || total < MANY_LINKS_MAX)
			break;
		*n = (*n + 1) / 2; /* perhaps cut: fewer nodes, then */
	}
	list = calloc((size_t)total + 1, sizeof(*list));
	if (!list)
		return bk_fail(err, BK_NOMEM, 0, "get_many: out of memory");
	pg_map_reset(&s->map, *n);
	for (row = 0; row < total && !PQgetisnull(res, row, MANY_VERSION); row++) {
		list[count].version = pg_get_u64(PQgetvalue(res, row, MANY_VERSION));
		list[count].size_bytes = pg_get_u64(PQgetvalue(res, row, MANY_SIZE));
		list[count].row = row;
		list[count].missing_doc = (want & BK_WANT_DOC) && PQgetisnull(res, row, MANY_DOC);
		pg_map_add(&s->map, many_field(res, row, MANY_ID), count++);
	}
	for (; row < total; row++) {
		at = pg_map_get(&s->map, many_field(res, row, MANY_ID));
		if (at == PG_MAP_NONE)
			continue;
		list[at].links++;
		list[at].link_bytes += sizeof(struct bk_link) + many_field(res, row, MANY_A).len +
				       many_field(res, row, MANY_B).len;
	}
	*rows = list;
	return s->map.failed ? bk_fail(err, BK_NOMEM, 0, "get_many: out of memory") : BK_OK;
}

static uint64_t many_cost(const PGresult *res, const struct many_row *r, uint32_t want)
{
	uint64_t bytes = r->link_bytes + many_field(res, r->row, MANY_ID).len;

	if (want & BK_WANT_PATH)
		bytes += many_field(res, r->row, MANY_A).len + many_field(res, r->row, MANY_B).len;
	if (want & BK_WANT_DOC)
		bytes += r->size_bytes;
	return bytes;
}

/* How many of the caller's ids fit; collects the ids of documents that are still to come. */
static size_t many_prefix(struct bk_session *s, const struct bk_slice *ids, size_t n, uint32_t want,
			  struct many_row *rows, size_t *missing)
{
	struct pg_buffer *b = &s->arrays[0];
	uint64_t bytes = 0;
	uint32_t at;
	size_t i;

	*missing = 0;
	pg_array_begin(b);
	for (i = 0; i < n; i++) {
		at = pg_map_get(&s->map, ids[i]);
		if (at == PG_MAP_NONE || rows[at].counted)
			continue;
		bytes += many_cost(s->wire.result, &rows[at], want);
		if (i && bytes > PG_MANY_BYTES)
			break;
		rows[at].counted = true;
		if (rows[at].missing_doc) {
			pg_array_add(b, ids[i]);
			(*missing)++;
		}
	}
	pg_array_end(b, *missing);
	return i;
}

/* Gather the second statement's documents in views.  *changed: a node is no longer what the first
 * statement has seen. */
static bk_status many_docs(struct bk_session *s, struct many_row *rows, size_t missing,
			   bool *changed, struct bk_error *err)
{
	const PGresult *res;
	struct pg_params p;
	struct many_row *r = NULL;
	uint32_t at;
	size_t docs = 0, i;
	int row, total;
	bk_status status;
	PGresult *first = s->wire.result;

	s->wire.result = NULL; /* the views' first half; freed with the next call */
	s->more = first;
	pg_params_init(&p);
	pg_params_array(&p, &s->arrays[0]);
	pg_send(&s->wire, PG_MANY_DOCS, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "get_many", false, err);
	if (status < 0)
		return status;
	res = s->wire.result;
	total = PQntuples(res);
	for (row = 0; row < total && !PQgetisnull(res, row, DOCS_VERSION); row++) {
		at = pg_map_get(&s->map, many_field(res, row, DOCS_ID));
		r = &rows[at];
		*changed = *changed || r->version != pg_get_u64(PQgetvalue(res, row, DOCS_VERSION));
		r->doc = many_field(res, row, DOCS_DOC);
		docs++;
	}
	/* Segments come sorted by node, so each document is written in one go. */
	for (r = NULL; row < total; row++) {
		at = pg_map_get(&s->map, many_field(res, row, DOCS_ID));
		if (r != &rows[at]) {
			r = &rows[at];
			i = s->views.len;
			pg_buffer_add(&s->views, r->doc.data, r->doc.len);
			r->doc.data = NULL;
			r->doc_at = i;
		}
		pg_buffer_add(&s->views, PQgetvalue(res, row, DOCS_DOC),
			      (size_t)PQgetlength(res, row, DOCS_DOC));
		r->doc.len = s->views.len - r->doc_at;
	}
	*changed = *changed || docs != missing;
	return s->views.failed ? bk_fail(err, BK_NOMEM, 0, "get_many: out of memory") : BK_OK;
}

/* Links of all nodes in one array behind the documents; each row learns where its own begin. */
static bool many_links(struct bk_session *s, const PGresult *res, struct many_row *rows,
		       struct bk_link **links)
{
	int row, total = PQntuples(res);
	size_t sum = 0;
	uint32_t at;

	while (s->views.len % sizeof(void *))
		pg_buffer_add(&s->views, "", 1);
	for (row = 0; row < total && !PQgetisnull(res, row, MANY_VERSION); row++) {
		rows[row].links_at = sum;
		sum += rows[row].links;
		rows[row].links = 0;
	}
	*links = (struct bk_link *)(void *)pg_buffer_grow(&s->views, sum * sizeof(**links) + 1);
	if (!*links)
		return false;
	for (; row < total; row++) {
		struct bk_link *link;

		at = pg_map_get(&s->map, many_field(res, row, MANY_ID));
		if (at == PG_MAP_NONE)
			continue;
		link = &(*links)[rows[at].links_at + rows[at].links++];
		link->rel = many_field(res, row, MANY_A);
		link->target = many_field(res, row, MANY_B);
	}
	return true;
}

static void many_fill(struct bk_node *out, const struct bk_session *s, const PGresult *res,
		      const struct many_row *r, const struct bk_link *links, uint32_t want)
{
	memset(out, 0, sizeof(*out));
	out->id = many_field(res, r->row, MANY_ID);
	out->version = r->version;
	if (want & BK_WANT_PATH) {
		out->parent = many_field(res, r->row, MANY_A);
		out->path = many_field(res, r->row, MANY_B);
	}
	if (want & BK_WANT_DOC) {
		out->doc = r->missing_doc ? r->doc : many_field(res, r->row, MANY_DOC);
		if (r->missing_doc && !r->doc.data)
			out->doc.data = s->views.data + r->doc_at;
	}
	if ((want & BK_WANT_LINKS) && r->links) {
		out->links = links + r->links_at;
		out->link_count = r->links;
	}
}

static bk_status many_once(struct bk_node *out, size_t *done, struct bk_session *s,
			   const struct bk_slice *ids, size_t n, uint32_t want, bool *changed,
			   struct bk_error *err)
{
	struct many_row *rows = NULL;
	struct bk_link *links = NULL;
	const PGresult *res;
	size_t missing = 0, i;
	uint32_t at;
	bk_status status = many_ask(s, ids, &n, want, &rows, err);

	if (status < 0)
		goto out;
	pg_buffer_reset(&s->views);
	n = many_prefix(s, ids, n, want, rows, &missing);
	if (missing)
		status = many_docs(s, rows, missing, changed, err);
	if (status < 0 || *changed)
		goto out;
	res = missing ? s->more : s->wire.result;
	if ((want & BK_WANT_LINKS) && !many_links(s, res, rows, &links)) {
		status = bk_fail(err, BK_NOMEM, 0, "get_many: out of memory");
		goto out;
	}
	for (i = 0; i < n; i++) {
		at = pg_map_get(&s->map, ids[i]);
		if (at == PG_MAP_NONE)
			memset(&out[i], 0, sizeof(out[i]));
		else
			many_fill(&out[i], s, res, &rows[at], links, want);
	}
	pg_show(s);
	*done = n;
out:
	free(rows);
	return status;
}

bk_status pg_rel_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			  const struct bk_slice *ids, size_t n, uint32_t want, struct bk_error *err)
{
	bk_status status = pg_begin_read(s, "get_many", err);
	bool changed;
	int i;

	want &= BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS;
	for (i = 0; status == BK_OK && i < MANY_TRIES; i++) {
		changed = false;
		PQclear(s->more);
		s->more = NULL;
		status = many_once(out, done, s, ids, n, want, &changed, err);
		if (status == BK_OK && !changed)
			return BK_OK;
		s->wire.retries++;
	}
	if (status < 0)
		return status;
	bk_fail(err, BK_CONFLICT, 0, "get_many: a node changed at each attempt to read it");
	err->flags |= BK_ERR_RETRY;
	return BK_CONFLICT;
}
