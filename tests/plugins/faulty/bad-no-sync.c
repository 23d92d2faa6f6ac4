/*
 * Fault: at durability machine nothing is synced.
 */
#include "sound.h"

static bk_status bad_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	bk_status st = snd_session_open(out, store, config, err);

	if (st == BK_OK)
		(*out)->durability = BK_DURABLE_NONE;
	return st;
}

SND_BACKEND("bad-no-sync", "fault: at durability machine nothing is synced", SND_STORE(),
	    SND_SESSION(.open = bad_session_open), SND_TXN(), SND_NODE(), SND_BINARY());
