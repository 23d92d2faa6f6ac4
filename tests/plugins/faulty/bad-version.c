/*
 * Fault: a replacement does not look at the version.
 */
#include "sound.h"

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	struct bk_node blind = *node;

	blind.version = 0;
	return snd_put(s, &blind, mode, err);
}

SND_BACKEND("bad-version", "fault: a replacement does not look at the version", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.put = bad_put), SND_BINARY());
