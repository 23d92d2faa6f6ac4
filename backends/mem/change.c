/*
 * change.c - put, append, remove: one change to the store, or to a transaction's overlay.
 *
 * The one invariant: everything that can fail comes first; a change that fails has changed nothing.
 */
#include "mem.h"

#include <stdlib.h>

static struct mem_graph *target_graph(struct bk_session *s)
{
	return s->txn.open ? &s->txn.graph : &s->store->graph;
}

static uint64_t next_version(struct bk_session *s)
{
	return atomic_fetch_add_explicit(&s->store->versions, 1, memory_order_relaxed) + 1;
}

static bk_status no_memory(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "mem: out of memory");
}

/* ---- put --------------------------------------------------------------- */

static bk_status put_old_allowed(struct mem_seen old, const struct bk_node *node, uint32_t mode,
				 struct bk_error *err)
{
	const struct mem_slot *face = mem_face(old);
	struct bk_slice parent = bk_slice_of(NULL, 0);

	if (mode == BK_PUT_CREATE)
		return bk_fail(err, BK_EXISTS, 0, "mem: put: the id is taken (by path '%.*s')",
			       (int)face->path_len, face->path);
	if (node->version && node->version != mem_version_seen(old))
		return bk_fail(err, BK_CONFLICT, 0,
			       "mem: put: version %llu was asked for, %llu is there",
			       (unsigned long long)node->version,
			       (unsigned long long)mem_version_seen(old));
	if (face->parent)
		parent = mem_slot_id(face->parent);
	if (!bk_slice_eq(parent, node->parent) ||
	    !bk_slice_eq(bk_slice_of(face->path, face->path_len), node->path))
		return bk_fail(
			err, BK_INVALID, 0,
			"mem: put: parent and path of a node never change (stored path '%.*s')",
			(int)face->path_len, face->path);
	return BK_OK;
}

static bk_status put_new_allowed(const struct mem_view *v, const struct bk_node *node,
				 uint32_t mode, struct bk_error *err)
{
	struct bk_slice owner;

	if (mode == BK_PUT_REPLACE)
		return bk_fail(err, BK_NOT_FOUND, 0, "mem: put: no node has that id (path '%.*s')",
			       (int)node->path.len, (const char *)node->path.data);
	if (mem_path_seen(&owner, v, node->path))
		return bk_fail(err, BK_EXISTS, 0, "mem: put: the path '%.*s' is taken",
			       (int)node->path.len, (const char *)node->path.data);
	if (node->parent.len && !mem_is_there(mem_see(v, node->parent)))
		return bk_fail(err, BK_NOT_FOUND, 0, "mem: put: the parent of '%.*s' is not there",
			       (int)node->path.len, (const char *)node->path.data);
	return BK_OK;
}

struct put_parts { /* all that a put needs, made before anything is changed */
	struct mem_slot *slot, *parent;
	struct mem_edge *edges;
	char *path, *doc;
};

static void parts_free(struct mem_graph *g, struct put_parts *p)
{
	free(p->path);
	free(p->doc);
	if (p->parent) {
		p->parent->pins--;
		mem_slot_release(g, p->parent);
	}
	if (p->slot) {
		p->slot->pins--;
		mem_slot_release(g, p->slot);
	}
}

static bool bytes_copy(char **out, struct bk_slice from)
{
	*out = NULL;
	if (!from.len)
		return true;
	*out = malloc(from.len);
	if (*out)
		memcpy(*out, from.data, from.len);
	return *out != NULL;
}

static bool parts_make(struct put_parts *p, struct mem_graph *g, const struct bk_node *node)
{
	memset(p, 0, sizeof(*p));
	p->slot = mem_slot_get(g, node->id);
	if (!p->slot)
		return false;
	p->slot->pins++;
	if (p->slot->state != MEM_FULL) {
		if (node->parent.len) {
			p->parent = mem_slot_get(g, node->parent);
			if (!p->parent)
				goto failed;
			p->parent->pins++;
		}
		if (!bytes_copy(&p->path, node->path))
			goto failed;
	}
	if (!bytes_copy(&p->doc, node->doc))
		goto failed;
	if (!mem_edges_prepare(&p->edges, g, p->slot, node->links, node->link_count))
		goto failed;
	return true;
failed:
	parts_free(g, p);
	return false;
}

static void take_old(struct mem_undo *undo, struct mem_graph *g, struct mem_slot *slot)
{
	undo->slot = slot;
	undo->state = slot->state;
	undo->version = slot->version;
	undo->doc_len = slot->doc_len;
	undo->doc_cap = slot->doc_cap;
	undo->doc = mem_slot_take_doc(g, slot);
	undo->edges = mem_edges_detach(g, slot);
	undo->tail = NULL;
}

bk_status mem_change_put(struct mem_undo *undo, struct bk_session *s, const struct bk_node *node,
			 uint32_t mode, struct bk_error *err)
{
	struct mem_view v = mem_view_of(s);
	struct mem_seen old = mem_see(&v, node->id);
	struct mem_graph *g = target_graph(s);
	struct put_parts p;
	bk_status st;

	st = mem_is_there(old) ? put_old_allowed(old, node, mode, err)
			       : put_new_allowed(&v, node, mode, err);
	if (st)
		return st;
	if (!parts_make(&p, g, node))
		return no_memory(err);

	take_old(undo, g, p.slot);
	if (s->txn.open && p.slot->state == MEM_NONE) {
		undo->tail = s->txn.touched_tail;
		mem_txn_touch(&s->txn, p.slot, old.base);
	}
	if (p.slot->state != MEM_FULL) {
		mem_slot_enter(g, p.slot, p.parent, p.path, node->path.len);
		p.path = NULL;
	}
	mem_slot_set_doc(g, p.slot, p.doc, node->doc.len, node->doc.len);
	p.doc = NULL;
	mem_edges_insert(g, p.edges);
	p.slot->version = next_version(s);
	parts_free(g, &p);
	return BK_OK;
}

void mem_undo_roll_back(struct bk_session *s, struct mem_undo *undo)
{
	struct mem_graph *g = target_graph(s);
	struct mem_slot *slot = undo->slot;

	slot->pins++;
	if (undo->state == MEM_FULL)
		mem_edges_discard(g, mem_edges_detach(g, slot));
	else
		mem_slot_strip(g, slot);
	mem_slot_set_doc(g, slot, undo->doc, undo->doc_len, undo->doc_cap);
	mem_edges_insert(g, undo->edges);
	slot->state = undo->state;
	slot->version = undo->version;
	if (undo->tail) {
		s->txn.touched_tail = undo->tail;
		*undo->tail = NULL;
	}
	slot->pins--;
	mem_slot_release(g, slot);
}

void mem_undo_forget(struct bk_session *s, struct mem_undo *undo)
{
	mem_edges_discard(target_graph(s), undo->edges);
	free(undo->doc);
}

/* ---- append and remove ------------------------------------------------- */

bk_status mem_change_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			    const struct bk_link *links, size_t n, struct bk_error *err)
{
	struct mem_view v = mem_view_of(s);
	struct mem_seen old = mem_see(&v, id);
	struct mem_graph *g = target_graph(s);
	struct mem_edge *edges;
	struct mem_slot *slot;

	if (!mem_is_there(old))
		return bk_fail(err, BK_NOT_FOUND, 0, "mem: append: no node has that id");
	if (mem_face(old)->doc_len + tail.len > MEM_DOC_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "mem: append: the document would be longer than %llu bytes",
			       (unsigned long long)MEM_DOC_MAX);
	slot = mem_slot_get(g, id);
	if (!slot)
		return no_memory(err);
	slot->pins++;
	if (!mem_slot_reserve(slot, tail.len) || !mem_edges_prepare(&edges, g, slot, links, n)) {
		slot->pins--;
		mem_slot_release(g, slot);
		return no_memory(err);
	}
	if (s->txn.open && slot->state == MEM_NONE) {
		mem_txn_touch(&s->txn, slot, old.base);
		slot->state = MEM_MORE;
	}
	mem_slot_append(g, slot, tail);
	mem_edges_insert(g, edges);
	slot->version = next_version(s);
	slot->pins--;
	return BK_OK;
}

bk_status mem_change_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	struct mem_view v = mem_view_of(s);
	struct mem_seen old = mem_see(&v, id);
	struct mem_graph *g = target_graph(s);
	struct mem_slot *slot;

	if (!mem_is_there(old))
		return bk_fail(err, BK_NOT_FOUND, 0, "mem: remove: no node has that id");
	if (mem_has_children(&v, old))
		return bk_fail(err, BK_IN_USE, 0, "mem: remove: '%.*s' has children",
			       (int)mem_face(old)->path_len, mem_face(old)->path);
	slot = mem_slot_get(g, id);
	if (!slot)
		return no_memory(err);
	if (s->txn.open) {
		if (slot->state == MEM_NONE)
			mem_txn_touch(&s->txn, slot, old.base);
		slot->pins++;
		mem_slot_strip(g, slot);
		slot->pins--;
		slot->state = MEM_GONE;
		slot->was_removed = true;
	} else {
		mem_slot_strip(g, slot);
		mem_slot_release(g, slot);
	}
	return BK_OK;
}
