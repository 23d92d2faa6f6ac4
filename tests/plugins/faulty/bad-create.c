/*
 * Fault: create replaces what is there.
 */
#include "sound.h"

static bk_status bad_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
				uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	if (mode == BK_PUT_CREATE)
		mode = BK_PUT_UPSERT;
	return snd_write_open(out, s, key, size_bytes, mode, err);
}

SND_BACKEND("bad-create", "fault: create replaces what is there", SND_STORE(), SND_SESSION(),
	    SND_TXN(), SND_NODE(), SND_BINARY(.write_open = bad_write_open));
