/*
 * Fault: append forgets the links that the node had.
 */
#include "sound.h"

static bk_status bad_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			    const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	bk_status st = snd_append(s, id, tail, links, link_count, err);
	struct snd_record *r = snd_find(snd_seen(s), id, false);
	struct bk_node node;

	if (st != BK_OK || link_count == 0)
		return st;
	node = r->node;
	node.links = links;
	node.link_count = link_count;
	return snd_put(s, &node, BK_PUT_REPLACE, err);
}

SND_BACKEND("bad-append-links", "fault: append forgets the links that the node had", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.append = bad_append), SND_BINARY());
