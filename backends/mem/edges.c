/*
 * edges.c - links: each one stands in a table by (from, relation, to), in the list of its source
 * and in the list of its target.
 *
 * The one invariant: a list of links outside the graph pins the slots it points at.
 */
#include "mem.h"

#include <stdlib.h>

static uint64_t edge_hash(const struct mem_slot *from, struct bk_slice rel,
			  const struct mem_slot *to)
{
	uint64_t mix[3];

	mix[0] = (uint64_t)(uintptr_t)from;
	mix[1] = (uint64_t)(uintptr_t)to;
	mix[2] = mem_hash(rel);
	return mem_hash(bk_slice_of(mix, sizeof(mix)));
}

static struct mem_edge *edge_find(const struct mem_graph *g, const struct mem_slot *from,
				  struct bk_slice rel, const struct mem_slot *to, uint64_t hash)
{
	struct mem_entry *e;
	struct mem_edge *edge;

	for (e = mem_table_chain(&g->edges, hash); e; e = e->next) {
		edge = MEM_OWNER(e, struct mem_edge, by_key);
		if (e->hash == hash && edge->from == from && edge->to == to &&
		    bk_slice_eq(bk_slice_of(edge->rel, edge->rel_len), rel))
			return edge;
	}
	return NULL;
}

struct mem_edge *mem_edge_find(const struct mem_graph *g, const struct mem_slot *from,
			       struct bk_slice rel, const struct mem_slot *to)
{
	return edge_find(g, from, rel, to, edge_hash(from, rel, to));
}

bool mem_edges_prepare(struct mem_edge **out, struct mem_graph *g, struct mem_slot *from,
		       const struct bk_link *links, size_t n)
{
	struct mem_edge *list = NULL, *e;
	struct mem_slot *to;
	size_t i;

	for (i = 0; i < n; i++) {
		e = malloc(sizeof(*e) + links[i].rel.len);
		to = e ? mem_slot_get(g, links[i].target) : NULL;
		if (!to) {
			free(e);
			mem_edges_discard(g, list);
			return false;
		}
		to->pins++;
		e->from = from;
		e->to = to;
		e->rel_len = links[i].rel.len;
		memcpy(e->rel, links[i].rel.data, e->rel_len);
		e->out_next = list;
		list = e;
	}
	*out = list;
	return true;
}

void mem_edges_discard(struct mem_graph *g, struct mem_edge *list)
{
	struct mem_edge *next;

	for (; list; list = next) {
		next = list->out_next;
		list->to->pins--;
		mem_slot_release(g, list->to);
		free(list);
	}
}

static void edge_link(struct mem_edge *e)
{
	struct mem_slot *from = e->from, *to = e->to;

	e->out_prev = NULL;
	e->out_next = from->out;
	if (from->out)
		from->out->out_prev = e;
	from->out = e;
	from->out_count++;
	from->out_bytes += e->rel_len + to->id_len;
	e->in_prev = NULL;
	e->in_next = to->in;
	if (to->in)
		to->in->in_prev = e;
	to->in = e;
}

void mem_edges_insert(struct mem_graph *g, struct mem_edge *list)
{
	struct mem_edge *next;
	struct bk_slice rel;
	uint64_t hash;

	for (; list; list = next) {
		next = list->out_next;
		list->to->pins--;
		rel = bk_slice_of(list->rel, list->rel_len);
		hash = edge_hash(list->from, rel, list->to);
		if (edge_find(g, list->from, rel, list->to, hash)) {
			free(list);
			continue;
		}
		mem_table_add(&g->edges, &list->by_key, hash);
		edge_link(list);
		g->links++;
		g->bytes += list->rel_len + list->to->id_len;
	}
}

struct mem_edge *mem_edges_detach(struct mem_graph *g, struct mem_slot *from)
{
	struct mem_edge *e;

	for (e = from->out; e; e = e->out_next) {
		mem_table_drop(&g->edges, &e->by_key);
		if (e->in_next)
			e->in_next->in_prev = e->in_prev;
		if (e->in_prev)
			e->in_prev->in_next = e->in_next;
		else
			e->to->in = e->in_next;
		e->to->pins++;
		g->links--;
		g->bytes -= e->rel_len + e->to->id_len;
	}
	e = from->out;
	from->out = NULL;
	from->out_count = from->out_bytes = 0;
	return e;
}
