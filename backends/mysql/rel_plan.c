/*
 * rel_plan.c - relational layout: what a batch of puts has to do, found out before it is done.
 *
 * The one invariant: nothing is written here; rows that will be changed are locked.
 */
#include "rel_put.h"

#include <stdlib.h>

/* Rows that exist: number, version, segments, path, parent's id. */
#define STORED_TEXT                                                                                \
	"SELECT n.id,n.n,n.version,n.segs,n.path,"                                                 \
	"(SELECT p.id FROM @node p WHERE p.n=n.parent) FROM @node n WHERE n.id IN (*) FOR UPDATE"
#define STORED_COLUMNS "bnnnbb"

struct plan {
	struct my_batch *b;
	struct my_map index; /* id -> item */
	size_t bad;          /* the first node that cannot be */
	bk_status why;
	struct bk_error *err;
};

/* Notes the failure of item i if it is the first so far; *err keeps the first one's text. */
static void refuse(struct plan *p, size_t i, bk_status why, const char *text)
{
	if (i >= p->bad)
		return;
	p->bad = i;
	p->why = bk_fail(p->err, why, 0, "mysql: put: %s", text);
}

static void stored_row(struct plan *p)
{
	struct bk_session *s = p->b->s;
	struct my_map_entry *e = my_map_at(&p->index, my_bytes(s, 0));
	struct my_item *item;

	if (!e->used)
		return;
	item = &p->b->items[e->value];
	item->create = false;
	item->n = s->col[1].num;
	item->old_segs = s->col[3].num;
	if (!bk_slice_eq(item->node->path, my_bytes(s, 4)) ||
	    !bk_slice_eq(item->node->parent, my_bytes(s, 5)))
		refuse(p, (size_t)e->value, BK_INVALID,
		       "path and parent of a node never change, and these differ");
	else if (item->node->version && item->node->version != s->col[2].num)
		refuse(p, (size_t)e->value, BK_CONFLICT,
		       "the node has changed: another version is stored");
}

static bk_status find_stored(struct plan *p)
{
	struct my_batch *b = p->b;
	struct bk_session *s = b->s;
	struct bk_slice *ids = my_alloc(&s->work, b->count * sizeof(*ids));
	bk_status st = BK_OK;
	MYSQL_STMT *stmt;
	size_t i, take;

	if (!ids)
		return my_nomem(p->err);
	for (i = 0; i < b->count; i++)
		ids[i] = b->nodes[i].id;
	for (i = 0; i < b->count && !st; i += take) {
		take = b->count - i < MY_IN_MAX ? b->count - i : MY_IN_MAX;
		st = my_exec_in(&stmt, s, STORED_TEXT, ids + i, NULL, take, "put", p->err);
		if (!st)
			st = my_rows(s, stmt, STORED_COLUMNS, "put", p->err);
		while (!st && !(st = my_row(s, stmt, STORED_COLUMNS, "put", p->err)))
			stored_row(p);
		if (st == BK_END)
			st = BK_OK;
	}
	if (st || b->mode != BK_PUT_REPLACE)
		return st;
	for (i = 0; i < b->count; i++) {
		if (b->items[i].create)
			refuse(p, i, BK_NOT_FOUND, "no such node to replace");
	}
	return BK_OK;
}

/* The parent of item i stands earlier in the batch, or is to be looked up. */
static bk_status find_parents(struct plan *p)
{
	struct my_batch *b = p->b;
	struct bk_session *s = b->s;
	struct bk_slice *ids = my_alloc(&s->work, b->count * sizeof(*ids));
	uint64_t *numbers = my_alloc(&s->work, b->count * sizeof(*numbers));
	size_t *which = my_alloc(&s->work, b->count * sizeof(*which)), n = 0, i;
	struct my_map wanted;
	bk_status st;

	if (!ids || !numbers || !which || !my_map_init(&wanted, &s->work, b->count))
		return my_nomem(p->err);
	for (i = 0; i < b->count; i++) {
		struct my_item *item = &b->items[i];
		struct my_map_entry *e;

		which[i] = SIZE_MAX;
		if (!item->create || item->node->parent.len == 0)
			continue;
		e = my_map_at(&p->index, item->node->parent);
		if (e->used && e->value < i && b->items[e->value].create) {
			item->parent = b->items[e->value].n;
			continue;
		}
		e = my_map_at(&wanted, item->node->parent);
		if (!e->used) {
			e->used = true;
			e->value = n;
			ids[n++] = item->node->parent;
		}
		which[i] = (size_t)e->value;
	}
	if (n == 0)
		return BK_OK;
	st = my_parents_find(s, ids, numbers, n, p->err);
	for (i = 0; i < b->count && !st; i++) {
		if (which[i] == SIZE_MAX)
			continue;
		b->items[i].parent = numbers[which[i]];
		if (!b->items[i].parent)
			refuse(p, i, BK_NOT_FOUND, "the parent does not exist");
	}
	return st;
}

bk_status my_batch_plan(struct my_batch *b, struct bk_error *err)
{
	struct plan p = {.b = b, .bad = b->count, .err = err};
	bk_status st = BK_OK;
	size_t i;

	b->items = my_alloc(&b->s->work, b->count * sizeof(*b->items));
	if (!b->items || !my_map_init(&p.index, &b->s->work, b->count))
		return my_nomem(err);
	memset(b->items, 0, b->count * sizeof(*b->items));
	for (i = 0; i < b->count; i++) {
		struct my_map_entry *e = my_map_at(&p.index, b->nodes[i].id);

		b->items[i].node = &b->nodes[i];
		b->items[i].create = true;
		e->used = true;
		e->value = i;
	}
	if (b->mode != BK_PUT_CREATE)
		st = find_stored(&p);
	for (i = 0; i < b->count && !st; i++) {
		if (b->items[i].create)
			st = my_number(&b->items[i].n, b->s, err);
	}
	if (!st && b->mode != BK_PUT_REPLACE)
		st = find_parents(&p);
	if (st)
		return st;
	b->count = p.bad;
	return p.why;
}
