/*
 * Fault: inspect uses names and units that are none.
 */
#include "sound.h"

static bk_status bad_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			     struct bk_error *err)
{
	sink->put_u64(sink->ctx, "Storage Size", 1, "kB", 0);
	return snd_inspect(store, what, sink, err);
}

SND_BACKEND("bad-inspect", "fault: inspect uses names and units that are none",
	    SND_STORE(.inspect = bad_inspect), SND_SESSION(), SND_TXN(), SND_NODE(), SND_BINARY());
