/*
 * Fault: a walk reaches targets that are not there.
 */
#include "sound.h"

/* What the links of the start say is believed, for a walk of one step. */
static bk_status bad_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			       const struct bk_step *steps, size_t n_steps, uint32_t want,
			       struct bk_error *err)
{
	struct snd_record *r = snd_find(snd_seen(s), start, false);
	bk_status st = snd_walk_open(out, s, start, steps, n_steps, want, err);
	struct bk_cursor *c = &s->cursor;
	size_t i;

	if (st != BK_OK || n_steps != 1 || steps->dir != BK_OUT || !r)
		return st;
	for (i = 0; i < r->node.link_count && c->count < c->cap; i++) {
		const struct bk_link *link = &r->node.links[i];

		if (snd_find(snd_seen(s), link->target, false) ||
		    (steps->rel.len && !bk_slice_eq(steps->rel, link->rel)))
			continue;
		memset(&c->hits[c->count], 0, sizeof(*c->hits));
		c->hits[c->count].id = link->target;
		c->hits[c->count++].rel = link->rel;
	}
	return BK_OK;
}

SND_BACKEND("bad-dangling", "fault: a walk reaches targets that are not there", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.walk_open = bad_walk_open), SND_BINARY());
