/*
 * Fault: read_open from beyond the end writes its out-parameter.
 */
#include "sound.h"

static bk_status bad_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			       uint64_t offset, uint64_t len, struct bk_binary_info *info,
			       struct bk_error *err)
{
	bk_status st = snd_read_open(out, s, key, offset, len, info, err);

	if (st == BK_INVALID)
		info->size_bytes = 0;
	return st;
}

SND_BACKEND("bad-writes-out", "fault: read_open from beyond the end writes its out-parameter",
	    SND_STORE(), SND_SESSION(), SND_TXN(), SND_NODE(),
	    SND_BINARY(.read_open = bad_read_open));
