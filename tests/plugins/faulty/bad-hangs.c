/*
 * Fault: settle never ends.
 */
#include "sound.h"
#include <unistd.h>

static bk_status bad_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	for (;;)
		pause();
	return BK_OK;
}

SND_BACKEND("bad-hangs", "fault: settle never ends", SND_STORE(.settle = bad_settle), SND_SESSION(),
	    SND_TXN(), SND_NODE(), SND_BINARY());
