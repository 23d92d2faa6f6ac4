/*
 * Fault: a counter goes back.
 */
#include "sound.h"

static void bad_counters(struct bk_session *s, const struct bk_sink *sink)
{
	sink->put_u64(sink->ctx, "requests", UINT64_MAX - s->requests, "count", 0);
}

SND_BACKEND("bad-counters", "fault: a counter goes back", SND_STORE(),
	    SND_SESSION(.counters = bad_counters), SND_TXN(), SND_NODE(), SND_BINARY());
