/*
 * loop.c - the layer that offers get_many, put_many, append and walks of several steps over a
 * backend that lacks them.
 *
 * The one invariant: it adds calls, never guarantees: what it makes of several calls is no more
 * atomic than they are.
 */
#include "layer/loop.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

#define LOOPED     (BK_F_GET_MANY | BK_F_PUT_MANY | BK_F_APPEND | BK_F_WALK)
#define VIEWS_MAX  ((size_t)8 * 1024 * 1024) /* of one get_many, bytes */
#define APPEND_TRY 1000u

static bk_status no_memory(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "out of memory");
}

/* ---- get_many: get by get, the views copied ---------------------------- */

static size_t view_bytes(const struct bk_node *n)
{
	size_t bytes = n->id.len + n->parent.len + n->path.len + n->doc.len, i;

	bytes += n->link_count * sizeof(struct bk_link);
	for (i = 0; i < n->link_count; i++)
		bytes += n->links[i].rel.len + n->links[i].target.len;
	return bytes;
}

/* Room for `spare` more links is left at the end. */
static bool copy_node(struct bk_node *out, struct bk_scratch *to, const struct bk_node *from,
		      size_t spare)
{
	struct bk_link *links = NULL;
	size_t i;

	*out = *from;
	if (!bk_scratch_copy(&out->id, to, from->id) ||
	    !bk_scratch_copy(&out->parent, to, from->parent) ||
	    !bk_scratch_copy(&out->path, to, from->path) ||
	    !bk_scratch_copy(&out->doc, to, from->doc))
		return false;
	if (from->link_count + spare) {
		links = bk_scratch_alloc(to, (from->link_count + spare) * sizeof(*links));
		if (!links)
			return false;
	}
	for (i = 0; i < from->link_count; i++) {
		if (!bk_scratch_copy(&links[i].rel, to, from->links[i].rel) ||
		    !bk_scratch_copy(&links[i].target, to, from->links[i].target))
			return false;
	}
	out->links = links;
	return true;
}

static bk_status loop_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
				    const struct bk_slice *ids, size_t n, uint32_t want,
				    struct bk_error *err)
{
	const struct bk_pass_session *p = &s->pass;
	struct bk_error why; /* *err stays untouched where a node is merely absent */
	struct bk_node node;
	size_t i, bytes = 0;
	bk_status st;

	why.struct_size = sizeof(why);
	bk_scratch_reset(&s->views);
	for (i = 0; i < n; i++) {
		st = p->next->node.get(&node, p->s, ids[i], want, &why);
		if (st == BK_NOT_FOUND) {
			memset(&out[i], 0, sizeof(out[i]));
			continue;
		}
		if (st) {
			*err = why;
			return st;
		}
		bytes += view_bytes(&node);
		if (i && bytes > VIEWS_MAX)
			break;
		if (!copy_node(&out[i], &s->views, &node, 0))
			return no_memory(err);
	}
	*done = i;
	return BK_OK;
}

/* ---- put_many: put by put ---------------------------------------------- */

static bk_status loop_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				    uint32_t mode, struct bk_error *err)
{
	const struct bk_pass_session *p = &s->pass;
	bk_status st;
	size_t i;

	for (i = 0; i < n; i++) {
		st = p->next->node.put(p->s, &nodes[i], mode, err);
		if (st) {
			err->item = i;
			return st;
		}
	}
	return BK_OK;
}

/* ---- append: get, put -------------------------------------------------- */

/* Where the backend keeps versions nothing is lost between the two.  Where it does not, a change by
 * somebody else in between is overwritten, unless a transaction forbids it. */

static bk_status append_once(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			     const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	const struct bk_pass_session *p = &s->pass;
	struct bk_node old, node;
	char *doc;
	bk_status st;

	st = p->next->node.get(&old, p->s, id, BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, err);
	if (st)
		return st;
	/* What get gave lapses with put. */
	bk_scratch_reset(&s->views);
	if (!copy_node(&node, &s->views, &old, link_count))
		return no_memory(err);
	if (tail.len) {
		doc = bk_scratch_alloc(&s->views, old.doc.len + tail.len);
		if (!doc)
			return no_memory(err);
		if (old.doc.len)
			memcpy(doc, node.doc.data, old.doc.len);
		memcpy(doc + old.doc.len, tail.data, tail.len);
		node.doc = bk_slice_of(doc, old.doc.len + tail.len);
	}
	if (link_count)
		memcpy((struct bk_link *)node.links + node.link_count, links,
		       link_count * sizeof(*links));
	node.link_count += link_count; /* duplicates collapse in put */
	if (!s->store->versions)
		node.version = 0;
	return p->next->node.put(p->s, &node, BK_PUT_REPLACE, err);
}

static bk_status loop_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
				  const struct bk_link *links, size_t link_count,
				  struct bk_error *err)
{
	unsigned tries = s->store->versions && !s->in_txn ? APPEND_TRY : 1;
	struct bk_error why; /* *err stays untouched when a later try does it */
	bk_status st;

	why.struct_size = sizeof(why);
	do {
		st = append_once(s, id, tail, links, link_count, &why);
	} while (st == BK_CONFLICT && --tries);
	if (st)
		*err = why;
	return st;
}

static bk_status loop_txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
				struct bk_error *err)
{
	bk_status st = s->pass.next->txn.begin(s->pass.s, isolation, flags, err);

	if (!st)
		s->in_txn = true;
	return st;
}

static bk_status loop_txn_commit(struct bk_session *s, struct bk_error *err)
{
	s->in_txn = false; /* whatever it answers */
	return s->pass.next->txn.commit(s->pass.s, err);
}

static bk_status loop_txn_rollback(struct bk_session *s, struct bk_error *err)
{
	s->in_txn = false;
	return s->pass.next->txn.rollback(s->pass.s, err);
}

/* ---- Store, session ---------------------------------------------------- */

static bk_status loop_session_open(struct bk_session **out, struct bk_store *store,
				   const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s = calloc(1, sizeof(*s));
	bk_status st;

	if (!s)
		return no_memory(err);
	st = store->pass.next.session.open(&s->pass.s, store->pass.store, config, err);
	if (st) {
		free(s);
		return st;
	}
	s->pass.next = &store->pass.next;
	s->store = store;
	*out = s;
	return BK_OK;
}

static void loop_session_close(struct bk_session *s)
{
	if (!s)
		return;
	s->pass.next->session.close(s->pass.s);
	bk_scratch_free(&s->views);
	bk_loop_walk_free(s);
	free(s);
}

static void loop_store_close(struct bk_store *store)
{
	if (!store)
		return;
	store->pass.next.store.close(store->pass.store);
	free(store);
}

bk_status bk_layer_loop(struct bk_layered *io, struct bk_error *err)
{
	uint64_t all = io->native | io->emulated, missing = LOOPED & ~all;
	struct bk_tables *t = &io->tables;
	struct bk_store *store;

	if (!(all & BK_F_NODES) || !missing)
		return BK_OK;
	store = calloc(1, sizeof(*store));
	if (!store)
		return no_memory(err);
	store->pass.next = io->tables;
	store->pass.store = io->store;
	store->versions = all & BK_F_CAS;
	bk_pass_tables(t, &store->pass.next);
	t->store.close = loop_store_close;
	t->session.open = loop_session_open;
	t->session.close = loop_session_close;
	if (missing & BK_F_GET_MANY)
		t->node.get_many = loop_node_get_many;
	if (missing & BK_F_PUT_MANY)
		t->node.put_many = loop_node_put_many;
	if (missing & BK_F_APPEND) {
		t->node.append = loop_node_append;
		t->txn.begin = loop_txn_begin;
		t->txn.commit = loop_txn_commit;
		t->txn.rollback = loop_txn_rollback;
	}
	if (missing & BK_F_WALK) {
		t->node.walk_open = bk_loop_walk_open;
		t->node.walk_next = bk_loop_walk_next;
		t->node.walk_close = bk_loop_walk_close;
	}
	io->store = store;
	io->looped |= missing;
	return BK_OK;
}
