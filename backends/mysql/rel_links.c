/*
 * rel_links.c - relational layout: links of a batch, as sets.
 *
 * The one invariant: a replaced node's link that stays is not touched, so that rewriting a node
 * costs what has changed.
 */
#include "rel_put.h"

#include <stdlib.h>

int my_link_cmp(const struct bk_link *a, const struct bk_link *b)
{
	int c = bk_slice_cmp(a->rel, b->rel);

	return c ? c : bk_slice_cmp(a->target, b->target);
}

static int by_link(const void *a, const void *b)
{
	return my_link_cmp(*(const struct bk_link *const *)a, *(const struct bk_link *const *)b);
}

size_t my_links_unique(const struct bk_link **out, const struct bk_link *links, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		out[i] = &links[i];
	if (n > 1)
		qsort(out, n, sizeof(*out), by_link);
	for (i = 0; i < n; i++) {
		if (kept == 0 || my_link_cmp(out[kept - 1], out[i]) != 0)
			out[kept++] = out[i];
	}
	return kept;
}

bk_status my_links_sort(struct my_batch *b, struct bk_error *err)
{
	size_t i;

	for (i = 0; i < b->count; i++) {
		struct my_item *item = &b->items[i];
		size_t n = item->node->link_count;

		if (n == 0)
			continue;
		item->links = my_alloc(&b->s->work, n * sizeof(*item->links));
		if (!item->links)
			return my_nomem(err);
		item->link_count = my_links_unique(item->links, item->node->links, n);
	}
	return BK_OK;
}

/* ---- What replaced nodes have now ----------------------------------------------- */

struct old_link {
	size_t item;
	struct bk_link link;
};
struct old_links {
	struct my_batch *b;
	struct my_map index; /* number -> item */
	struct old_link *at;
	size_t n, cap;
};

static int by_item(const void *a, const void *b)
{
	const struct old_link *x = a, *y = b;

	if (x->item != y->item)
		return x->item < y->item ? -1 : 1;
	return my_link_cmp(&x->link, &y->link);
}

static bk_status old_row(struct old_links *o, struct bk_error *err)
{
	struct bk_session *s = o->b->s;
	struct my_map_entry *e = my_map_at(&o->index, bk_slice_of(&s->col[0].num, 8));

	if (!e->used)
		return BK_OK;
	if (o->n == o->cap) {
		size_t cap = o->cap ? o->cap * 2 : 64;
		struct old_link *grown = my_alloc(&s->work, cap * sizeof(*grown));

		if (!grown)
			return my_nomem(err);
		if (o->n)
			memcpy(grown, o->at, o->n * sizeof(*grown));
		o->at = grown;
		o->cap = cap;
	}
	o->at[o->n].item = (size_t)e->value;
	if (!my_copy(&s->work, &o->at[o->n].link.rel, my_bytes(s, 1)) ||
	    !my_copy(&s->work, &o->at[o->n].link.target, my_bytes(s, 2)))
		return my_nomem(err);
	o->n++;
	return BK_OK;
}

static bk_status read_old(struct old_links *o, struct bk_error *err)
{
	struct my_batch *b = o->b;
	uint64_t *numbers = my_alloc(&b->s->work, b->count * sizeof(*numbers));
	size_t n = 0, i, take;
	bk_status st = BK_OK;

	if (!numbers || !my_map_init(&o->index, &b->s->work, b->count))
		return my_nomem(err);
	for (i = 0; i < b->count; i++) {
		struct my_map_entry *e;

		if (b->items[i].create)
			continue;
		numbers[n] = b->items[i].n;
		e = my_map_at(&o->index, bk_slice_of(&numbers[n++], 8));
		e->used = true;
		e->value = i;
	}
	for (i = 0; i < n && !st; i += take) {
		MYSQL_STMT *stmt;

		take = n - i < MY_IN_MAX ? n - i : MY_IN_MAX;
		st = my_exec_in(&stmt, b->s,
				"SELECT src,rel,target FROM @link WHERE src IN (*) "
				"LOCK IN SHARE MODE",
				NULL, numbers + i, take, "put", err);
		if (!st)
			st = my_rows(b->s, stmt, "nbb", "put", err);
		while (!st && !(st = my_row(b->s, stmt, "nbb", "put", err))) {
			st = old_row(o, err);
			if (st)
				my_rows_end(stmt);
		}
		if (st == BK_END)
			st = BK_OK;
	}
	if (!st && o->n > 1)
		qsort(o->at, o->n, sizeof(*o->at), by_item);
	return st;
}

/* ---- Writing -------------------------------------------------------------------- */

static bk_status emit(struct my_bulk *bulk, const struct my_item *item, const struct bk_link *link,
		      struct bk_error *err)
{
	my_bulk_num(bulk, 0, item->n);
	my_bulk_bytes(bulk, 1, link->rel);
	my_bulk_bytes(bulk, 2, link->target);
	return my_bulk_next(bulk, err);
}

/* Walks a node's old and new links side by side; what is on one side only is deleted or added. */
static bk_status differ(struct my_bulk *gone, struct my_bulk *fresh, const struct my_item *item,
			const struct old_link *old, size_t old_n, struct bk_error *err)
{
	size_t i = 0, k = 0;
	bk_status st = BK_OK;

	while (!st && (i < old_n || k < item->link_count)) {
		int c = i == old_n              ? 1
			: k == item->link_count ? -1
						: my_link_cmp(&old[i].link, item->links[k]);

		if (c == 0) {
			i++;
			k++;
		} else if (c < 0) {
			st = emit(gone, item, &old[i++].link, err);
		} else {
			st = emit(fresh, item, item->links[k++], err);
		}
	}
	return st;
}

bk_status my_links_write(struct my_batch *b, struct bk_error *err)
{
	struct old_links old = {.b = b};
	struct my_bulk gone, fresh;
	size_t i, at = 0, end, total = 0;
	bool replaced = false;
	bk_status st = BK_OK;

	for (i = 0; i < b->count; i++) {
		replaced = replaced || !b->items[i].create;
		total += b->items[i].link_count;
	}
	if (replaced)
		st = read_old(&old, err);
	if (!st)
		st = my_bulk_init(&gone, b->s, MY_SQL_DELETE_LINK, "nbb", old.n, "put", err);
	if (!st)
		st = my_bulk_init(&fresh, b->s, MY_SQL_INSERT_LINK, "nbb", total, "put", err);
	for (i = 0; i < b->count && !st; i++) {
		for (end = at; end < old.n && old.at[end].item == i; end++)
			;
		st = differ(&gone, &fresh, &b->items[i], old.at + at, end - at, err);
		at = end;
	}
	if (!st)
		st = my_bulk_send(&gone, err);
	return st ? st : my_bulk_send(&fresh, err);
}
