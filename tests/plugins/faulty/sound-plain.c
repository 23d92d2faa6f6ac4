/*
 * bk-sound-plain.so: nodes with nothing but what is required, one session at a time.  bakeoff's
 * loops do the rest.
 */
#include "sound.h"

#define FEATURES BK_F_NODES

SND_FEATURES_ARE(FEATURES);

/* No versions are kept. */
static bk_status plain_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			   uint32_t want, struct bk_error *err)
{
	bk_status st = snd_get(out, s, id, want, err);

	if (st == BK_OK)
		out->version = 0;
	return st;
}

static bk_status plain_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			   struct bk_error *err)
{
	struct bk_node blind = *node;

	blind.version = 0;
	return snd_put(s, &blind, mode, err);
}

static bk_status plain_walk_open(struct bk_cursor **out, struct bk_session *s,
				 struct bk_slice start, const struct bk_step *steps, size_t n_steps,
				 uint32_t want, struct bk_error *err)
{
	if (n_steps > 1)
		return bk_fail(err, BK_UNSUPPORTED, 0, "a walk of several steps");
	return snd_walk_open(out, s, start, steps, n_steps, want, err);
}

static const struct bk_store_ops the_store =
	SND_STORE(.features = my_features, .settle = NULL, .chill = NULL);
static const struct bk_session_ops the_session = SND_SESSION();
static const struct bk_node_ops the_node =
	SND_NODE(.get = plain_get, .put = plain_put, .walk_open = plain_walk_open, .get_many = NULL,
		 .put_many = NULL, .append = NULL);

SND_DESCRIPTOR("sound-plain", "keeps the contract, and offers nothing that is optional", FEATURES,
	       BK_THREADS_SINGLE, NULL, &the_node, NULL);
