/*
 * model.c - the store that should be: see model.h.
 */
#include "conform/model.h"

#include <stdlib.h>

static bool is_there(const struct model_state *s, uint32_t id)
{
	return id < MODEL_IDS && s->nodes[id].there;
}

static uint32_t owner_of_path(const struct model_state *s, uint32_t path)
{
	uint32_t i;

	for (i = 0; i < MODEL_IDS; i++) {
		if (s->nodes[i].there && s->nodes[i].path == path)
			return i;
	}
	return MODEL_NONE;
}

static bool has_children(const struct model_state *s, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < MODEL_IDS; i++) {
		if (s->nodes[i].there && s->nodes[i].parent == id)
			return true;
	}
	return false;
}

/* ---- Outcomes ---------------------------------------------------------------------------------
 */

static uint32_t create_outcomes(const struct model_state *s, const struct model_put *put)
{
	uint32_t set = 0;

	if (is_there(s, put->id) || owner_of_path(s, put->path) != MODEL_NONE)
		set |= ONE(BK_EXISTS);
	if (put->parent != MODEL_NONE && !is_there(s, put->parent))
		set |= ONE(BK_NOT_FOUND);
	return set ? set : ONE(BK_OK);
}

static uint32_t replace_outcomes(const struct model_state *s, const struct model_put *put)
{
	const struct model_node *node = &s->nodes[put->id];
	uint32_t set = 0, owner = owner_of_path(s, put->path);

	if (!node->there)
		return ONE(BK_NOT_FOUND);
	if (node->path != put->path)
		set |= owner == MODEL_NONE ? ONE(BK_INVALID) : TWO(BK_INVALID, BK_EXISTS);
	if (node->parent != put->parent)
		set |= put->parent == MODEL_NONE || is_there(s, put->parent)
			       ? ONE(BK_INVALID)
			       : TWO(BK_INVALID, BK_NOT_FOUND);
	return set ? set : ONE(BK_OK);
}

uint32_t model_put_outcomes(const struct model_state *s, const struct model_put *put)
{
	if (put->mode == BK_PUT_CREATE || (put->mode == BK_PUT_UPSERT && !is_there(s, put->id)))
		return create_outcomes(s, put);
	return replace_outcomes(s, put);
}

uint32_t model_remove_outcomes(const struct model_state *s, uint32_t id)
{
	if (!is_there(s, id))
		return ONE(BK_NOT_FOUND);
	return has_children(s, id) ? ONE(BK_IN_USE) : ONE(BK_OK);
}

/* ---- Changes ----------------------------------------------------------------------------------
 */

static bool add_link(struct model_node *node, struct model_link link)
{
	uint32_t i;

	for (i = 0; i < node->link_count; i++) {
		if (node->links[i].rel == link.rel && node->links[i].target == link.target)
			return true;
	}
	if (node->link_count == sizeof(node->links) / sizeof(node->links[0]))
		return false;
	node->links[node->link_count++] = link;
	return true;
}

static void set_doc(struct model *m, struct model_node *node, const struct model_put *put,
		    size_t keep)
{
	size_t len = keep + put->doc_len;
	char *doc = bk_arena_alloc(&m->arena, len + 1);

	if (keep)
		memcpy(doc, node->doc, keep);
	bk_content_fill(doc + keep, put->label, 0, put->doc_len);
	node->doc = doc;
	node->doc_len = len;
}

void model_put_apply(struct model *m, const struct model_put *put)
{
	struct model_node *node = &m->now.nodes[put->id];
	uint32_t i;

	if (!node->there) {
		node->path = put->path;
		node->parent = put->parent;
	}
	node->there = true;
	node->link_count = 0;
	set_doc(m, node, put, 0);
	for (i = 0; i < put->link_count; i++)
		add_link(node, put->links[i]);
}

bool model_append_apply(struct model *m, const struct model_put *put)
{
	struct model_node *node = &m->now.nodes[put->id];
	uint32_t i;

	set_doc(m, node, put, node->doc_len);
	for (i = 0; i < put->link_count; i++) {
		if (!add_link(node, put->links[i]))
			return false;
	}
	return true;
}

/* ---- Nodes for the store ------------------------------------------------------------------------
 */

static void give_links(struct bk_box *b, struct bk_node *node, const struct model_link *links,
		       uint32_t n)
{
	struct bk_link *list = bk_arena_alloc(&b->arena, (n + 1) * sizeof(*list));
	uint32_t i;

	for (i = 0; i < n; i++) {
		list[i].rel = model_rel(links[i].rel);
		list[i].target = model_id(b, links[i].target);
	}
	node->links = n ? list : NULL;
	node->link_count = n;
}

struct bk_node model_node_of(struct bk_box *b, const struct model_state *s, uint32_t id)
{
	const struct model_node *n = &s->nodes[id];
	struct bk_node node;

	memset(&node, 0, sizeof(node));
	node.id = model_id(b, id);
	node.path = model_path(b, n->path);
	if (n->parent != MODEL_NONE)
		node.parent = model_id(b, n->parent);
	node.doc = bk_slice_of(n->doc, n->doc_len);
	give_links(b, &node, n->links, n->link_count);
	return node;
}

struct bk_node model_put_node(struct bk_box *b, const struct model_put *put)
{
	char *doc = bk_arena_alloc(&b->arena, put->doc_len + 1);
	struct bk_node node;

	memset(&node, 0, sizeof(node));
	node.id = model_id(b, put->id);
	node.path = model_path(b, put->path);
	if (put->parent != MODEL_NONE)
		node.parent = model_id(b, put->parent);
	bk_content_fill(doc, put->label, 0, put->doc_len);
	node.doc = bk_slice_of(doc, put->doc_len);
	give_links(b, &node, put->links, put->link_count);
	return node;
}

/* ---- Walks ------------------------------------------------------------------------------------
 */

/* Adds what one step reaches from node `at`, or goes on from there. */
static void walk_on(struct bk_box *b, const struct model_state *s, uint32_t at,
		    const struct model_op *op, uint32_t step, uint32_t rel, struct bk_hits *out)
{
	uint32_t i, k;

	if (!is_there(s, at))
		return;
	if (step == op->count) {
		struct bk_hit hit;

		memset(&hit, 0, sizeof(hit));
		hit.id = model_id(b, at);
		hit.path = model_path(b, s->nodes[at].path);
		if (rel != MODEL_NONE)
			hit.rel = model_rel(rel);
		bk_hits_add(b, out, hit);
		return;
	}
	for (i = 0; i < MODEL_IDS; i++) {
		const struct model_node *from = &s->nodes[op->steps[step].dir == BK_IN ? i : at];

		if (op->steps[step].dir == BK_CHILDREN) {
			if (s->nodes[i].there && s->nodes[i].parent == at)
				walk_on(b, s, i, op, step + 1, MODEL_NONE, out);
			continue;
		}
		for (k = 0; from->there && k < from->link_count; k++) {
			uint32_t to = op->steps[step].dir == BK_IN ? at : i;

			if (from->links[k].target == to &&
			    (op->rels[step] == MODEL_NONE || op->rels[step] == from->links[k].rel))
				walk_on(b, s, i, op, step + 1, from->links[k].rel, out);
		}
	}
}

void model_walk(struct bk_box *b, const struct model_state *s, uint32_t start,
		const struct model_op *op, struct bk_hits *out)
{
	memset(out, 0, sizeof(*out));
	walk_on(b, s, start, op, 0, MODEL_NONE, out);
}
