/*
 * doc_unit.c - document layout: rows loaded under lock, changed in memory, written back.
 *
 * The invariant: a row is in the unit at most once, and once loaded it is locked by the transaction
 * that the session has open, so what memory says is what the table says until it is written.
 * Rows are locked in the order of their ids, so two units that meet do not deadlock within one
 * load.
 */
#include "doc.h"

#include <stdlib.h>

bk_status pg_doc_unit_new(struct pg_unit **out, const struct bk_host *host, struct bk_error *err)
{
	struct pg_unit *u = calloc(1, sizeof(*u));

	if (!u)
		return bk_fail(err, BK_NOMEM, 0, "session: out of memory");
	u->host = host;
	u->rows_end = &u->rows;
	pg_array_begin(&u->wanted);
	pg_array_begin(&u->wanted_paths);
	*out = u;
	return BK_OK;
}

static void unit_row_free(struct doc_row *r)
{
	pg_buffer_free(&r->place);
	pg_buffer_free(&r->doc);
	pg_buffer_free(&r->links.bytes);
	pg_buffer_free(&r->children.bytes);
	pg_buffer_free(&r->referrers.bytes);
	free(r);
}

void pg_doc_unit_forget(struct pg_unit *u)
{
	struct doc_path *p, *next_path;
	struct doc_row *r, *next;

	for (r = u->rows; r; r = next) {
		next = r->next;
		unit_row_free(r);
	}
	for (p = u->paths; p; p = next_path) {
		next_path = p->next;
		free(p);
	}
	u->rows = NULL;
	u->rows_end = &u->rows;
	u->paths = NULL;
	u->count = u->wanted_count = u->wanted_path_count = u->bytes = 0;
	u->failed = false;
	pg_map_reset(&u->by_id, 16);
	pg_map_reset(&u->by_path, 16);
	pg_array_begin(&u->wanted);
	pg_array_begin(&u->wanted_paths);
}

void pg_doc_unit_free(struct pg_unit *u)
{
	if (!u)
		return;
	pg_doc_unit_forget(u);
	pg_map_free(&u->by_id);
	pg_map_free(&u->by_path);
	pg_buffer_free(&u->wanted);
	pg_buffer_free(&u->wanted_paths);
	free(u->list);
	free(u);
}

/* ---- loading ---------------------------------------------------------------------------- */

struct doc_row *doc_unit_row(const struct pg_unit *u, struct bk_slice id)
{
	uint32_t at = pg_map_get(&u->by_id, id);

	return at == PG_MAP_NONE ? NULL : u->list[at];
}

static bool unit_room(struct pg_unit *u)
{
	size_t cap = u->cap ? u->cap * 2 : 64;
	struct doc_row **list;

	if (u->count < u->cap)
		return true;
	list = realloc(u->list, cap * sizeof(*list));
	if (!list)
		return false;
	u->list = list;
	u->cap = cap;
	return true;
}

void doc_unit_want(struct pg_unit *u, struct bk_slice id)
{
	struct doc_row *r;

	if (!u->by_id.cap)
		pg_map_reset(&u->by_id, 16);
	if (doc_unit_row(u, id))
		return;
	r = unit_room(u) ? calloc(1, sizeof(*r) + id.len) : NULL;
	if (!r) {
		u->failed = true;
		return;
	}
	memcpy(r + 1, id.data, id.len);
	r->id = bk_slice_of(r + 1, id.len);
	*u->rows_end = r;
	u->rows_end = &r->next;
	pg_map_add(&u->by_id, r->id, (uint32_t)u->count);
	u->failed = u->failed || u->by_id.failed;
	u->list[u->count++] = r;
	pg_array_add(&u->wanted, id);
	u->wanted_count++;
}

static bool unit_fill(struct doc_row *r, struct bk_slice stored)
{
	struct doc_value v;

	if (!doc_value_decode(&v, stored))
		return false;
	r->stored = true;
	r->exists = v.exists;
	r->version = v.version;
	r->parent_len = v.parent.len;
	pg_buffer_add(&r->place, v.parent.data, v.parent.len);
	pg_buffer_add(&r->place, v.path.data, v.path.len);
	pg_buffer_add(&r->doc, v.doc.data, v.doc.len);
	pg_buffer_add(&r->links.bytes, v.links.data, v.links.len);
	pg_buffer_add(&r->children.bytes, v.children.data, v.children.len);
	pg_buffer_add(&r->referrers.bytes, v.referrers.data, v.referrers.len);
	r->links.count = v.link_count;
	r->children.count = v.child_count;
	r->referrers.count = v.referrer_count;
	return true;
}

static struct bk_slice unit_field(const PGresult *res, int row, int field)
{
	return bk_slice_of(PQgetvalue(res, row, field), (size_t)PQgetlength(res, row, field));
}

static void unit_note_path(struct pg_unit *u, struct bk_slice path, uint32_t value)
{
	struct doc_path *p;

	if (!u->by_path.cap)
		pg_map_reset(&u->by_path, 16);
	if (pg_map_get(&u->by_path, path) == PG_MAP_NONE) {
		p = malloc(sizeof(*p) + path.len);
		if (!p) {
			u->failed = true;
			return;
		}
		memcpy(p + 1, path.data, path.len);
		p->path = bk_slice_of(p + 1, path.len);
		p->next = u->paths;
		u->paths = p;
		path = p->path;
	}
	pg_map_set(&u->by_path, path, value);
	u->failed = u->failed || u->by_path.failed;
}

void doc_unit_want_path(struct pg_unit *u, struct bk_slice path)
{
	if (pg_map_get(&u->by_path, path) != PG_MAP_NONE)
		return;
	unit_note_path(u, path, DOC_PATH_FREE);
	pg_array_add(&u->wanted_paths, path);
	u->wanted_path_count++;
}

void doc_unit_take_path(struct pg_unit *u, const struct doc_row *r)
{
	unit_note_path(u, doc_row_path(r), pg_map_get(&u->by_id, r->id));
}

/* A row that the unit has removed, or made again elsewhere, has given its path up. */
bool doc_unit_path_taken(const struct pg_unit *u, struct bk_slice path)
{
	uint32_t at = pg_map_get(&u->by_path, path);

	if (at == PG_MAP_NONE || at == DOC_PATH_FREE)
		return false;
	return at == DOC_PATH_FOREIGN ||
	       (u->list[at]->exists && bk_slice_eq(doc_row_path(u->list[at]), path));
}

static void unit_take_paths(struct pg_wire *w, PGresult *res, uint64_t item)
{
	struct pg_unit *u = w->session->unit;
	uint32_t at;
	int row;

	for (row = 0; row < PQntuples(res); row++) {
		at = pg_map_get(&u->by_id, unit_field(res, row, 0));
		unit_note_path(u, unit_field(res, row, 1),
			       at == PG_MAP_NONE ? DOC_PATH_FOREIGN : at);
	}
}

bk_status doc_unit_load(struct bk_session *s, const char *what, struct bk_error *err)
{
	struct pg_unit *u = s->unit;
	const PGresult *res;
	struct doc_row *r;
	struct pg_params p;
	bk_status status;
	int row;

	if (u->failed || u->wanted.failed || u->wanted_paths.failed)
		return bk_fail(err, BK_NOMEM, 0, "%s: out of memory", what);
	if (u->wanted_count == 0 && u->wanted_path_count == 0)
		return BK_OK;
	pg_array_end(&u->wanted_paths, u->wanted_path_count);
	pg_params_init(&p);
	pg_params_array(&p, &u->wanted_paths);
	if (u->wanted_path_count)
		pg_send(&s->wire, PG_DOC_PATHS, &p, unit_take_paths, PG_NO_ITEM);
	pg_array_end(&u->wanted, u->wanted_count);
	pg_params_init(&p);
	pg_params_array(&p, &u->wanted);
	pg_send(&s->wire, PG_DOC_LOCK, &p, NULL, PG_NO_ITEM);
	status = pg_wire_finish(&s->wire, what, err);
	if (status < 0)
		return status;
	res = s->wire.result;
	for (row = 0; row < PQntuples(res); row++) {
		r = doc_unit_row(u, unit_field(res, row, 0));
		if (!r || !unit_fill(r, unit_field(res, row, 1)))
			return doc_corrupt(err, what);
		u->bytes += unit_field(res, row, 1).len;
	}
	u->wanted_count = u->wanted_path_count = 0;
	pg_array_begin(&u->wanted);
	pg_array_begin(&u->wanted_paths);
	return BK_OK;
}

/* ---- writing back ----------------------------------------------------------------------- */

static void unit_send_row(struct bk_session *s, const struct doc_row *r)
{
	struct pg_params p;

	pg_params_init(&p);
	pg_params_bytes(&p, r->id);
	if (!r->exists && r->referrers.count == 0) {
		if (r->stored)
			pg_send(&s->wire, PG_DOC_DELETE, &p, pg_take_nothing, r->item);
		return;
	}
	pg_buffer_reset(&s->text);
	doc_row_encode(&s->text, r);
	p.failed = s->text.failed || r->doc.failed || r->place.failed || r->links.bytes.failed ||
		   r->children.bytes.failed || r->referrers.bytes.failed;
	pg_params_bytes_or_null(&p, r->exists ? doc_row_path(r) : bk_slice_of("", 0));
	pg_params_bytes(&p, pg_buffer_slice(&s->text));
	pg_send(&s->wire, r->stored ? PG_DOC_UPDATE : PG_DOC_INSERT, &p, pg_take_nothing, r->item);
}

/* Rows that give up their path come first: another row may take it over. */
void doc_unit_send(struct bk_session *s)
{
	struct doc_row *r;

	for (r = s->unit->rows; r; r = r->next) {
		if (r->dirty && !r->exists)
			unit_send_row(s, r);
	}
	for (r = s->unit->rows; r; r = r->next) {
		if (r->dirty && r->exists)
			unit_send_row(s, r);
	}
}

bk_status pg_doc_unit_flush(struct bk_session *s, struct bk_error *err)
{
	bk_status status;

	if (s->unit->count == 0)
		return BK_OK;
	if (!s->wire.failed)
		doc_unit_send(s);
	status = pg_wire_finish(&s->wire, "deferred write", err);
	pg_doc_unit_forget(s->unit);
	return status;
}
