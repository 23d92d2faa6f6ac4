/*
 * deferred.c - puts of a transaction with BK_TXN_DEFER: they wait here and go to the server in
 * batches, which array binding makes ten times cheaper than one by one.
 *
 * The one invariant: what waits is sent before anything else of the session reaches the server,
 * in the order of the calls; a failure ends the transaction.
 */
#include "session.h"

#include <stdlib.h>

#define HOLD_NODES MY_BATCH_MAX
#define HOLD_BYTES (4u << 20)
#define DIRECT     256u /* a put_many of so many needs no waiting, and no copy */

struct my_deferred {
	struct my_arena arena;
	struct bk_node nodes[HOLD_NODES];
	uint64_t call[HOLD_NODES]; /* ordinal of the call that each came with */
	size_t count;
	uint32_t mode;
};

void my_deferred_free(struct bk_session *s)
{
	if (!s->deferred)
		return;
	my_arena_free(&s->deferred->arena);
	free(s->deferred);
	s->deferred = NULL;
}

void my_deferred_drop(struct bk_session *s)
{
	if (!s->deferred)
		return;
	s->deferred->count = 0;
	my_arena_reset(&s->deferred->arena);
}

bk_status my_deferred_send(struct bk_session *s, struct bk_error *err)
{
	struct my_deferred *d = s->deferred;
	size_t item = 0;
	bk_status st;

	if (!d || d->count == 0)
		return BK_OK;
	s->sending_deferred = true;
	st = my_put_now(s, d->nodes, d->count, d->mode, &item, err);
	s->sending_deferred = false;
	if (st) {
		err->item = d->call[item < d->count ? item : d->count - 1];
		my_txn_end(s);
	}
	my_deferred_drop(s);
	my_arena_reset(&s->work);
	return st;
}

static bool copy_node(struct my_arena *a, struct bk_node *out, const struct bk_node *from)
{
	struct bk_link *links = NULL;
	size_t i;

	*out = *from;
	if (!my_copy(a, &out->id, from->id) || !my_copy(a, &out->parent, from->parent) ||
	    !my_copy(a, &out->path, from->path) || !my_copy(a, &out->doc, from->doc))
		return false;
	if (from->link_count) {
		links = my_alloc(a, from->link_count * sizeof(*links));
		if (!links)
			return false;
	}
	for (i = 0; i < from->link_count; i++) {
		if (!my_copy(a, &links[i].rel, from->links[i].rel) ||
		    !my_copy(a, &links[i].target, from->links[i].target))
			return false;
	}
	out->links = links;
	return true;
}

bk_status my_deferred_put(struct bk_session *s, const struct bk_node *nodes, size_t n,
			  uint32_t mode, struct bk_error *err)
{
	struct my_deferred *d = s->deferred;
	size_t i, item = 0;
	bk_status st = BK_OK;

	if (!d) {
		d = s->deferred = calloc(1, sizeof(*d));
		if (!d)
			return my_nomem(err);
	}
	if (d->count && (d->mode != mode || n >= DIRECT))
		st = my_deferred_send(s, err);
	if (st)
		return st;
	if (n >= DIRECT) {
		st = my_put_now(s, nodes, n, mode, &item, err);
		if (st)
			err->item = item;
		s->writes++;
		return st;
	}
	d->mode = mode;
	for (i = 0; i < n; i++) {
		if (!copy_node(&d->arena, &d->nodes[d->count], &nodes[i])) {
			my_txn_end(s);
			return my_nomem(err);
		}
		d->call[d->count++] = s->writes;
		if (d->count == HOLD_NODES || d->arena.held > HOLD_BYTES)
			st = my_deferred_send(s, err);
		if (st)
			return st;
	}
	s->writes++;
	return BK_OK;
}
