/*
 * rel_append.c - relational layout: append without writing the document again.
 *
 * A short document grows in its row (an UPDATE of one row, cheaper than two more); beyond
 * GROW_BYTES each tail is a row of `segment`.  Every FOLD of those are joined into one, so that a
 * document of n appends is read as about n / FOLD rows, each byte having been written twice more
 * at most.
 *
 * The one invariant: whoever changes a node's segments or links holds the lock of its row.
 */
#include "rel.h"

#define GROW_BYTES 1024u
#define FOLD       64u

struct tail {
	struct bk_slice id, data;
	const struct bk_link *links;
	size_t link_count;
	uint64_t n, segs;
};

static bk_status not_found(struct bk_error *err)
{
	return bk_fail(err, BK_NOT_FOUND, 0, "mysql: append: no such node");
}

/* One statement, if the document is short: BK_END when it is not, or there is no such node. */
static bk_status grow(struct bk_session *s, const struct tail *t, struct bk_error *err)
{
	uint64_t max = GROW_BYTES, affected = 0;
	MYSQL_BIND b[3];
	bk_status st;

	if (t->data.len > GROW_BYTES)
		return BK_END;
	my_bind_bytes(&b[0], t->data);
	my_bind_bytes(&b[1], t->id);
	my_bind_num(&b[2], &max);
	st = my_do(s, MY_SQL_APPEND_SHORT, b, &affected, "append", err);
	return st ? st : affected ? BK_OK : BK_END;
}

static bk_status lock(struct bk_session *s, struct tail *t, struct bk_error *err)
{
	MYSQL_BIND b;
	bk_status st;

	my_bind_bytes(&b, t->id);
	st = my_one(s, MY_SQL_APPEND_LOCK, &b, "nn", "append", err);
	if (st == BK_END)
		return not_found(err);
	t->n = s->col[0].num;
	t->segs = s->col[1].num;
	return st;
}

static bk_status insert_segment(struct bk_session *s, uint64_t n, uint64_t seq,
				struct bk_slice data, struct bk_error *err)
{
	MYSQL_BIND b[3];

	my_bind_num(&b[0], &n);
	my_bind_num(&b[1], &seq);
	my_bind_bytes(&b[2], data);
	return my_do(s, MY_SQL_INSERT_SEG, b, NULL, "append", err);
}

/* The last FOLD segments become one, unless they are long already.  Their numbers are not given
 * again: `segs` is the next number, and every multiple of FOLD is reached once. */
static bk_status fold(struct bk_session *s, struct tail *t, struct bk_error *err)
{
	uint64_t from = t->segs - FOLD;
	MYSQL_STMT *stmt;
	MYSQL_BIND b[2];
	bk_status st;

	my_bind_num(&b[0], &t->n);
	my_bind_num(&b[1], &from);
	s->doc.len = 0;
	st = my_stmt(&stmt, s, MY_SQL_SEGS_FROM, err);
	if (!st)
		st = my_exec(s, stmt, b, "append", err);
	if (!st)
		st = my_rows(s, stmt, "b", "append", err);
	while (!st && !(st = my_row(s, stmt, "b", "append", err))) {
		if (!my_buf_add(&s->doc, my_bytes(s, 0).data, my_bytes(s, 0).len))
			st = my_nomem(err);
		if (st || s->doc.len > s->piece) {
			my_rows_end(stmt);
			return st;
		}
	}
	if (st != BK_END)
		return st;
	st = my_do(s, MY_SQL_SEGS_DELETE_FROM, b, NULL, "append", err);
	return st ? st : insert_segment(s, t->n, from, bk_slice_of(s->doc.data, s->doc.len), err);
}

/* A long tail comes in pieces. */
static bk_status add_segments(struct bk_session *s, struct tail *t, struct bk_error *err)
{
	const char *p = t->data.data;
	size_t left = t->data.len, take;
	bk_status st = BK_OK;

	for (; left > 0 && !st; left -= take, p += take) {
		take = left < s->piece ? left : s->piece;
		st = insert_segment(s, t->n, t->segs++, bk_slice_of(p, take), err);
	}
	if (!st && t->data.len <= GROW_BYTES && t->data.len > 0 && t->segs % FOLD == 0)
		st = fold(s, t, err);
	return st;
}

static bk_status add_links(struct bk_session *s, const struct tail *t, struct bk_error *err)
{
	const struct bk_link **links;
	struct my_bulk bulk;
	size_t n, i;
	bk_status st;

	if (t->link_count == 0)
		return BK_OK;
	links = my_alloc(&s->work, t->link_count * sizeof(*links));
	if (!links)
		return my_nomem(err);
	n = my_links_unique(links, t->links, t->link_count);
	st = my_bulk_init(&bulk, s, MY_SQL_ADD_LINK, "nbb", n, "append", err);
	for (i = 0; i < n && !st; i++) {
		my_bulk_num(&bulk, 0, t->n);
		my_bulk_bytes(&bulk, 1, links[i]->rel);
		my_bulk_bytes(&bulk, 2, links[i]->target);
		st = my_bulk_next(&bulk, err);
	}
	return st ? st : my_bulk_send(&bulk, err);
}

static bk_status append_long(struct bk_session *s, struct tail *t, struct bk_error *err)
{
	MYSQL_BIND b[2];
	bk_status st = lock(s, t, err);

	if (!st)
		st = add_segments(s, t, err);
	if (!st)
		st = add_links(s, t, err);
	if (!st) {
		my_bind_num(&b[0], &t->segs);
		my_bind_num(&b[1], &t->n);
		st = my_do(s, MY_SQL_APPENDED, b, NULL, "append", err);
	}
	return st;
}

bk_status my_rel_append(struct bk_session *s, struct bk_slice id, struct bk_slice data,
			const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	struct tail t = {.id = id, .data = data, .links = links, .link_count = link_count};
	bool hopeless = my_hash(id) == s->long_doc;
	bk_status st = BK_END;

	if (link_count == 0 && !hopeless)
		st = grow(s, &t, err);
	if (st != BK_END)
		return st;
	/* The next append to the same document need not try the short way. */
	s->long_doc = link_count == 0 ? my_hash(id) : s->long_doc;
	st = my_unit_begin(s, false, err);
	if (!st)
		st = my_unit_end(s, append_long(s, &t, err), err);
	return st;
}
