/*
 * Fault: the views of a page end with the next get.
 */
#include "sound.h"

static bk_status bad_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			 uint32_t want, struct bk_error *err)
{
	bk_status st = snd_get(out, s, id, want, err);

	/* the id that was asked for may itself be such a view: first answer, then spoil */
	if (s->cursor.open && s->cursor.bytes.len)
		memset(s->cursor.bytes.data, '#', s->cursor.bytes.len);
	return st;
}

SND_BACKEND("bad-views-pages", "fault: the views of a page end with the next get", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(.get = bad_get), SND_BINARY());
