/*
 * rel_get.c - relational layout: get and find.
 *
 * The invariant: one node comes from one statement, so document, links and version belong together.
 * The plain document takes the cheapest statement there is; only a node that has segments costs a
 * second one.  Views point into the result, or into session->views.
 */
#include "pg.h"

enum { GET_VERSION, GET_SEGS, GET_A, GET_B, GET_DOC }; /* columns; A, B: parent, path or a link */

static struct bk_slice get_field(const PGresult *res, int row, int field)
{
	return bk_slice_of(PQgetvalue(res, row, field), (size_t)PQgetlength(res, row, field));
}

static void get_node_row(struct bk_node *out, const PGresult *res, int row, struct bk_slice id,
			 uint32_t want)
{
	memset(out, 0, sizeof(*out));
	out->id = id;
	out->version = pg_get_u64(PQgetvalue(res, row, GET_VERSION));
	if (want & BK_WANT_PATH) {
		out->parent = get_field(res, row, GET_A);
		out->path = get_field(res, row, GET_B);
	}
	if (want & BK_WANT_DOC)
		out->doc = get_field(res, row, GET_DOC);
}

/* Rows behind the node's own: links first, then segments in order. */
static bool get_rest(struct bk_session *s, struct bk_node *out, const PGresult *res, size_t id_len)
{
	int rows = PQntuples(res), row, n_links = 0;
	struct bk_link *links;
	char *at;

	for (row = 1; row < rows && PQgetisnull(res, row, GET_SEGS); row++)
		n_links++;
	if (row < rows) {
		pg_buffer_add(&s->views, out->doc.data, out->doc.len);
		for (; row < rows; row++)
			pg_buffer_add(&s->views, PQgetvalue(res, row, GET_DOC),
				      (size_t)PQgetlength(res, row, GET_DOC));
		out->doc.len = s->views.len - id_len;
	}
	if (n_links) {
		while (s->views.len % sizeof(void *))
			pg_buffer_add(&s->views, "", 1);
		at = pg_buffer_grow(&s->views, (size_t)n_links * sizeof(*links));
		if (at) {
			links = (struct bk_link *)(void *)at;
			for (row = 1; row <= n_links; row++) {
				links[row - 1].rel = get_field(res, row, GET_A);
				links[row - 1].target = get_field(res, row, GET_B);
			}
			out->links = links;
			out->link_count = (size_t)n_links;
		}
	}
	if (s->views.failed)
		return false;
	out->id.data = s->views.data;
	if (out->doc.len && n_links + 1 < rows)
		out->doc.data = s->views.data + id_len;
	return true;
}

bk_status pg_rel_get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		     struct bk_error *err)
{
	bool all = (want & BK_WANT_LINKS) != 0;
	const PGresult *res;
	struct pg_params p;
	struct bk_node node;
	bk_status status = pg_begin_read(s, "get", err);

	if (status < 0)
		return status;
	want &= BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS;
	pg_params_init(&p);
	pg_params_bytes(&p, id);
	pg_send(&s->wire, PG_GET + (int)want, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "get", false, err);
	if (status < 0)
		return status;
	res = s->wire.result;
	if ((want & BK_WANT_DOC) && PQntuples(res) && !PQgetisnull(res, 0, GET_SEGS) &&
	    pg_get_u32(PQgetvalue(res, 0, GET_SEGS))) {
		all = true;
		pg_send(&s->wire,
			PG_GET_SEGMENTS + (int)(want & BK_WANT_PATH) +
				(want & BK_WANT_LINKS ? 2 : 0),
			&p, NULL, PG_NO_ITEM);
		status = pg_end(s, "get", false, err);
		if (status < 0)
			return status;
	}
	res = pg_show(s);
	if (PQntuples(res) == 0 || PQgetisnull(res, 0, GET_VERSION))
		return bk_fail(err, BK_NOT_FOUND, 0, "get: no node has that id");
	pg_buffer_reset(&s->views);
	pg_buffer_add(&s->views, id.data, id.len);
	if (s->views.failed)
		return bk_fail(err, BK_NOMEM, 0, "get: out of memory");
	get_node_row(&node, res, 0, pg_buffer_slice(&s->views), want);
	if (all && !get_rest(s, &node, res, id.len))
		return bk_fail(err, BK_NOMEM, 0, "get: out of memory");
	*out = node;
	return BK_OK;
}

bk_status pg_rel_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
		      struct bk_error *err)
{
	struct pg_params p;
	bk_status status = pg_begin_read(s, "find", err);

	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_bytes(&p, path);
	pg_send(&s->wire, PG_FIND, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "find", false, err);
	if (status < 0)
		return status;
	if (PQntuples(s->wire.result) == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "find: no node at '%.*s'", (int)path.len,
			       (const char *)path.data);
	*id_out = get_field(pg_show(s), 0, 0);
	return BK_OK;
}
