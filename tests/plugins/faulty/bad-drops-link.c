/*
 * Fault: of four or more links of a node the last one is not stored.
 */
#include "sound.h"

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	struct bk_node less = *node;

	if (less.link_count > 3)
		less.link_count--;
	return snd_put(s, &less, mode, err);
}

SND_BACKEND("bad-drops-link", "fault: of four or more links of a node the last one is not stored",
	    SND_STORE(), SND_SESSION(), SND_TXN(), SND_NODE(.put = bad_put), SND_BINARY());
