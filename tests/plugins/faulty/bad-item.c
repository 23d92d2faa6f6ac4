/*
 * Fault: put_many names the node after the one that failed.
 */
#include "sound.h"

static bk_status bad_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			      uint32_t mode, struct bk_error *err)
{
	bk_status st = snd_put_many(s, nodes, n, mode, err);

	if (st != BK_OK && err->item + 1 < n)
		err->item++;
	return st;
}

SND_BACKEND("bad-item", "fault: put_many names the node after the one that failed", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.put_many = bad_put_many), SND_BINARY());
