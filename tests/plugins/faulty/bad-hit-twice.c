/*
 * Fault: the last hit of a page comes again in the next.
 */
#include "sound.h"

static bk_status bad_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			       struct bk_error *err)
{
	if (cap > 2 && c->at > 2 && c->at < c->count)
		c->at--;
	return snd_walk_next(c, out, cap, n, err);
}

SND_BACKEND("bad-hit-twice", "fault: the last hit of a page comes again in the next", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.walk_next = bad_walk_next), SND_BINARY());
