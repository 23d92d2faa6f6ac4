/*
 * Fault: abort keeps what was written.
 */
#include "sound.h"

static void bad_abort(struct bk_writer *w)
{
	struct bk_binary_info info;
	struct bk_error err = bk_error_init();

	if (!w->open)
		return;
	w->declared = w->bytes.len;
	w->mode = BK_PUT_UPSERT;
	snd_finish(w, &info, &err);
}

SND_BACKEND("bad-abort", "fault: abort keeps what was written", SND_STORE(), SND_SESSION(),
	    SND_TXN(), SND_NODE(), SND_BINARY(.abort = bad_abort));
