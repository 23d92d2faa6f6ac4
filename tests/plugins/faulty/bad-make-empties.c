/*
 * Fault: make where it is made already empties the store.
 */
#include "sound.h"

static bk_status bad_make(struct bk_store *store, struct bk_error *err)
{
	bk_status st = snd_make(store, err);

	return st == BK_OK ? snd_clear(store, err) : st;
}

SND_BACKEND("bad-make-empties", "fault: make where it is made already empties the store",
	    SND_STORE(.make = bad_make), SND_SESSION(), SND_TXN(), SND_NODE(), SND_BINARY());
