/*
 * view.c - what a session sees: the store, and inside a transaction its own changes before it.
 *
 * The one invariant: a node of the store is hidden when the overlay holds the same id as MEM_FULL
 * or MEM_GONE; what hangs on it (its links, its place among the children) is hidden with it, and
 * its own children are not.
 */
#include "mem.h"

struct mem_view mem_view_of(struct bk_session *s)
{
	struct mem_view v;

	v.base = &s->store->graph;
	v.over = s->txn.open ? &s->txn.graph : NULL;
	return v;
}

struct mem_seen mem_see(const struct mem_view *v, struct bk_slice id)
{
	struct mem_seen n;

	n.base = mem_slot_find(v->base, id);
	n.over = v->over ? mem_slot_find(v->over, id) : NULL;
	return n;
}

bool mem_is_there(struct mem_seen n)
{
	if (n.over && n.over->state == MEM_FULL)
		return true;
	if (n.over && n.over->state == MEM_GONE)
		return false;
	return n.base && n.base->state == MEM_FULL;
}

bool mem_is_hidden(const struct mem_view *v, const struct mem_slot *base)
{
	const struct mem_slot *over = v->over ? mem_slot_find(v->over, mem_slot_id(base)) : NULL;

	return over && (over->state == MEM_FULL || over->state == MEM_GONE);
}

bool mem_is_repeated(const struct mem_view *v, const struct mem_edge *e)
{
	const struct mem_slot *from, *to;

	if (e->from->state != MEM_MORE)
		return false;
	from = mem_slot_find(v->base, mem_slot_id(e->from));
	to = mem_slot_find(v->base, mem_slot_id(e->to));
	return from && to && mem_edge_find(v->base, from, bk_slice_of(e->rel, e->rel_len), to);
}

const struct mem_slot *mem_face(struct mem_seen n)
{
	return n.over && n.over->state == MEM_FULL ? n.over : n.base;
}

uint64_t mem_version_seen(struct mem_seen n)
{
	return n.over && n.over->state != MEM_NONE ? n.over->version : n.base->version;
}

bool mem_path_seen(struct bk_slice *id_out, const struct mem_view *v, struct bk_slice path)
{
	const struct mem_slot *s = v->over ? mem_path_find(v->over, path) : NULL;

	if (!s) {
		s = mem_path_find(v->base, path);
		if (s && mem_is_hidden(v, s))
			s = NULL;
	}
	if (!s)
		return false;
	*id_out = mem_slot_id(s);
	return true;
}

/* Not longer than the transaction: every child of the store that is passed over is hidden by one
 * of its changes. */
bool mem_has_children(const struct mem_view *v, struct mem_seen n)
{
	const struct mem_slot *c;

	if (n.over && n.over->children)
		return true;
	for (c = n.base ? n.base->children : NULL; c; c = c->sibling_next) {
		if (!mem_is_hidden(v, c))
			return true;
	}
	return false;
}
