/*
 * rel_put.c - relational layout: put and put_many.
 *
 * The one invariant: either every node of the call is stored or none is, and *item is the first
 * that could not be, in the caller's order.
 */
#include "rel_put.h"

#define TRIES 20

/* A new node without links and with a short document is one row: one statement, no transaction of
 * our own. */
static bk_status put_row(struct bk_session *s, const struct bk_node *node, uint64_t parent,
			 struct bk_error *err)
{
	uint64_t n, none = 0;
	MYSQL_BIND b[6];
	bk_status st = my_number(&n, s, err);

	if (st)
		return st;
	my_bind_num(&b[0], &n);
	if (parent)
		my_bind_num(&b[1], &parent);
	else
		my_bind_null(&b[1]);
	my_bind_num(&b[2], &none);
	my_bind_bytes(&b[3], node->id);
	my_bind_bytes(&b[4], node->path);
	my_bind_bytes(&b[5], node->doc);
	st = my_do(s, MY_SQL_INSERT_NODE, b, NULL, "put", err);
	if (!st)
		my_parent_learn(s, node->id, n);
	return st;
}

/* The parent does not exist; but a taken id or path comes first. */
static bk_status no_parent(struct bk_session *s, const struct bk_node *node, struct bk_error *err)
{
	struct my_item item = {.node = node};
	struct my_batch b = {.s = s, .nodes = node, .items = &item, .count = 1};
	size_t taken = 1;
	bk_status st = my_batch_taken(&taken, &b, err);

	if (st)
		return st;
	if (taken == 0)
		return bk_fail(err, BK_EXISTS, 0, "mysql: put: the id or the path is taken");
	return bk_fail(err, BK_NOT_FOUND, 0, "mysql: put: the parent does not exist");
}

static bk_status put_simple(struct bk_session *s, const struct bk_node *node, struct bk_error *err)
{
	struct bk_error stale = bk_error_init();
	bool remembered = false;
	uint64_t parent = 0;
	bk_status st;

	if (node->parent.len) {
		parent = my_parent_known(s, node->parent);
		remembered = parent != 0;
		st = parent ? BK_OK : my_parent_find(&parent, s, node->parent, err);
		if (st)
			return st;
		if (!parent)
			return no_parent(s, node, err);
	}
	st = put_row(s, node, parent, &stale);
	if (st && (st != BK_NOT_FOUND || !remembered))
		*err = stale;
	if (st != BK_NOT_FOUND || !remembered)
		return st;
	/* The number that we remembered is gone: has the id another one by now? */
	my_parents_forget(s);
	st = my_parent_find(&parent, s, node->parent, err);
	if (st)
		return st;
	return parent ? put_row(s, node, parent, err) : no_parent(s, node, err);
}

/* ---- Batches -------------------------------------------------------------------- */

/* Where the batch that begins at `from` ends: before an id or a path that it has already, since
 * the second one must meet the first in the store. */
static bk_status batch_end(size_t *to, struct bk_session *s, const struct bk_node *nodes,
			   size_t from, size_t n, struct bk_error *err)
{
	size_t max = n - from < MY_BATCH_MAX ? n - from : MY_BATCH_MAX, i;
	struct my_map ids, paths;

	if (!my_map_init(&ids, &s->work, max) || !my_map_init(&paths, &s->work, max))
		return my_nomem(err);
	for (i = from; i < from + max; i++) {
		struct my_map_entry *id = my_map_at(&ids, nodes[i].id);
		struct my_map_entry *path = my_map_at(&paths, nodes[i].path);

		if (id->used || path->used)
			break;
		id->used = path->used = true;
	}
	*to = i;
	return BK_OK;
}

static bk_status put_batch(struct bk_session *s, const struct bk_node *nodes, size_t n,
			   uint32_t mode, size_t *item, struct bk_error *err)
{
	struct my_batch b = {.s = s, .nodes = nodes, .count = n, .mode = mode};
	struct bk_error first = bk_error_init(), ignored = bk_error_init();
	bk_status planned, st;
	size_t taken;

	planned = my_batch_plan(&b, &first);
	if (planned && b.count == n) { /* not one node's fault */
		*err = first;
		return planned;
	}
	*item = b.count;
	st = b.count ? my_batch_write(&b, err) : BK_OK;
	if (st == BK_EXISTS && !my_batch_taken(&taken, &b, &ignored))
		*item = taken < b.count ? taken : 0;
	if (st)
		return st;
	if (planned == BK_NOT_FOUND && mode != BK_PUT_REPLACE)
		return no_parent(s, &nodes[b.count], err);
	if (planned)
		*err = first;
	return planned;
}

static bk_status put_all(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode,
			 size_t *item, struct bk_error *err)
{
	size_t from = 0, to = 0;
	bk_status st = BK_OK;

	while (!st && from < n) {
		st = batch_end(&to, s, nodes, from, n, err);
		if (!st)
			st = put_batch(s, nodes + from, to - from, mode, item, err);
		*item += from;
		if (n > MY_BATCH_MAX)
			my_arena_reset(&s->work);
		from = to;
	}
	return st;
}

/* An UPSERT found nothing to replace, and then an id that was taken: somebody was quicker, and the
 * next try replaces.  A path that another node has is what it says. */
static bool overtaken(struct bk_session *s, const struct bk_node *node)
{
	struct bk_error ignored = bk_error_init();
	uint64_t n = 0;

	return !my_parent_find(&n, s, node->id, &ignored) && n != 0;
}

static bk_status put_unit(struct bk_session *s, const struct bk_node *nodes, size_t n, bool more,
			  uint32_t mode, size_t *item, bool *again, struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();
	bk_status st;

	*item = 0;
	*again = false;
	st = my_unit_begin(s, n > 1 || more || mode == BK_PUT_UPSERT, err);
	if (st)
		return st;
	st = put_all(s, nodes, n, mode, item, err);
	if (!st && more) {
		/* The next one is over a limit: undo these, the caller has its message. */
		my_unit_end(s, BK_INVALID, &ignored);
		return BK_OK;
	}
	st = my_unit_end(s, st, err);
	*again = st == BK_EXISTS && mode == BK_PUT_UPSERT && s->txn != MY_TXN_ENDED &&
		 overtaken(s, &nodes[*item]);
	return st;
}

bk_status my_rel_put(struct bk_session *s, const struct bk_node *nodes, size_t n, bool more,
		     uint32_t mode, size_t *item, struct bk_error *err)
{
	struct bk_error failure;
	bool again;
	bk_status st;
	int tries;

	*item = 0;
	if (n == 1 && !more && mode == BK_PUT_CREATE && nodes[0].link_count == 0 &&
	    nodes[0].doc.len <= s->piece)
		return put_simple(s, &nodes[0], err);
	for (tries = 0; tries < TRIES; tries++) {
		failure = bk_error_init();
		st = put_unit(s, nodes, n, more, mode, item, &again, &failure);
		if (!again)
			break;
		s->retries++;
	}
	if (st && again) {
		st = bk_fail(err, BK_CONFLICT, 0, "mysql: put: others keep writing the same rows");
		err->flags = BK_ERR_RETRY;
	} else if (st) {
		*err = failure;
	}
	return st;
}

bk_status my_rel_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	uint64_t affected = 0;
	MYSQL_BIND bind;
	bk_status st;

	/* Links and segments go with it by their foreign keys; children forbid it by theirs. */
	my_bind_bytes(&bind, id);
	st = my_do(s, MY_SQL_REMOVE, &bind, &affected, "remove", err);
	if (st == BK_IN_USE)
		return bk_fail(err, BK_IN_USE, 1451, "mysql: remove: the node has children");
	if (!st && affected == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "mysql: remove: no such node");
	return st;
}
