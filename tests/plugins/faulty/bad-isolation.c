/*
 * Fault: a weaker isolation is put in force than was wanted.
 */
#include "sound.h"

static bk_status bad_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
			   struct bk_error *err)
{
	bk_status st = snd_begin(s, isolation, flags, err);

	if (st == BK_OK)
		*isolation = BK_ISO_READ_COMMITTED;
	return st;
}

SND_BACKEND("bad-isolation", "fault: a weaker isolation is put in force than was wanted",
	    SND_STORE(), SND_SESSION(), SND_TXN(.begin = bad_begin), SND_NODE(), SND_BINARY());
