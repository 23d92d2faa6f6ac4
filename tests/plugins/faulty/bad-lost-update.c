/*
 * Fault: a commit does not look at what others have committed.
 */
#include "sound.h"

static bk_status bad_commit(struct bk_session *s, struct bk_error *err)
{
	s->commits_at_begin = s->store->commits;
	return snd_commit(s, err);
}

SND_BACKEND("bad-lost-update", "fault: a commit does not look at what others have committed",
	    SND_STORE(), SND_SESSION(), SND_TXN(.commit = bad_commit), SND_NODE(), SND_BINARY());
