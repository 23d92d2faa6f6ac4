/*
 * doc_unit.c - document layout: the rows that one operation reads, changes and writes back.
 *
 * The one invariant: every row here is locked on the server from the reading to the end of the
 * transaction, or was not there, and then is inserted, never overwritten.
 */
#include "doc.h"

bool my_key(struct my_arena *a, struct bk_slice *out, char kind, struct bk_slice name)
{
	char *p = my_alloc(a, name.len + 1);

	if (!p)
		return false;
	p[0] = kind;
	memcpy(p + 1, name.data, name.len);
	*out = bk_slice_of(p, name.len + 1);
	return true;
}

bk_status my_unit_init(struct my_doc_unit *u, struct bk_session *s, size_t keys_max,
		       struct bk_error *err)
{
	memset(u, 0, sizeof(*u));
	u->s = s;
	u->cap = keys_max;
	u->rows = my_alloc(&s->work, keys_max * sizeof(*u->rows));
	if (!u->rows || !my_map_init(&u->index, &s->work, keys_max))
		return my_nomem(err);
	return BK_OK;
}

bk_status my_unit_want(struct my_loaded **out, struct my_doc_unit *u, char kind,
		       struct bk_slice name, struct bk_error *err)
{
	struct my_map_entry *e;
	struct my_loaded *l;
	struct bk_slice key;

	if (!my_key(&u->s->work, &key, kind, name))
		return my_nomem(err);
	e = my_map_at(&u->index, key);
	if (e->used) {
		*out = u->rows[e->value];
		return BK_OK;
	}
	if (u->count == u->cap)
		return bk_fail(err, BK_INTERNAL, 0, "mysql: more rows than were counted");
	l = my_alloc(&u->s->work, sizeof(*l));
	if (!l)
		return my_nomem(err);
	memset(l, 0, sizeof(*l));
	l->key = key;
	e->used = true;
	e->value = u->count;
	u->rows[u->count++] = l;
	*out = l;
	return BK_OK;
}

static bk_status take_row(struct my_doc_unit *u, struct bk_error *err)
{
	struct bk_session *s = u->s;
	struct my_map_entry *e = my_map_at(&u->index, my_bytes(s, 0));
	struct my_loaded *l;

	if (!e->used)
		return BK_OK;
	l = u->rows[e->value];
	l->stored = true;
	if (!my_copy(&s->work, &l->raw, my_bytes(s, 1)))
		return my_nomem(err);
	if (*(const char *)l->key.data == 'n')
		return my_row_decode(&l->row, l->raw, err);
	return BK_OK;
}

bk_status my_unit_load(struct my_doc_unit *u, size_t from, struct bk_error *err)
{
	struct bk_slice keys[MY_IN_MAX];
	bk_status st = BK_OK;
	MYSQL_STMT *stmt;
	size_t n;

	while (from < u->count && !st) {
		for (n = 0; n < MY_IN_MAX && from < u->count; n++)
			keys[n] = u->rows[from++]->key;
		st = my_exec_in(&stmt, u->s,
				"SELECT id,document FROM @document WHERE id IN (*) FOR UPDATE",
				keys, NULL, n, "reading rows", err);
		if (!st)
			st = my_rows(u->s, stmt, "bb", "reading rows", err);
		while (!st && !(st = my_row(u->s, stmt, "bb", "reading rows", err))) {
			st = take_row(u, err);
			if (st)
				my_rows_end(stmt);
		}
		if (st == BK_END)
			st = BK_OK;
	}
	return st;
}

/* ---- Writing -------------------------------------------------------------------- */

static bk_status too_large(const struct my_loaded *l, size_t len, uint64_t max,
			   struct bk_error *err)
{
	return bk_fail(err, BK_TOO_LARGE, 0,
		       "mysql: the row of node '%.*s' would be %zu bytes, links, children and "
		       "referrers included; the server's max_allowed_packet leaves room for %llu",
		       (int)(l->key.len > 60 ? 60 : l->key.len - 1), (const char *)l->key.data + 1,
		       len, (unsigned long long)max);
}

/* The bytes of a row, in the arena until the bulk has been sent. */
static bk_status encode(struct bk_slice *out, struct my_doc_unit *u, const struct my_loaded *l,
			struct bk_error *err)
{
	uint64_t max = my_doc_max(u->s->store);

	if (*(const char *)l->key.data == 'p') {
		*out = l->raw;
		return BK_OK;
	}
	if (!my_row_encode(&u->s->doc, &l->row))
		return my_nomem(err);
	if (u->s->doc.len > max)
		return too_large(l, u->s->doc.len, max, err);
	return my_copy(&u->s->work, out, bk_slice_of(u->s->doc.data, u->s->doc.len))
		       ? BK_OK
		       : my_nomem(err);
}

static bk_status write_rows(struct my_doc_unit *u, bool stored, struct bk_error *err)
{
	unsigned key = stored ? 1 : 0, value = stored ? 0 : 1;
	struct my_bulk bulk;
	struct bk_slice bytes;
	size_t i;
	bk_status st = my_bulk_init(&bulk, u->s, stored ? MY_SQL_DOC_UPDATE : MY_SQL_DOC_INSERT,
				    "bb", u->count, "writing rows", err);

	for (i = 0; i < u->count && !st; i++) {
		const struct my_loaded *l = u->rows[i];

		if (!l->dirty || l->gone || l->stored != stored)
			continue;
		st = encode(&bytes, u, l, err);
		if (!st)
			st = my_bulk_room(&bulk, l->key.len + bytes.len, err);
		if (st)
			return st;
		my_bulk_bytes(&bulk, key, l->key);
		my_bulk_bytes(&bulk, value, bytes);
		st = my_bulk_next(&bulk, err);
	}
	return st ? st : my_bulk_send(&bulk, err);
}

static bk_status delete_rows(struct my_doc_unit *u, struct bk_error *err)
{
	struct my_bulk bulk;
	size_t i;
	bk_status st =
		my_bulk_init(&bulk, u->s, MY_SQL_DOC_DELETE, "b", u->count, "writing rows", err);

	for (i = 0; i < u->count && !st; i++) {
		if (!u->rows[i]->gone || !u->rows[i]->stored)
			continue;
		my_bulk_bytes(&bulk, 0, u->rows[i]->key);
		st = my_bulk_next(&bulk, err);
	}
	return st ? st : my_bulk_send(&bulk, err);
}

bk_status my_unit_write(struct my_doc_unit *u, struct bk_error *err)
{
	bk_status st = delete_rows(u, err);

	if (!st)
		st = write_rows(u, false, err);
	return st ? st : write_rows(u, true, err);
}
