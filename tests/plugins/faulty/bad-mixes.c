/*
 * Fault: a reader looks its key up at every read, and so goes on in what has replaced it.
 */
#include "sound.h"

#include <stddef.h>

static bk_status bad_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
			  struct bk_error *err)
{
	const struct bk_session *s =
		(const struct bk_session *)((const char *)r - offsetof(struct bk_session, reader));
	struct bk_reader now = *r;
	bk_status st;

	now.r = snd_find(snd_seen(s), r->r->node.id, true);
	if (!now.r)
		return bk_fail(err, BK_NOT_FOUND, 0, "the binary is gone");
	if (now.end > now.r->node.doc.len)
		now.end = now.r->node.doc.len;
	if (now.at > now.end)
		now.at = now.end;
	st = snd_read(&now, buf, cap, n, err);
	r->at = now.at;
	return st;
}

SND_BACKEND("bad-mixes", "fault: a reader goes on in what has replaced its binary", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(), SND_BINARY(.read = bad_read));
