/*
 * Fault: it prints when a session is opened.
 */
#include "sound.h"

static bk_status bad_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	fprintf(stderr, "connected to %s\n", store->dir);
	return snd_session_open(out, store, config, err);
}

SND_BACKEND("bad-prints", "fault: it prints when a session is opened", SND_STORE(),
	    SND_SESSION(.open = bad_session_open), SND_TXN(), SND_NODE(), SND_BINARY());
