/*
 * Fault: append writes to err although it succeeds.
 */
#include "sound.h"

static bk_status bad_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			    const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	err->message[0] = '\0';
	return snd_append(s, id, tail, links, link_count, err);
}

SND_BACKEND("bad-touches-err", "fault: append writes to err although it succeeds", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.append = bad_append), SND_BINARY());
