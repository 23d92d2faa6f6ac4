/*
 * bk-sound-binaries.so: binaries and no nodes, as an object store has it.
 */
#include "sound.h"

#define FEATURES (BK_F_BINARIES | BK_F_BINARY_RANGE)

SND_FEATURES_ARE(FEATURES);

static bk_status plain_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
				  uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	if (mode == BK_PUT_CREATE)
		return bk_fail(err, BK_UNSUPPORTED, 0, "create where none is");
	return snd_write_open(out, s, key, size_bytes, mode, err);
}

static const struct bk_store_ops the_store =
	SND_STORE(.features = my_features, .settle = NULL, .chill = NULL);
static const struct bk_session_ops the_session = SND_SESSION();
static const struct bk_binary_ops the_binary = SND_BINARY(.write_open = plain_write_open);

SND_DESCRIPTOR("sound-binaries", "keeps the contract, for binaries only", FEATURES,
	       BK_THREADS_SERIAL, NULL, NULL, &the_binary);
