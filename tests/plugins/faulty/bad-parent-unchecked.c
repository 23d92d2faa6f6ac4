/*
 * Fault: a parent need not exist.
 */
#include "sound.h"

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	struct bk_node orphan = *node;
	bk_status st;

	if (!node->parent.len || snd_find(snd_seen(s), node->parent, false) ||
	    snd_find(snd_seen(s), node->id, false))
		return snd_put(s, node, mode, err);
	orphan.parent = bk_slice_of(NULL, 0);
	st = snd_put(s, &orphan, mode, err);
	if (st == BK_OK)
		st = snd_write_begin(s, err);
	if (st != BK_OK)
		return st;
	snd_change_set(s, node, false);
	return snd_write_end(s, BK_OK, err);
}

SND_BACKEND("bad-parent-unchecked", "fault: a parent need not exist", SND_STORE(), SND_SESSION(),
	    SND_TXN(), SND_NODE(.put = bad_put), SND_BINARY());
