/*
 * rel_write.c - relational layout: writing a planned batch, each kind of row in one go.
 *
 * The one invariant: nodes before their segments and links, which refer to them.
 */
#include "rel_put.h"

static struct bk_slice piece(struct bk_slice doc, size_t k, size_t size)
{
	size_t from = k * size;
	size_t len = from < doc.len ? doc.len - from : 0;

	return bk_slice_of((const char *)doc.data + (len ? from : 0), len < size ? len : size);
}

/* Segments beside the head, which stands in the node's row. */
static uint64_t segments(struct bk_slice doc, size_t size)
{
	return doc.len <= size ? 0 : (doc.len - 1) / size;
}

static bk_status insert_nodes(struct my_batch *b, struct bk_error *err)
{
	size_t size = b->s->piece, i;
	struct my_bulk bulk;
	bk_status st =
		my_bulk_init(&bulk, b->s, MY_SQL_INSERT_NODE, "nonbbb", b->count, "put", err);

	for (i = 0; i < b->count && !st; i++) {
		const struct my_item *item = &b->items[i];

		if (!item->create)
			continue;
		my_bulk_num(&bulk, 0, item->n);
		my_bulk_num(&bulk, 1, item->parent);
		my_bulk_num(&bulk, 2, segments(item->node->doc, size));
		my_bulk_bytes(&bulk, 3, item->node->id);
		my_bulk_bytes(&bulk, 4, item->node->path);
		my_bulk_bytes(&bulk, 5, piece(item->node->doc, 0, size));
		st = my_bulk_next(&bulk, err);
	}
	return st ? st : my_bulk_send(&bulk, err);
}

static bk_status update_nodes(struct my_batch *b, struct bk_error *err)
{
	size_t size = b->s->piece, i;
	struct my_bulk bulk;
	bk_status st = my_bulk_init(&bulk, b->s, MY_SQL_UPDATE_NODE, "bnn", b->count, "put", err);

	for (i = 0; i < b->count && !st; i++) {
		const struct my_item *item = &b->items[i];

		if (item->create)
			continue;
		my_bulk_bytes(&bulk, 0, piece(item->node->doc, 0, size));
		my_bulk_num(&bulk, 1, segments(item->node->doc, size));
		my_bulk_num(&bulk, 2, item->n);
		st = my_bulk_next(&bulk, err);
	}
	return st ? st : my_bulk_send(&bulk, err);
}

static bk_status delete_segments(struct my_batch *b, struct bk_error *err)
{
	struct my_bulk bulk;
	size_t i;
	bk_status st = my_bulk_init(&bulk, b->s, MY_SQL_DELETE_SEGS, "n", b->count, "put", err);

	for (i = 0; i < b->count && !st; i++) {
		if (b->items[i].old_segs == 0)
			continue;
		my_bulk_num(&bulk, 0, b->items[i].n);
		st = my_bulk_next(&bulk, err);
	}
	return st ? st : my_bulk_send(&bulk, err);
}

static bk_status insert_segments(struct my_batch *b, size_t rows, struct bk_error *err)
{
	size_t size = b->s->piece, i;
	struct my_bulk bulk;
	uint64_t k;
	bk_status st = my_bulk_init(&bulk, b->s, MY_SQL_INSERT_SEG, "nnb", rows, "put", err);

	for (i = 0; i < b->count && !st; i++) {
		struct bk_slice doc = b->items[i].node->doc;

		for (k = 0; k < segments(doc, size) && !st; k++) {
			my_bulk_num(&bulk, 0, b->items[i].n);
			my_bulk_num(&bulk, 1, k);
			my_bulk_bytes(&bulk, 2, piece(doc, (size_t)k + 1, size));
			st = my_bulk_next(&bulk, err);
		}
	}
	return st ? st : my_bulk_send(&bulk, err);
}

bk_status my_batch_write(struct my_batch *b, struct bk_error *err)
{
	bool creates = false, updates = false, had = false, links = false;
	size_t rows = 0;
	bk_status st = my_links_sort(b, err);
	size_t i;

	for (i = 0; i < b->count; i++) {
		const struct my_item *item = &b->items[i];

		creates = creates || item->create;
		updates = updates || !item->create;
		had = had || item->old_segs;
		rows += (size_t)segments(item->node->doc, b->s->piece);
		links = links || item->link_count;
	}
	if (!st && creates)
		st = insert_nodes(b, err);
	if (!st && updates)
		st = update_nodes(b, err);
	if (!st && had)
		st = delete_segments(b, err);
	if (!st && rows)
		st = insert_segments(b, rows, err);
	if (!st && (links || updates))
		st = my_links_write(b, err);
	return st;
}

/* ---- Who is in the way? --------------------------------------------------------- */

struct rival {
	struct my_batch *b;
	struct my_map ids, paths;
	size_t first;
};

static void rival_row(struct rival *r)
{
	struct bk_session *s = r->b->s;
	struct my_map_entry *at[2] = {my_map_at(&r->ids, my_bytes(s, 1)),
				      my_map_at(&r->paths, my_bytes(s, 2))};
	int k;

	for (k = 0; k < 2; k++) {
		size_t i = (size_t)at[k]->value;

		/* A row that this batch has put there itself is no rival. */
		if (at[k]->used && r->b->items[i].n != s->col[0].num && i < r->first)
			r->first = i;
	}
}

bk_status my_batch_taken(size_t *out, struct my_batch *b, struct bk_error *err)
{
	static const char *const texts[] = {
		"SELECT n,id,path FROM @node WHERE id IN (*) LOCK IN SHARE MODE",
		"SELECT n,id,path FROM @node WHERE path IN (*) LOCK IN SHARE MODE"};
	struct bk_slice *keys = my_alloc(&b->s->work, b->count * sizeof(*keys));
	struct rival r = {.b = b, .first = b->count};
	bk_status st = BK_OK;
	size_t i, take;
	int k;

	if (!keys || !my_map_init(&r.ids, &b->s->work, b->count) ||
	    !my_map_init(&r.paths, &b->s->work, b->count))
		return my_nomem(err);
	for (i = 0; i < b->count; i++) {
		struct my_map_entry *e = my_map_at(&r.ids, b->nodes[i].id);

		e->used = true;
		e->value = i;
		e = my_map_at(&r.paths, b->nodes[i].path);
		e->used = true;
		e->value = i;
	}
	for (k = 0; k < 2 && !st; k++) {
		for (i = 0; i < b->count; i++)
			keys[i] = k ? b->nodes[i].path : b->nodes[i].id;
		for (i = 0; i < b->count && !st; i += take) {
			MYSQL_STMT *stmt;

			take = b->count - i < MY_IN_MAX ? b->count - i : MY_IN_MAX;
			st = my_exec_in(&stmt, b->s, texts[k], keys + i, NULL, take, "put", err);
			if (!st)
				st = my_rows(b->s, stmt, "nbb", "put", err);
			while (!st && !(st = my_row(b->s, stmt, "nbb", "put", err)))
				rival_row(&r);
			if (st == BK_END)
				st = BK_OK;
		}
	}
	*out = r.first;
	return st;
}
