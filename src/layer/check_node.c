/*
 * check_node.c - node operations, checked.
 */
#include "layer/check.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

/* ---- Nodes read -------------------------------------------------------- */

static const char *field_fault(const struct bk_node *n, uint32_t want, bool versions)
{
	if (!n->id.data)
		return "a node's id is NULL with a length";
	if (want & BK_WANT_PATH ? !n->path.len : n->path.len || n->parent.len)
		return want & BK_WANT_PATH ? "a node's path was wanted and is empty"
					   : "a node's path or parent was not wanted and is there";
	if (!(want & BK_WANT_DOC) && n->doc.len)
		return "a node's document was not wanted and is there";
	if (!(want & BK_WANT_LINKS) && n->link_count)
		return "a node's links were not wanted and are there";
	if (versions && !n->version)
		return "versions are kept and a node has none";
	if (!versions && n->version)
		return "no versions are kept and a node has one";
	return NULL;
}

static const char *links_fault(const struct bk_node *n)
{
	size_t i;

	if (n->link_count && !n->links)
		return "a node's links are NULL with a count";
	for (i = 0; i < n->link_count; i++) {
		if (!n->links[i].rel.len || !n->links[i].target.len)
			return "a link has an empty relation or target";
	}
	return NULL;
}

static bk_status keep_node(struct bk_node *n, struct bk_session *s, uint32_t want, const char *op,
			   struct bk_error *err)
{
	const char *fault = field_fault(n, want, s->store->features & BK_F_CAS);

	if (!fault)
		fault = links_fault(n);
	if (fault)
		return bk_check_breach(err, op, "%s", fault);
	if (!bk_check_keep(&n->id, &s->views) || !bk_check_keep(&n->parent, &s->views) ||
	    !bk_check_keep(&n->path, &s->views) || !bk_check_keep(&n->doc, &s->views) ||
	    !bk_check_keep_links(n, &s->views))
		return bk_check_breach(err, op, "a view is NULL with a length");
	return BK_OK;
}

static bk_status check_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
				uint32_t want, struct bk_error *err)
{
	static const char op[] = "node.get";
	const struct bk_pass_session *p = &s->pass;
	struct bk_error armed;
	struct bk_node node, before;
	bk_status st = bk_check_enter(s, op, err), raw;

	bk_check_slice(op, "id", id);
	if (st)
		return st;
	memset(&node, 0x5a, sizeof(node));
	before = node;
	bk_check_error_arm(&armed);
	raw = p->next->node.get(&node, p->s, id, want, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	if (st && st == raw && memcmp(&node, &before, sizeof(node)) != 0)
		return bk_check_breach(err, op, "it answers %d and has written the node", st);
	if (st)
		return st;
	if (!bk_slice_eq(node.id, id))
		return bk_check_breach(err, op, "it answers another node than was asked for");
	st = keep_node(&node, s, want, op, err);
	if (!st)
		*out = node;
	return st;
}

static bk_status check_prefix(struct bk_node *nodes, size_t done, struct bk_session *s,
			      const struct bk_slice *ids, size_t n, uint32_t want,
			      struct bk_error *err)
{
	static const char op[] = "node.get_many";
	bk_status st;
	size_t i;

	if (done < 1 || done > n)
		return bk_check_breach(err, op, "done is %zu of %zu ids", done, n);
	for (i = 0; i < done; i++) {
		if (!nodes[i].id.len) {
			memset(&nodes[i], 0, sizeof(nodes[i]));
			continue;
		}
		if (!bk_slice_eq(nodes[i].id, ids[i]))
			return bk_check_breach(err, op,
					       "node %zu is another than was asked for there", i);
		st = keep_node(&nodes[i], s, want, op, err);
		if (st)
			return st;
	}
	return BK_OK;
}

static bk_status check_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
				     const struct bk_slice *ids, size_t n, uint32_t want,
				     struct bk_error *err)
{
	static const char op[] = "node.get_many";
	const struct bk_pass_session *p = &s->pass;
	size_t got = SIZE_MAX, i;
	struct bk_error armed;
	struct bk_node *nodes;
	bk_status st = bk_check_enter(s, op, err), raw;

	if (!n)
		bk_check_die(op, "no ids");
	for (i = 0; i < n; i++)
		bk_check_slice(op, "id", ids[i]);
	if (st)
		return st;
	nodes = calloc(n, sizeof(*nodes)); /* freed as an array of its own: beyond n is beyond it */
	if (!nodes)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	bk_check_error_arm(&armed);
	raw = p->next->node.get_many(nodes, &got, p->s, ids, n, want, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	if (st && st == raw && got != SIZE_MAX)
		st = bk_check_breach(err, op, "it answers %d and has written done", st);
	if (!st)
		st = check_prefix(nodes, got, s, ids, n, want, err);
	if (!st) {
		memcpy(out, nodes, got * sizeof(*out));
		*done = got;
	}
	free(nodes);
	return st;
}

static bk_status check_node_find(struct bk_slice *id_out, struct bk_session *s,
				 struct bk_slice path, struct bk_error *err)
{
	static const char op[] = "node.find";
	const struct bk_pass_session *p = &s->pass;
	struct bk_slice id = bk_slice_of(BK_CHECK_UNWRITTEN, SIZE_MAX);
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err), raw;

	bk_check_slice(op, "path", path);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	raw = p->next->node.find(&id, p->s, path, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	if (st && st == raw && (id.data != BK_CHECK_UNWRITTEN || id.len != SIZE_MAX))
		return bk_check_breach(err, op, "it answers %d and has written the id", st);
	if (st)
		return st;
	if (!id.len || !bk_check_keep(&id, &s->views))
		return bk_check_breach(err, op, "it answers OK with an id that is empty or NULL");
	*id_out = id;
	return BK_OK;
}

/* ---- Nodes written ----------------------------------------------------- */

static void check_given(const char *op, const struct bk_node *node)
{
	bk_check_slice(op, "id", node->id);
	bk_check_slice(op, "parent", node->parent);
	bk_check_slice(op, "path", node->path);
	bk_check_slice(op, "document", node->doc);
	bk_check_links(op, node->links, node->link_count);
}

static bk_status check_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
				struct bk_error *err)
{
	static const char op[] = "node.put";
	const struct bk_pass_session *p = &s->pass;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err);

	check_given(op, node);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	return bk_check_answer(p->next->node.put(p->s, node, mode, &armed), &armed, false, op, err);
}

/* Of a failed batch the caller learns how far it came, unless that cannot be known. */
static bool item_may_be_unknown(bk_status st)
{
	return st == BK_UNAVAILABLE || st == BK_TIMEOUT || st == BK_CANCELLED || st == BK_STATE ||
	       st == BK_UNSUPPORTED || st == BK_NOMEM;
}

static bk_status check_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				     uint32_t mode, struct bk_error *err)
{
	static const char op[] = "node.put_many";
	const struct bk_pass_session *p = &s->pass;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err), raw;
	size_t i;

	for (i = 0; i < n; i++)
		check_given(op, &nodes[i]);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	raw = p->next->node.put_many(p->s, nodes, n, mode, &armed);
	st = bk_check_answer(raw, &armed, false, op, err);
	if (st && st == raw && armed.item >= n && !item_may_be_unknown(st))
		return bk_check_breach(err, op,
				       "it answers %d without err->item, the first node of %zu "
				       "that is not stored",
				       st, n);
	return st;
}

static bk_status check_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
				   const struct bk_link *links, size_t link_count,
				   struct bk_error *err)
{
	static const char op[] = "node.append";
	const struct bk_pass_session *p = &s->pass;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err);

	bk_check_slice(op, "id", id);
	bk_check_slice(op, "tail", tail);
	bk_check_links(op, links, link_count);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	return bk_check_answer(p->next->node.append(p->s, id, tail, links, link_count, &armed),
			       &armed, false, op, err);
}

static bk_status check_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	static const char op[] = "node.remove";
	const struct bk_pass_session *p = &s->pass;
	struct bk_error armed;
	bk_status st = bk_check_enter(s, op, err);

	bk_check_slice(op, "id", id);
	if (st)
		return st;
	bk_check_error_arm(&armed);
	return bk_check_answer(p->next->node.remove(p->s, id, &armed), &armed, false, op, err);
}

const struct bk_node_ops bk_check_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = check_node_get,
	.get_many = check_node_get_many,
	.find = check_node_find,
	.put = check_node_put,
	.put_many = check_node_put_many,
	.append = check_node_append,
	.remove = check_node_remove,
	.walk_open = bk_check_walk_open,
	.walk_next = bk_check_walk_next,
	.walk_close = bk_check_walk_close,
};
