/*
 * seen.c - which ids and paths a put_many has met so far.
 *
 * The database does not know yet what earlier nodes of the call add, so their ids and paths stand
 * in a hash table over the caller's own array.
 */
#include "ldb.h"

#include <stdlib.h>

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

struct ldb_seen *ldb_seen_start(struct bk_session *s, const struct bk_node *nodes, size_t n)
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

bool ldb_seen_add(struct ldb_seen *seen, size_t at, struct ldb_hashes hashes)
{
	const struct bk_node *node = &seen->nodes[at];

	seen->at = at;
	seen->path_repeats = seen_claim(seen, LDB_KEY_PATH, node->path, hashes.path);
	return seen_claim(seen, LDB_KEY_NODE, node->id, hashes.id);
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
