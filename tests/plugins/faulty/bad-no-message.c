/*
 * Fault: remove of a node that is not there fails without a message.
 */
#include "sound.h"

static bk_status bad_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	bk_status st = snd_remove(s, id, err);

	if (st == BK_NOT_FOUND)
		err->message[0] = '\0';
	return st;
}

SND_BACKEND("bad-no-message", "fault: remove of a node that is not there fails without a message",
	    SND_STORE(), SND_SESSION(), SND_TXN(), SND_NODE(.remove = bad_remove), SND_BINARY());
