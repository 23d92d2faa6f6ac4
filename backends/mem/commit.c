/*
 * commit.c - a transaction's overlay goes into the store, whole or not at all.
 *
 * The one invariant: first everything is checked, then everything is allocated, then everything is
 * changed; the last step cannot fail.
 */
#include "mem.h"

#include <stdlib.h>

static bk_status lost(struct bk_error *err, uint64_t ordinal, const char *what)
{
	bk_fail(err, BK_CONFLICT, 0, "mem: commit: %s", what);
	err->item = ordinal;
	err->flags = BK_ERR_RETRY;
	return BK_CONFLICT;
}

/* ---- Check: is what the transaction built upon still so? --------------- */

static const char *slot_conflict(const struct mem_view *v, const struct mem_slot *o)
{
	const struct mem_slot *base = mem_slot_find(v->base, mem_slot_id(o)), *owner, *c;
	uint64_t version = base && base->state == MEM_FULL ? base->version : 0;

	if (o->state == MEM_MORE)
		return version ? NULL : "a node that it appends to has been removed";
	if (version != o->seen_version)
		return "a node that it writes has been changed by somebody else";
	if (o->was_removed) {
		for (c = base ? base->children : NULL; c; c = c->sibling_next) {
			if (!mem_is_hidden(v, c))
				return "a node that it removes has got a child";
		}
	}
	if (o->state == MEM_GONE)
		return NULL;
	owner = mem_path_find(v->base, bk_slice_of(o->path, o->path_len));
	if (owner && !mem_is_hidden(v, owner))
		return "a path that it creates has been taken";
	if (o->parent && !mem_is_there(mem_see(v, mem_slot_id(o->parent))))
		return "the parent of a node that it creates has been removed";
	return NULL;
}

static bk_status overlay_check(struct bk_session *s, struct bk_error *err)
{
	struct mem_view v = mem_view_of(s);
	const struct mem_slot *o;
	const struct mem_bin *b, *base;
	const char *why;

	for (o = s->txn.touched; o; o = o->touched_next) {
		why = slot_conflict(&v, o);
		if (why)
			return lost(err, o->ordinal, why);
	}
	for (b = s->txn.touched_bins; b; b = b->touched_next) {
		base = mem_bin_find(&s->store->bins, bk_slice_of(b->key, b->key_len));
		if ((base ? base->blob->version : 0) != b->seen_version)
			return lost(err, b->ordinal,
				    "a binary that it writes has been changed by somebody else");
	}
	return BK_OK;
}

/* ---- Allocate: a slot of the store for every one that the changes refer to -- */

static bool twin_get(struct mem_graph *base, struct mem_slot *o)
{
	if (!o || o->twin)
		return true;
	o->twin = mem_slot_get(base, mem_slot_id(o));
	if (o->twin)
		o->twin->pins++;
	return o->twin != NULL;
}

static bool twins_make(struct bk_session *s)
{
	struct mem_graph *base = &s->store->graph;
	struct mem_slot *o;
	struct mem_edge *e;
	struct mem_bin *b;

	for (o = s->txn.touched; o; o = o->touched_next) {
		if (!twin_get(base, o) || !twin_get(base, o->parent))
			return false;
		if (o->state == MEM_MORE && !mem_slot_reserve(o->twin, o->doc_len))
			return false;
		for (e = o->out; e; e = e->out_next) {
			if (!twin_get(base, e->to))
				return false;
		}
	}
	for (b = s->txn.touched_bins; b; b = b->touched_next) {
		if (!b->blob)
			continue;
		b->twin = mem_bin_get(&s->store->bins, bk_slice_of(b->key, b->key_len));
		if (!b->twin)
			return false;
	}
	return true;
}

static void twins_release(struct bk_session *s)
{
	struct mem_table *ids = &s->txn.graph.ids;
	struct mem_entry *e;
	struct mem_slot *o;
	struct mem_bin *b;
	size_t i;

	for (i = 0; i <= ids->mask; i++) {
		for (e = ids->buckets[i]; e; e = e->next) {
			o = MEM_OWNER(e, struct mem_slot, by_id);
			if (!o->twin)
				continue;
			o->twin->pins--;
			mem_slot_release(&s->store->graph, o->twin);
			o->twin = NULL;
		}
	}
	for (b = s->txn.touched_bins; b; b = b->touched_next) {
		if (b->twin && !b->twin->blob)
			mem_bin_drop(&s->store->bins, b->twin);
		b->twin = NULL;
	}
}

/* ---- Change ------------------------------------------------------------ */

static void edges_move(struct bk_session *s, struct mem_slot *o)
{
	struct mem_edge *list = mem_edges_detach(&s->txn.graph, o), *e;

	for (e = list; e; e = e->out_next) {
		e->to->pins--;
		e->from = o->twin;
		e->to = e->to->twin;
		e->to->pins++;
	}
	mem_edges_insert(&s->store->graph, list);
}

static void slot_move(struct bk_session *s, struct mem_slot *o)
{
	struct mem_graph *base = &s->store->graph;
	size_t len = o->doc_len, cap = o->doc_cap;

	if (o->state == MEM_MORE) {
		mem_slot_append(base, o->twin, bk_slice_of(o->doc, o->doc_len));
	} else {
		mem_slot_enter(base, o->twin, o->parent ? o->parent->twin : NULL, o->path,
			       o->path_len);
		mem_slot_set_doc(base, o->twin, mem_slot_take_doc(&s->txn.graph, o), len, cap);
		mem_table_drop(&s->txn.graph.paths, &o->by_path);
		o->path = NULL;
	}
	edges_move(s, o);
	/* Somebody else's append may have come between: then the version is a new one. */
	if (o->state == MEM_MORE && o->twin->version != o->seen_version)
		o->twin->version = atomic_fetch_add(&s->store->versions, 1) + 1;
	else
		o->twin->version = o->version;
}

bk_status mem_txn_apply(struct bk_session *s, struct bk_error *err)
{
	struct mem_graph *base = &s->store->graph;
	struct mem_slot *o;
	struct mem_bin *b, *old;
	bk_status st = overlay_check(s, err);

	if (st)
		return st;
	if (!twins_make(s)) {
		twins_release(s);
		return bk_fail(err, BK_NOMEM, 0, "mem: commit: out of memory");
	}
	for (o = s->txn.touched; o; o = o->touched_next) {
		if (o->state != MEM_MORE && o->twin->state == MEM_FULL)
			mem_slot_strip(base, o->twin);
	}
	for (o = s->txn.touched; o; o = o->touched_next) {
		if (o->state != MEM_GONE)
			slot_move(s, o);
	}
	for (b = s->txn.touched_bins; b; b = b->touched_next) {
		old = mem_bin_find(&s->store->bins, bk_slice_of(b->key, b->key_len));
		if (b->blob) {
			mem_bin_set(&s->store->bins, b->twin, b->blob);
			b->blob = NULL;
		} else if (old) {
			mem_bin_drop(&s->store->bins, old);
		}
	}
	if (s->txn.touched || s->txn.touched_bins)
		s->store->changes++;
	twins_release(s);
	return BK_OK;
}
