/*
 * Fault: every session leaves a descriptor open.
 */
#include "sound.h"
#include <fcntl.h>

static bk_status bad_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	bk_status st = snd_session_open(out, store, config, err);
	int fd = st == BK_OK ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

	return fd == -2 ? BK_INTERNAL : st;
}

SND_BACKEND("bad-leaks-fd", "fault: every session leaves a descriptor open", SND_STORE(),
	    SND_SESSION(.open = bad_session_open), SND_TXN(), SND_NODE(), SND_BINARY());
