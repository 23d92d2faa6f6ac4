/*
 * bk-sound-paths.so: the id of a node is its path, as in a repository over HTTP.
 */
#include "sound.h"

#define FEATURES (SND_FEATURES | BK_F_ID_IS_PATH)

SND_FEATURES_ARE(FEATURES);

static bk_status check(const struct bk_node *node, struct bk_error *err)
{
	if (!bk_slice_eq(node->id, node->path))
		return bk_fail(err, BK_INVALID, 0, "the id is not the path");
	return BK_OK;
}

static bk_status paths_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			   struct bk_error *err)
{
	bk_status st = check(node, err);

	return st == BK_OK ? snd_put(s, node, mode, err) : st;
}

static bk_status paths_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				uint32_t mode, struct bk_error *err)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (check(&nodes[i], err) != BK_OK) {
			err->item = i;
			return BK_INVALID;
		}
	}
	return snd_put_many(s, nodes, n, mode, err);
}

static const struct bk_store_ops the_store = SND_STORE(.features = my_features);
static const struct bk_session_ops the_session = SND_SESSION();
static const struct bk_txn_ops the_txn = SND_TXN();
static const struct bk_node_ops the_node = SND_NODE(.put = paths_put, .put_many = paths_put_many);
static const struct bk_binary_ops the_binary = SND_BINARY();

SND_DESCRIPTOR("sound-paths", "keeps the contract; the id of a node is its path", FEATURES,
	       BK_THREADS_SERIAL, &the_txn, &the_node, &the_binary);
