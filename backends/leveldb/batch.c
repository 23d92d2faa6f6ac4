/*
 * batch.c - put_many: one WriteBatch for all nodes of a call, all or none.
 *
 * The database does not know yet what earlier nodes of the call add, so their ids and paths stand
 * in a hash table over the caller's own array.  A call that names one id twice is rare; it goes
 * through an overlay instead, where each node sees the one before.
 */
#include "ldb.h"

#include <stdlib.h>

#define AHEAD 8u

struct seen_slot {
	uint32_t node; /* index + 1; 0: empty */
	uint32_t hash;
};

struct ldb_seen {
	const struct bk_node *nodes;
	struct seen_slot *slots; /* ids, then paths */
	size_t cap;              /* of each; a power of two */
	size_t mask;
	size_t at;         /* the node that is being put */
	bool path_repeats; /* its path stands earlier in the call */
};

static struct ldb_seen *seen_start(struct bk_session *s, const struct bk_node *nodes, size_t n)
{
	struct ldb_seen *seen = s->seen_kept;
	size_t want = 64;

	while (want < 2 * n)
		want *= 2;
	if (!seen) {
		seen = calloc(1, sizeof(*seen));
		if (!seen)
			return NULL;
		s->seen_kept = seen;
	}
	if (seen->cap < want) {
		struct seen_slot *slots = realloc(seen->slots, 2 * want * sizeof(*slots));

		if (!slots)
			return NULL;
		seen->slots = slots;
		seen->cap = want;
	}
	seen->mask = want - 1;
	seen->nodes = nodes;
	memset(seen->slots, 0, 2 * want * sizeof(*seen->slots));
	return seen;
}

void ldb_seen_free(struct ldb_seen *seen)
{
	if (seen)
		free(seen->slots);
	free(seen);
}

/* The slot that holds the name, or the empty one where it belongs. */
static inline struct seen_slot *seen_slot(const struct ldb_seen *seen, char tag,
					  struct bk_slice name, uint64_t hash)
{
	struct seen_slot *slots = seen->slots + (tag == LDB_KEY_PATH ? seen->mask + 1 : 0);
	size_t at;

	for (at = (hash >> 32) & seen->mask; slots[at].node; at = (at + 1) & seen->mask) {
		const struct bk_node *node = &seen->nodes[slots[at].node - 1];

		if (slots[at].hash == (uint32_t)hash &&
		    bk_slice_eq(tag == LDB_KEY_PATH ? node->path : node->id, name))
			break;
	}
	return &slots[at];
}

/* Was it seen before?  It is now. */
static inline bool seen_claim(struct ldb_seen *seen, char tag, struct bk_slice name, uint64_t hash)
{
	struct seen_slot *slot = seen_slot(seen, tag, name, hash);

	if (slot->node)
		return true;
	slot->node = (uint32_t)seen->at + 1;
	slot->hash = (uint32_t)hash;
	return false;
}

bool ldb_seen_before(const struct ldb_seen *seen, struct bk_slice id, uint64_t hash)
{
	const struct seen_slot *slot = seen_slot(seen, LDB_KEY_NODE, id, hash);

	return slot->node && slot->node <= seen->at; /* itself is not before itself */
}

bool ldb_seen_path(const struct ldb_seen *seen)
{
	return seen->path_repeats;
}

/* Hashes are computed a few nodes ahead, so that the filter's memory is there when it is asked. */
static struct ldb_hashes look_ahead(struct bk_session *s, const struct bk_node *node)
{
	struct ldb_hashes hashes = ldb_hashes_of(node);

	ldb_absent_prefetch(&s->store->absent, hashes.id);
	ldb_absent_prefetch(&s->store->absent, hashes.path);
	return hashes;
}

static bool is_repeated(struct ldb_seen *seen, size_t at, struct ldb_hashes hashes)
{
	const struct bk_node *node = &seen->nodes[at];

	seen->at = at;
	seen->path_repeats = seen_claim(seen, LDB_KEY_PATH, node->path, hashes.path);
	return seen_claim(seen, LDB_KEY_NODE, node->id, hashes.id);
}

static bk_status put_each(struct bk_session *s, const struct bk_node *nodes, size_t n,
			  uint32_t mode, bool *repeats, struct bk_error *err)
{
	struct ldb_hashes ahead[AHEAD], hashes;
	char text[LDB_NAME_TEXT];
	bk_status status = BK_OK;
	size_t i;

	for (i = 0; i < n && i < AHEAD; i++)
		ahead[i] = look_ahead(s, &nodes[i]);
	for (i = 0; i < n && status == BK_OK; i++) {
		hashes = ahead[i % AHEAD];
		if (i + AHEAD < n)
			ahead[i % AHEAD] = look_ahead(s, &nodes[i + AHEAD]);
		if (s->seen && is_repeated(s->seen, i, hashes)) {
			if (mode & BK_PUT_REPLACE) {
				*repeats = true;
				return BK_OK;
			}
			status = bk_fail(err, BK_EXISTS, 0, "id '%s' is taken",
					 ldb_name(text, nodes[i].id));
		} else {
			status = ldb_apply_put(s, &nodes[i], hashes, mode, err);
		}
		if (status != BK_OK)
			err->item = i;
	}
	return status;
}

static bk_status put_through_overlay(struct bk_session *s, const struct bk_node *nodes, size_t n,
				     uint32_t mode, struct bk_error *err)
{
	struct ldb_overlay *overlay = &s->txn.overlay;
	bool repeats;
	bk_status status;

	leveldb_writebatch_clear(s->batch);
	ldb_overlay_reset(overlay);
	s->sink = overlay;
	status = put_each(s, nodes, n, mode, &repeats, err);
	if (status == BK_OK && overlay->failed)
		status = ldb_nomem(err);
	s->sink = NULL;
	if (status == BK_OK)
		ldb_overlay_to_batch(s, overlay);
	ldb_overlay_reset(overlay);
	return status;
}

bk_status ldb_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			    uint32_t mode, struct bk_error *err)
{
	struct ldb_locks locks;
	bk_status status = BK_OK;
	bool repeats = false;
	size_t i;

	if (n > UINT32_MAX / 4)
		return bk_fail(err, BK_TOO_LARGE, 0, "%zu nodes in one call", n);
	ldb_locks_init(&locks);
	locks.whole = n > LDB_HELD_MAX;
	for (i = 0; i < n; i++) {
		status = ldb_check_node(err, &nodes[i], mode);
		if (status != BK_OK) {
			err->item = i;
			return status;
		}
		if (!locks.whole)
			ldb_locks_for_put(&locks, &nodes[i], ldb_hashes_of(&nodes[i]), mode);
	}
	status = ldb_change_begin(s, &locks, err);
	if (status != BK_OK)
		return status;
	if (!s->txn.active) {
		s->seen = seen_start(s, nodes, n);
		if (!s->seen)
			status = ldb_nomem(err);
	}
	if (status == BK_OK)
		status = put_each(s, nodes, n, mode, &repeats, err);
	s->seen = NULL;
	if (status == BK_OK && repeats)
		status = put_through_overlay(s, nodes, n, mode, err);
	return ldb_change_end(s, &locks, status, err);
}
