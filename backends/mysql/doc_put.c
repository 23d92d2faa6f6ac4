/*
 * doc_put.c - document layout: put and remove.
 *
 * The one invariant: a link and its mirror in the target's row, a child and its place in the
 * parent's row, are changed in one transaction.
 */
#include "doc.h"
#include "rel.h"

#define TRIES 5

/* ---- One put ----------------------------------------------------------------------------------
 */

static bk_status refuse(struct bk_error *err, bk_status st, const char *text)
{
	return bk_fail(err, st, 0, "mysql: put: %s", text);
}

static bk_status mirror(struct my_doc_unit *u, struct bk_slice source, struct bk_slice rel,
			struct bk_slice target, bool add, struct bk_error *err)
{
	struct bk_slice parts[2] = {rel, source};
	struct my_loaded *at;
	bk_status st = my_unit_want(&at, u, 'n', target, err);

	if (st)
		return st;
	at->dirty = true;
	at->gone = false;
	if (!(add ? my_entries_add(&at->row.referrers, &u->s->work, parts, 2)
		  : my_entries_remove(&at->row.referrers, &u->s->work, parts, 2)))
		return my_nomem(err);
	if (!at->row.there && at->row.referrers.count == 0)
		at->gone = true; /* nobody refers to it any more */
	return BK_OK;
}

/* Old and new links side by side, both sorted; mirrors of what is on one side only change. */
static bk_status change_links(struct my_doc_unit *u, struct my_row *row, const struct bk_node *node,
			      struct bk_error *err)
{
	size_t old_n = row->links.count, new_n = 0, i = 0, k = 0;
	struct bk_link *old = my_alloc(&u->s->work, (old_n + 1) * sizeof(*old));
	const struct bk_link **was = my_alloc(&u->s->work, (old_n + 1) * sizeof(*was));
	const struct bk_link **now = my_alloc(&u->s->work, (node->link_count + 1) * sizeof(*now));
	const char *p = my_entries_begin(&row->links), *end = p + row->links.len;
	bk_status st = BK_OK;

	if (!old || !was || !now)
		return my_nomem(err);
	while (i < old_n && my_entry(&old[i].rel, &p, end) && my_entry(&old[i].target, &p, end))
		i++;
	old_n = my_links_unique(was, old, i);
	new_n = my_links_unique(now, node->links, node->link_count);
	memset(&row->links, 0, sizeof(row->links));
	for (i = 0; i < new_n; i++) {
		struct bk_slice parts[2] = {now[i]->rel, now[i]->target};

		if (!my_entries_add(&row->links, &u->s->work, parts, 2))
			return my_nomem(err);
	}
	for (i = 0; !st && (i < old_n || k < new_n);) {
		int c = i == old_n ? 1 : k == new_n ? -1 : my_link_cmp(was[i], now[k]);

		if (c < 0)
			st = mirror(u, node->id, was[i]->rel, was[i]->target, false, err);
		else if (c > 0)
			st = mirror(u, node->id, now[k]->rel, now[k]->target, true, err);
		i += c <= 0;
		k += c >= 0;
	}
	return st;
}

static bk_status create(struct my_doc_unit *u, struct my_loaded *at, const struct bk_node *node,
			struct bk_error *err)
{
	struct my_loaded *path, *parent = NULL;
	bk_status st = my_unit_want(&path, u, 'p', node->path, err);

	if (!st && node->parent.len)
		st = my_unit_want(&parent, u, 'n', node->parent, err);
	if (st)
		return st;
	if (path->raw.len && !path->gone && bk_slice_eq(path->raw, node->id))
		return BK_END; /* made since its own row was read: look again */
	if (path->raw.len && !path->gone)
		return refuse(err, BK_EXISTS, "the path is taken");
	if (parent && !parent->row.there)
		return refuse(err, BK_NOT_FOUND, "the parent does not exist");
	at->row.there = true;
	at->row.version = 1;
	at->row.parent = node->parent;
	at->row.path = node->path;
	at->row.doc = node->doc;
	at->dirty = path->dirty = true;
	at->gone = path->gone = false;
	path->raw = node->id;
	if (parent) {
		parent->dirty = true;
		if (!my_entries_add(&parent->row.children, &u->s->work, &node->id, 1))
			return my_nomem(err);
	}
	return change_links(u, &at->row, node, err);
}

static bk_status replace(struct my_doc_unit *u, struct my_loaded *at, const struct bk_node *node,
			 struct bk_error *err)
{
	if (!bk_slice_eq(at->row.path, node->path) || !bk_slice_eq(at->row.parent, node->parent))
		return refuse(err, BK_INVALID,
			      "path and parent of a node never change, and these differ");
	if (node->version && node->version != at->row.version)
		return refuse(err, BK_CONFLICT, "the node has changed: another version is stored");
	at->row.version++;
	at->row.doc = node->doc;
	at->dirty = true;
	return change_links(u, &at->row, node, err);
}

static bk_status put_one(struct my_doc_unit *u, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	struct my_loaded *at;
	bk_status st = my_unit_want(&at, u, 'n', node->id, err);

	if (st)
		return st;
	if (at->row.there)
		return mode == BK_PUT_CREATE ? refuse(err, BK_EXISTS, "the id is taken")
					     : replace(u, at, node, err);
	return mode == BK_PUT_REPLACE ? refuse(err, BK_NOT_FOUND, "no such node to replace")
				      : create(u, at, node, err);
}

/* ---- Batches ------------------------------------------------------------------------------------
 */

/* The rows that are known to be needed. */
static bk_status load_for(struct my_doc_unit *u, const struct bk_node *nodes, size_t n,
			  struct bk_error *err)
{
	struct my_loaded *l;
	size_t i, k;
	bk_status st = BK_OK;

	for (i = 0; i < n && !st; i++) {
		st = my_unit_want(&l, u, 'n', nodes[i].id, err);
		if (!st)
			st = my_unit_want(&l, u, 'p', nodes[i].path, err);
		if (!st && nodes[i].parent.len)
			st = my_unit_want(&l, u, 'n', nodes[i].parent, err);
		for (k = 0; k < nodes[i].link_count && !st; k++)
			st = my_unit_want(&l, u, 'n', nodes[i].links[k].target, err);
	}
	return st ? st : my_unit_load(u, 0, err);
}

static size_t rows_for(const struct bk_node *nodes, size_t n)
{
	size_t rows = 0, i;

	for (i = 0; i < n; i++)
		rows += 3 + nodes[i].link_count;
	return rows;
}

/* Links of rows that are there already: their targets' rows are needed as well. */
static bk_status load_old_targets(struct my_doc_unit *u, struct bk_error *err)
{
	struct my_doc_unit all;
	size_t count = u->count, more = 0, i;
	struct my_loaded *l;
	bk_status st;

	for (i = 0; i < count; i++)
		more += u->rows[i]->row.links.count;
	if (more == 0)
		return BK_OK;
	/* A bigger unit with the same rows: its map was sized for what was known before. */
	st = my_unit_init(&all, u->s, count + more, err);
	for (i = 0; i < count && !st; i++) {
		struct my_map_entry *e = my_map_at(&all.index, u->rows[i]->key);

		e->used = true;
		e->value = all.count;
		all.rows[all.count++] = u->rows[i];
	}
	for (i = 0; i < count && !st; i++) {
		const char *p = my_entries_begin(&u->rows[i]->row.links),
			   *end = p + u->rows[i]->row.links.len;
		struct bk_slice rel, target;

		while (!st && my_entry(&rel, &p, end) && my_entry(&target, &p, end))
			st = my_unit_want(&l, &all, 'n', target, err);
	}
	if (!st)
		st = my_unit_load(&all, count, err);
	if (!st)
		*u = all;
	return st;
}

static bk_status put_batch(struct bk_session *s, const struct bk_node *nodes, size_t n,
			   uint32_t mode, size_t *item, struct bk_error *err)
{
	struct bk_error late = bk_error_init();
	struct my_doc_unit u;
	size_t i;
	bk_status st = my_unit_init(&u, s, rows_for(nodes, n), err);

	if (!st)
		st = load_for(&u, nodes, n, err);
	if (!st && mode != BK_PUT_CREATE)
		st = load_old_targets(&u, err);
	for (i = 0; i < n && !st; i++) {
		*item = i;
		st = put_one(&u, &nodes[i], mode, err);
	}
	if (st)
		return st;
	*item = 0;
	st = my_unit_write(&u, &late);
	if (st == BK_EXISTS)
		return BK_END; /* somebody was quicker: look again */
	if (st)
		*err = late;
	return st;
}

static bk_status put_all(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode,
			 size_t *item, struct bk_error *err)
{
	size_t from, take;
	bk_status st = BK_OK;

	for (from = 0; from < n && !st; from += take) {
		take = n - from < MY_BATCH_MAX ? n - from : MY_BATCH_MAX;
		st = put_batch(s, nodes + from, take, mode, item, err);
		*item += from;
		my_arena_reset(&s->work);
	}
	return st;
}

/* Runs again when another session has put a row where this one saw none. */
static bk_status again(struct bk_session *s, bk_status st, int *tries, struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();

	if (st != BK_END)
		return my_unit_end(s, st, err);
	if (++*tries < TRIES) {
		s->retries++;
		my_unit_end(s, BK_CONFLICT, &ignored);
		return s->txn == MY_TXN_ENDED
			       ? bk_fail(err, BK_CONFLICT, 0, "mysql: the transaction was undone")
			       : BK_END;
	}
	my_unit_end(s, BK_CONFLICT, &ignored);
	st = bk_fail(err, BK_CONFLICT, 0, "mysql: others keep writing the same rows");
	err->flags = BK_ERR_RETRY;
	return st;
}

bk_status my_doc_put(struct bk_session *s, const struct bk_node *nodes, size_t n, bool more,
		     uint32_t mode, size_t *item, struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();
	int tries = 0;
	bk_status st;

	do {
		*item = 0;
		st = my_unit_begin(s, true, err);
		if (st)
			return st;
		st = put_all(s, nodes, n, mode, item, err);
		if (!st && more) {
			my_unit_end(s, BK_INVALID, &ignored);
			return BK_OK;
		}
		st = again(s, st, &tries, err);
	} while (st == BK_END);
	return st;
}

/* ---- Remove --------------------------------------------------------------------- */

static bk_status remove_row(struct my_doc_unit *u, struct my_loaded *at, struct bk_slice id,
			    struct bk_error *err)
{
	const char *p = my_entries_begin(&at->row.links), *end = p + at->row.links.len;
	struct my_loaded *path, *parent;
	struct bk_slice rel, target;
	bk_status st = my_unit_want(&path, u, 'p', at->row.path, err);

	if (st)
		return st;
	path->gone = true;
	if (at->row.parent.len) {
		st = my_unit_want(&parent, u, 'n', at->row.parent, err);
		if (st)
			return st;
		parent->dirty = true;
		if (!my_entries_remove(&parent->row.children, &u->s->work, &id, 1))
			return my_nomem(err);
	}
	at->row.there = false;
	at->dirty = true;
	at->gone = at->row.referrers.count == 0;
	while (!st && my_entry(&rel, &p, end) && my_entry(&target, &p, end))
		st = mirror(u, id, rel, target, false, err);
	at->row.version = 0;
	at->row.parent = at->row.path = at->row.doc = bk_slice_of(NULL, 0);
	memset(&at->row.links, 0, sizeof(at->row.links));
	return st;
}

static bk_status remove_now(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	struct my_loaded *at, *l;
	struct my_doc_unit u;
	bk_status st = my_unit_init(&u, s, 3, err);

	if (!st)
		st = my_unit_want(&at, &u, 'n', id, err);
	if (!st)
		st = my_unit_load(&u, 0, err);
	if (!st && !at->row.there)
		st = bk_fail(err, BK_NOT_FOUND, 0, "mysql: remove: no such node");
	if (!st && at->row.children.count)
		st = bk_fail(err, BK_IN_USE, 0, "mysql: remove: the node has children");
	if (!st)
		st = my_unit_want(&l, &u, 'p', at->row.path, err);
	if (!st && at->row.parent.len)
		st = my_unit_want(&l, &u, 'n', at->row.parent, err);
	if (!st)
		st = my_unit_load(&u, 1, err);
	if (!st)
		st = load_old_targets(&u, err);
	if (!st)
		st = remove_row(&u, at, id, err);
	if (!st)
		st = my_unit_write(&u, err);
	return st;
}

bk_status my_doc_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	bk_status st = my_unit_begin(s, false, err);

	return st ? st : my_unit_end(s, remove_now(s, id, err), err);
}
