/*
 * Fault: remove of a node that is not there crashes.
 */
#include "sound.h"
#include <signal.h>

static bk_status bad_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	if (!snd_find(snd_seen(s), id, false))
		raise(SIGSEGV);
	return snd_remove(s, id, err);
}

SND_BACKEND("bad-crashes", "fault: remove of a node that is not there crashes", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.remove = bad_remove), SND_BINARY());
