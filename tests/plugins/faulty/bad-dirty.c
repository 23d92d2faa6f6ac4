/*
 * Fault: what a transaction writes is there for everybody at once.
 */
#include "sound.h"

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	bk_status st = snd_put(s, node, mode, err);

	if (st == BK_OK && s->in_txn)
		snd_set(&s->store->state, snd_record_new(node, false, ++s->store->version));
	return st;
}

SND_BACKEND("bad-dirty", "fault: what a transaction writes is there for everybody at once",
	    SND_STORE(), SND_SESSION(), SND_TXN(), SND_NODE(.put = bad_put), SND_BINARY());
