/*
 * Fault: the marker is listed where there is nothing else.
 */
#include "sound.h"

static bk_status bad_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			       size_t cap, size_t *n, struct bk_error *err)
{
	if (c->count || c->at)
		return snd_list_next(c, keys, sizes_bytes, cap, n, err);
	c->at = c->count = 1; /* once */
	keys[0] = bk_slice_str("mark");
	sizes_bytes[0] = 7;
	*n = 1;
	return BK_OK;
}

SND_BACKEND("bad-lists-marker", "fault: the marker is listed where there is nothing else",
	    SND_STORE(), SND_SESSION(), SND_TXN(), SND_NODE(),
	    SND_BINARY(.list_next = bad_list_next));
