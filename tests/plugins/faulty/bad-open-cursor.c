/*
 * Fault: commit with a cursor open goes well.
 */
#include "sound.h"

static bk_status bad_commit(struct bk_session *s, struct bk_error *err)
{
	bool open = s->cursor.open;
	bk_status st;

	s->cursor.open = false;
	st = snd_commit(s, err);
	s->cursor.open = open;
	return st;
}

SND_BACKEND("bad-open-cursor", "fault: commit with a cursor open goes well", SND_STORE(),
	    SND_SESSION(), SND_TXN(.commit = bad_commit), SND_NODE(), SND_BINARY());
