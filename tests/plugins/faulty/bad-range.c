/*
 * Fault: a range has one byte too many.
 */
#include "sound.h"

static bk_status bad_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			       uint64_t offset, uint64_t len, struct bk_binary_info *info,
			       struct bk_error *err)
{
	if (len > 0 && len < 1000000)
		len++;
	return snd_read_open(out, s, key, offset, len, info, err);
}

SND_BACKEND("bad-range", "fault: a range has one byte too many", SND_STORE(), SND_SESSION(),
	    SND_TXN(), SND_NODE(), SND_BINARY(.read_open = bad_read_open));
