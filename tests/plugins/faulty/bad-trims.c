/*
 * Fault: a path and the same path with a space behind it are one.
 */
#include "sound.h"

static struct bk_slice trim(struct bk_slice path)
{
	while (path.len > 1 && ((const char *)path.data)[path.len - 1] == ' ')
		path.len--;
	return path;
}

static bk_status bad_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			  struct bk_error *err)
{
	return snd_find_op(id_out, s, trim(path), err);
}

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	struct bk_node trimmed = *node;

	trimmed.path = trim(node->path);
	return snd_put(s, &trimmed, mode, err);
}

SND_BACKEND("bad-trims", "fault: a path and the same path with a space behind it are one",
	    SND_STORE(), SND_SESSION(), SND_TXN(), SND_NODE(.put = bad_put, .find = bad_find),
	    SND_BINARY());
