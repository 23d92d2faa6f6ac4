/*
 * node.c - the node operations: checks what both layouts check, brackets the call, hands it to
 * the layout in force.
 *
 * The one invariant: what reaches a layout is within the limits that features() gave.
 */
#include "rel.h"

static bk_status too_large(struct bk_error *err, const char *what, size_t len, uint64_t max)
{
	return bk_fail(err, BK_TOO_LARGE, 0, "mysql: a %s of %zu bytes; at most %llu are allowed",
		       what, len, (unsigned long long)max);
}

bk_status my_check_id(struct bk_slice id, struct bk_error *err)
{
	if (id.len == 0)
		return bk_fail(err, BK_INVALID, 0, "mysql: an empty id");
	if (id.len > MY_ID_MAX)
		return too_large(err, "id", id.len, MY_ID_MAX);
	return BK_OK;
}

static bk_status check_links(const struct bk_link *links, size_t n, struct bk_error *err)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (links[i].target.len == 0 || links[i].rel.len == 0)
			return bk_fail(err, BK_INVALID, 0,
				       "mysql: a link with an empty relation or target");
		if (links[i].target.len > MY_ID_MAX)
			return too_large(err, "link target", links[i].target.len, MY_ID_MAX);
		if (links[i].rel.len > MY_REL_MAX)
			return too_large(err, "relation", links[i].rel.len, MY_REL_MAX);
	}
	return BK_OK;
}

bk_status my_check_text(struct bk_slice text, const char *what, uint64_t max, struct bk_error *err)
{
	if (text.len == 0)
		return bk_fail(err, BK_INVALID, 0, "mysql: an empty %s", what);
	if (text.len > max)
		return too_large(err, what, text.len, max);
	if (!my_utf8(text))
		return bk_fail(err, BK_INVALID, 0, "mysql: a %s that is not UTF-8 without NUL",
			       what);
	return BK_OK;
}

static bk_status check_path(struct bk_slice path, struct bk_error *err)
{
	return my_check_text(path, "path", MY_PATH_MAX, err);
}

static bk_status check_node(struct bk_session *s, const struct bk_node *node, struct bk_error *err)
{
	bk_status st = my_check_id(node->id, err);

	if (!st && node->parent.len)
		st = my_check_id(node->parent, err);
	if (!st)
		st = check_path(node->path, err);
	if (!st && node->doc.len > my_doc_max(s->store))
		st = too_large(err, "document", node->doc.len, my_doc_max(s->store));
	if (!st)
		st = check_links(node->links, node->link_count, err);
	return st;
}

/* ---- Writing -------------------------------------------------------------------- */

/* Stores nodes in one unit; *item on failure: the first not stored. */
bk_status my_put_now(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode,
		     size_t *item, struct bk_error *err)
{
	struct bk_error late;
	bk_status st = BK_OK, bad = BK_OK;
	size_t good = 0;

	/* The first that breaks a limit ends the batch, unless one before it fails otherwise. */
	late = bk_error_init();
	while (good < n && !(bad = check_node(s, &nodes[good], &late)))
		good++;
	*item = good;
	if (bad && good == 0) {
		*err = late;
		return bad;
	}
	st = s->store->nodes->put(s, nodes, good, bad != BK_OK, mode, item, err);
	if (!st && bad) {
		*item = good;
		*err = late;
		st = bad;
	}
	return st;
}

static bk_status node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			       uint32_t mode, struct bk_error *err)
{
	size_t item = 0;
	bk_status st;

	if (mode < BK_PUT_CREATE || mode > BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "mysql: put mode %u is unknown", (unsigned)mode);
	if (n == 0)
		return BK_OK;
	st = my_enter(s, MY_PUTS, err);
	if (st)
		return st;
	if (s->txn == MY_TXN_OPEN && s->defer) {
		st = my_deferred_put(s, nodes, n, mode, err);
	} else {
		st = my_put_now(s, nodes, n, mode, &item, err);
		if (st)
			err->item = item;
		s->writes += n;
	}
	my_leave(s);
	return st;
}

static bk_status node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			  struct bk_error *err)
{
	bool deferred = s->txn == MY_TXN_OPEN && s->defer;
	bk_status st = node_put_many(s, node, 1, mode, err);

	/* Deferred writes that were sent on the way name theirs; a single put has none. */
	if (st && !deferred)
		err->item = UINT64_MAX;
	return st;
}

static bk_status node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			     const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	bk_status st = my_check_id(id, err);

	if (!st)
		st = check_links(links, link_count, err);
	if (!st && tail.len > MY_DOC_MAX)
		st = too_large(err, "document", tail.len, MY_DOC_MAX);
	if (!st && s->store->layout == MY_DOCUMENT)
		st = bk_fail(err, BK_UNSUPPORTED, 0, "mysql: layout=document does not append");
	if (!st)
		st = my_enter(s, MY_WRITES, err);
	if (st)
		return st;
	st = my_rel_append(s, id, tail, links, link_count, err);
	s->writes++;
	my_leave(s);
	return st;
}

static bk_status node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	bk_status st = my_check_id(id, err);

	if (!st)
		st = my_enter(s, MY_WRITES, err);
	if (st)
		return st;
	st = s->store->nodes->remove(s, id, err);
	s->writes++;
	my_leave(s);
	return st;
}

/* ---- Reading -------------------------------------------------------------------- */

static bk_status node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			  uint32_t want, struct bk_error *err)
{
	bk_status st = my_check_id(id, err);

	if (!st)
		st = my_enter(s, MY_READS, err);
	if (st)
		return st;
	st = s->store->nodes->get(out, s, id, want, err);
	my_leave(s);
	return st;
}

static bk_status node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			       const struct bk_slice *ids, size_t n, uint32_t want,
			       struct bk_error *err)
{
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; i < n && !st; i++)
		st = my_check_id(ids[i], err);
	if (!st && n == 0)
		st = bk_fail(err, BK_INVALID, 0, "mysql: get_many of no ids");
	if (!st)
		st = my_enter(s, MY_READS, err);
	if (st)
		return st;
	st = s->store->nodes->get_many(out, done, s, ids, n, want, err);
	my_leave(s);
	return st;
}

static bk_status node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			   struct bk_error *err)
{
	bk_status st = check_path(path, err);

	if (!st)
		st = my_enter(s, MY_READS, err);
	if (st)
		return st;
	st = s->store->nodes->find(id_out, s, path, err);
	my_leave(s);
	return st;
}

static bk_status check_steps(const struct bk_step *steps, size_t n, struct bk_error *err)
{
	size_t i;

	if (n == 0)
		return bk_fail(err, BK_INVALID, 0, "mysql: a walk of no steps");
	for (i = 0; i < n; i++) {
		if (steps[i].dir < BK_CHILDREN || steps[i].dir > BK_IN)
			return bk_fail(err, BK_INVALID, 0, "mysql: direction %u is unknown",
				       (unsigned)steps[i].dir);
		if (steps[i].rel.len > MY_REL_MAX)
			return too_large(err, "relation", steps[i].rel.len, MY_REL_MAX);
	}
	return BK_OK;
}

static bk_status walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			   const struct bk_step *steps, size_t n_steps, uint32_t want,
			   struct bk_error *err)
{
	bk_status st = my_check_id(start, err);

	if (!st)
		st = check_steps(steps, n_steps, err);
	if (st)
		return st;
	if (s->cursor.open)
		return bk_fail(err, BK_STATE, 0, "mysql: walk: the session has a cursor open");
	st = my_enter(s, MY_READS, err);
	if (st)
		return st;
	s->cursor.s = s;
	st = s->store->nodes->walk_open(&s->cursor, start, steps, n_steps, want, err);
	my_leave(s);
	if (st)
		return st;
	s->cursor.open = true;
	*out = &s->cursor;
	return BK_OK;
}

static bk_status walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			   struct bk_error *err)
{
	bk_status st = my_enter(c->s, MY_HANDLE, err);

	if (st)
		return st;
	st = c->s->store->nodes->walk_next(c, out, cap, n, err);
	my_leave(c->s);
	return st;
}

static void walk_close(struct bk_cursor *c)
{
	if (!c)
		return;
	c->s->store->nodes->walk_close(c);
	c->open = false;
}

const struct bk_node_ops my_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = node_get,
	.get_many = node_get_many,
	.find = node_find,
	.put = node_put,
	.put_many = node_put_many,
	.append = node_append,
	.remove = node_remove,
	.walk_open = walk_open,
	.walk_next = walk_next,
	.walk_close = walk_close,
};
