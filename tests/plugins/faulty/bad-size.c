/*
 * Fault: finish does not compare the size that was told.
 */
#include "sound.h"

static bk_status bad_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err)
{
	w->declared = BK_SIZE_UNKNOWN;
	return snd_finish(w, info, err);
}

SND_BACKEND("bad-size", "fault: finish does not compare the size that was told", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(), SND_BINARY(.finish = bad_finish));
