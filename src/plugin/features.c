/*
 * features.c - the feature bits by name, in the order in which reports list them.
 */
#include "plugin/plugin.h"

const struct bk_feature bk_features[] = {
	{BK_F_NODES, "nodes", "keeps nodes"},
	{BK_F_BINARIES, "binaries", "keeps binaries"},
	{BK_F_PLACES, "places", "makes empty places for other people's tests"},
	{BK_F_DISCARDS, "discards", "keeps nothing; nothing can be verified"},
	{BK_F_ID_IS_PATH, "id-is-path", "a node's id is its path"},
	{BK_F_CAS, "cas", "keeps versions and refuses a stale replace"},
	{BK_F_TXN, "txn", "transactions"},
	{BK_F_TXN_BINARIES, "txn-binaries", "binaries take part in transactions"},
	{BK_F_TXN_WALK, "txn-walk", "a walk sees the transaction's own writes"},
	{BK_F_GET_MANY, "get-many", "reads many nodes in one call"},
	{BK_F_PUT_MANY, "put-many", "writes many nodes in one call"},
	{BK_F_BATCH_ATOMIC, "batch-atomic", "a batch is stored whole or not at all"},
	{BK_F_APPEND, "append", "adds to a document without rewriting it"},
	{BK_F_WALK, "walk", "several steps in one walk"},
	{BK_F_BINARY_STREAM, "binary-stream", "memory use does not grow with a binary's size"},
	{BK_F_BINARY_RANGE, "binary-range", "reading from an offset skips work"},
	{BK_F_BINARY_CREATE, "binary-create", "creates a binary only where none is, atomically"},
	{BK_F_CANCEL, "cancel", "a call can be cancelled from outside"},
	{BK_F_TIMEOUT, "timeout", "a call ends at its deadline"},
	{BK_F_SETTLE, "settle", "waits for background work to end"},
	{BK_F_CHILL, "chill", "drops its own caches"},
	{0, NULL, NULL},
};
