/*
 * Fault: an append is logged in two halves.
 */
#include "sound.h"
#include <unistd.h>

static bk_status bad_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			    const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	size_t half = tail.len / 2;
	bk_status st = snd_append(s, id, bk_slice_of(tail.data, half), NULL, 0, err);

	if (st != BK_OK)
		return st;
	usleep(2000); /* long enough to be killed in */
	return snd_append(s, id, bk_slice_of((const char *)tail.data + half, tail.len - half),
			  links, link_count, err);
}

SND_BACKEND("bad-torn-append", "fault: an append is logged in two halves", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.append = bad_append), SND_BINARY());
