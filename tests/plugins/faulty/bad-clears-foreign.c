/*
 * Fault: clear does not look at the mark.
 */
#include "sound.h"

static bk_status bad_clear(struct bk_store *store, struct bk_error *err)
{
	bk_status st;

	store->no_mark_check = true;
	st = snd_clear(store, err);
	store->no_mark_check = false;
	return st;
}

SND_BACKEND("bad-clears-foreign", "fault: clear does not look at the mark",
	    SND_STORE(.clear = bad_clear), SND_SESSION(), SND_TXN(), SND_NODE(), SND_BINARY());
