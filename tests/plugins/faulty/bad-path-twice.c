/*
 * Fault: two nodes may have one path.
 */
#include "sound.h"

/* Puts the node elsewhere, then moves it to where it must not be. */
static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	struct bk_node moved = *node;
	bk_status st;

	if (!snd_find_path(snd_seen(s), node->path) || snd_find(snd_seen(s), node->id, false))
		return snd_put(s, node, mode, err);
	moved.path = node->id;
	st = snd_put(s, &moved, mode, err);
	if (st == BK_OK)
		st = snd_write_begin(s, err);
	if (st != BK_OK)
		return st;
	snd_change_set(s, node, false);
	return snd_write_end(s, BK_OK, err);
}

SND_BACKEND("bad-path-twice", "fault: two nodes may have one path", SND_STORE(), SND_SESSION(),
	    SND_TXN(), SND_NODE(.put = bad_put), SND_BINARY());
