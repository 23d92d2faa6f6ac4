/*
 * Fault: a node with children can be removed.
 */
#include "sound.h"

/* As if the first try had not been. */
static void bk_test_arm_again(struct bk_error *err)
{
	memset(err, 0xa5, sizeof(*err));
	err->struct_size = sizeof(*err);
}

static bk_status bad_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	bk_status st = snd_remove(s, id, err);

	if (st != BK_IN_USE)
		return st;
	bk_test_arm_again(err);
	st = snd_write_begin(s, err);
	if (st != BK_OK)
		return st;
	snd_change_unset(s, id, false);
	return snd_write_end(s, BK_OK, err);
}

SND_BACKEND("bad-orphans", "fault: a node with children can be removed", SND_STORE(), SND_SESSION(),
	    SND_TXN(), SND_NODE(.remove = bad_remove), SND_BINARY());
