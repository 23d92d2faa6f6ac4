/*
 * pass.h - what every layer is made of: a store and sessions that hand calls to the layer beneath.
 *
 * The one invariant: a layer's own struct bk_store begins with a struct bk_pass_store, and its
 * struct bk_session with a struct bk_pass_session, so that the functions here can be in its tables.
 */
#ifndef BK_LAYER_PASS_H
#define BK_LAYER_PASS_H

#include "layer/layer.h"

struct bk_pass_store {
	struct bk_tables next; /* of the layer beneath */
	struct bk_store *store;
};

struct bk_pass_session {
	const struct bk_tables *next;
	struct bk_session *s;
};

/* Tables in which every operation that takes a store or a session goes straight to the layer
 * beneath, and every one that takes a cursor, reader or writer is the lower layer's own: those
 * handles are not wrapped.  session.open and store.close are for the layer to fill in. */
void bk_pass_tables(struct bk_tables *out, const struct bk_tables *next);

#endif
