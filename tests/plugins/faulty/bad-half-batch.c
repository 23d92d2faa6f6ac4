/*
 * Fault: a batch that fails leaves the nodes before the failing one, though batches are said to be
 * atomic.
 */
#include "sound.h"

static bk_status bad_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			      uint32_t mode, struct bk_error *err)
{
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; st == BK_OK && i < n; i++) {
		st = snd_put(s, &nodes[i], mode, err);
		if (st != BK_OK)
			err->item = i;
	}
	return st;
}

SND_BACKEND(
	"bad-half-batch",
	"fault: a batch that fails leaves the nodes before the failing one, though batches are said to be atomic",
	SND_STORE(), SND_SESSION(), SND_TXN(), SND_NODE(.put_many = bad_put_many), SND_BINARY());
