/*
 * Fault: views of all sessions share one buffer.
 */
#include "sound.h"

static char shared[4096]; /* a mutable static, which is the fault */

static bk_status bad_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			  struct bk_error *err)
{
	bk_status st = snd_find_op(id_out, s, path, err);

	if (st == BK_OK && id_out->len <= sizeof(shared)) {
		memcpy(shared, id_out->data, id_out->len);
		id_out->data = shared;
	}
	return st;
}

static bk_status bad_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			 uint32_t want, struct bk_error *err)
{
	bk_status st = snd_get(out, s, id, want, err);

	if (st == BK_OK && out->doc.len && out->doc.len <= sizeof(shared)) {
		memcpy(shared, out->doc.data, out->doc.len);
		out->doc.data = shared;
	}
	return st;
}

SND_BACKEND("bad-stale-view", "fault: views of all sessions share one buffer", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.find = bad_find, .get = bad_get), SND_BINARY());
