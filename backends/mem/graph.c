/*
 * graph.c - nodes and links: the tables and lists that hold them.
 *
 * The one invariant: a slot is freed as soon as, and no sooner than, it is no node and nothing
 * refers to it.
 */
#include "mem.h"

#include <stdlib.h>

bool mem_graph_init(struct mem_graph *g)
{
	memset(g, 0, sizeof(*g));
	return mem_table_init(&g->ids) && mem_table_init(&g->paths) && mem_table_init(&g->edges);
}

void mem_graph_clear(struct mem_graph *g)
{
	struct mem_entry *e, *next;
	struct mem_edge *edge, *edge_next;
	struct mem_slot *s;
	size_t i;

	for (i = 0; g->ids.count && i <= g->ids.mask; i++) {
		for (e = g->ids.buckets[i]; e; e = next) {
			next = e->next;
			s = MEM_OWNER(e, struct mem_slot, by_id);
			for (edge = s->out; edge; edge = edge_next) {
				edge_next = edge->out_next;
				free(edge);
			}
			free(s->path);
			free(s->doc);
			free(s);
		}
	}
	mem_table_clear(&g->ids);
	mem_table_clear(&g->paths);
	mem_table_clear(&g->edges);
	g->nodes = g->links = g->bytes = 0;
}

void mem_graph_free(struct mem_graph *g)
{
	if (g->ids.buckets)
		mem_graph_clear(g);
	mem_table_free(&g->ids);
	mem_table_free(&g->paths);
	mem_table_free(&g->edges);
}

/* ---- Slots ------------------------------------------------------------- */

static struct mem_slot *slot_find(const struct mem_graph *g, struct bk_slice id, uint64_t hash)
{
	struct mem_entry *e;
	struct mem_slot *s;

	for (e = mem_table_chain(&g->ids, hash); e; e = e->next) {
		s = MEM_OWNER(e, struct mem_slot, by_id);
		if (e->hash == hash && bk_slice_eq(mem_slot_id(s), id))
			return s;
	}
	return NULL;
}

struct mem_slot *mem_slot_find(const struct mem_graph *g, struct bk_slice id)
{
	return slot_find(g, id, mem_hash(id));
}

struct mem_slot *mem_slot_get(struct mem_graph *g, struct bk_slice id)
{
	uint64_t hash = mem_hash(id);
	struct mem_slot *s = slot_find(g, id, hash);

	if (s)
		return s;
	s = calloc(1, sizeof(*s) + id.len);
	if (!s)
		return NULL;
	memcpy(s->id, id.data, id.len);
	s->id_len = id.len;
	mem_table_add(&g->ids, &s->by_id, hash);
	return s;
}

void mem_slot_release(struct mem_graph *g, struct mem_slot *s)
{
	if (s->state != MEM_NONE || s->children || s->in || s->pins)
		return;
	mem_table_drop(&g->ids, &s->by_id);
	free(s->doc); /* room reserved for an append that was not made */
	free(s);
}

struct mem_slot *mem_path_find(const struct mem_graph *g, struct bk_slice path)
{
	uint64_t hash = mem_hash(path);
	struct mem_entry *e;
	struct mem_slot *s;

	for (e = mem_table_chain(&g->paths, hash); e; e = e->next) {
		s = MEM_OWNER(e, struct mem_slot, by_path);
		if (e->hash == hash && bk_slice_eq(bk_slice_of(s->path, s->path_len), path))
			return s;
	}
	return NULL;
}

void mem_slot_enter(struct mem_graph *g, struct mem_slot *s, struct mem_slot *parent, char *path,
		    size_t path_len)
{
	s->path = path;
	s->path_len = path_len;
	mem_table_add(&g->paths, &s->by_path, mem_hash(bk_slice_of(path, path_len)));
	s->parent = parent;
	if (parent) {
		s->sibling_prev = NULL;
		s->sibling_next = parent->children;
		if (parent->children)
			parent->children->sibling_prev = s;
		parent->children = s;
	}
	s->state = MEM_FULL;
	g->nodes++;
	g->bytes += s->id_len + path_len;
}

void mem_slot_strip(struct mem_graph *g, struct mem_slot *s)
{
	struct mem_slot *parent = s->parent;

	mem_edges_discard(g, mem_edges_detach(g, s));
	free(mem_slot_take_doc(g, s));
	if (s->state == MEM_FULL) {
		mem_table_drop(&g->paths, &s->by_path);
		g->nodes--;
		g->bytes -= s->id_len + s->path_len;
		free(s->path);
		s->path = NULL;
	}
	s->state = MEM_NONE;
	if (!parent)
		return;
	if (s->sibling_next)
		s->sibling_next->sibling_prev = s->sibling_prev;
	if (s->sibling_prev)
		s->sibling_prev->sibling_next = s->sibling_next;
	else
		parent->children = s->sibling_next;
	s->parent = s->sibling_next = s->sibling_prev = NULL;
	mem_slot_release(g, parent);
}

/* ---- Documents --------------------------------------------------------- */

void mem_slot_set_doc(struct mem_graph *g, struct mem_slot *s, char *doc, size_t len, size_t cap)
{
	free(mem_slot_take_doc(g, s));
	s->doc = doc;
	s->doc_len = len;
	s->doc_cap = cap;
	g->bytes += len;
}

char *mem_slot_take_doc(struct mem_graph *g, struct mem_slot *s)
{
	char *doc = s->doc;

	g->bytes -= s->doc_len;
	s->doc = NULL;
	s->doc_len = s->doc_cap = 0;
	return doc;
}

bool mem_slot_reserve(struct mem_slot *s, size_t more)
{
	size_t cap = s->doc_cap ? s->doc_cap : 64;
	char *doc;

	if (s->doc_len + more <= s->doc_cap)
		return true;
	while (cap < s->doc_len + more)
		cap *= 2;
	doc = realloc(s->doc, cap);
	if (!doc)
		return false;
	s->doc = doc;
	s->doc_cap = cap;
	return true;
}

void mem_slot_append(struct mem_graph *g, struct mem_slot *s, struct bk_slice tail)
{
	if (!tail.len)
		return;
	memcpy(s->doc + s->doc_len, tail.data, tail.len);
	s->doc_len += tail.len;
	g->bytes += tail.len;
}
