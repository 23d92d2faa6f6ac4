/*
 * Fault: ids end at their first zero byte.
 */
#include "sound.h"

static struct bk_slice cut(struct bk_slice id)
{
	const char *nul = id.len ? memchr(id.data, '\0', id.len) : NULL;

	if (nul && nul > (const char *)id.data)
		id.len = (size_t)(nul - (const char *)id.data);
	return id;
}

static bk_status bad_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			 uint32_t want, struct bk_error *err)
{
	return snd_get(out, s, cut(id), want, err);
}

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	struct bk_node shorter = *node;

	shorter.id = cut(node->id);
	return snd_put(s, &shorter, mode, err);
}

SND_BACKEND("bad-cut-at-nul", "fault: ids end at their first zero byte", SND_STORE(), SND_SESSION(),
	    SND_TXN(), SND_NODE(.put = bad_put, .get = bad_get), SND_BINARY());
