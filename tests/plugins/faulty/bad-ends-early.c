/*
 * Fault: a walk ends after 200 hits.
 */
#include "sound.h"

static bk_status bad_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			       struct bk_error *err)
{
	if (c->at >= 200) {
		*n = 0;
		return BK_END;
	}
	return snd_walk_next(c, out, cap, n, err);
}

SND_BACKEND("bad-ends-early", "fault: a walk ends after 200 hits", SND_STORE(), SND_SESSION(),
	    SND_TXN(), SND_NODE(.walk_next = bad_walk_next), SND_BINARY());
