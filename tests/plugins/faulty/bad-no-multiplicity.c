/*
 * Fault: a node that a walk reaches in several ways comes once.
 */
#include "sound.h"

static bk_status bad_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			       const struct bk_step *steps, size_t n_steps, uint32_t want,
			       struct bk_error *err)
{
	bk_status st = snd_walk_open(out, s, start, steps, n_steps, want, err);
	struct bk_cursor *c = &s->cursor;
	size_t i, k, n = 0;

	if (st != BK_OK || n_steps == 1)
		return st;
	for (i = 0; i < c->count; i++) {
		for (k = 0; k < n && !bk_slice_eq(c->hits[k].id, c->hits[i].id); k++)
			;
		if (k == n)
			c->hits[n++] = c->hits[i];
	}
	c->count = n;
	return BK_OK;
}

SND_BACKEND("bad-no-multiplicity", "fault: a node that a walk reaches in several ways comes once",
	    SND_STORE(), SND_SESSION(), SND_TXN(), SND_NODE(.walk_open = bad_walk_open),
	    SND_BINARY());
