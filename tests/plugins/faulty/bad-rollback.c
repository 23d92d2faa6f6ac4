/*
 * Fault: rollback commits.
 */
#include "sound.h"

static bk_status bad_rollback(struct bk_session *s, struct bk_error *err)
{
	return snd_commit(s, err);
}

SND_BACKEND("bad-rollback", "fault: rollback commits", SND_STORE(), SND_SESSION(),
	    SND_TXN(.rollback = bad_rollback), SND_NODE(), SND_BINARY());
