/*
 * Fault: it takes over SIGPIPE.
 */
#include "sound.h"
#include <signal.h>

static bk_status bad_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	signal(SIGPIPE, SIG_IGN);
	return snd_session_open(out, store, config, err);
}

SND_BACKEND("bad-signals", "fault: it takes over SIGPIPE", SND_STORE(),
	    SND_SESSION(.open = bad_session_open), SND_TXN(), SND_NODE(), SND_BINARY());
