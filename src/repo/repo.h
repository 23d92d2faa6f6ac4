/*
 * repo.h - the stores of one variant as a repository: nodes in one store, binaries in the same or
 * another, and one worker's sessions on both.
 */
#ifndef BK_REPO_REPO_H
#define BK_REPO_REPO_H

#include "layer/layer.h"
#include "repo/hierarchy.h"
#include "repo/traffic.h"

#include <stdbool.h>

#define BK_REPO_ID_LEN 16

struct bk_repo {
	struct bk_layered *nodes;
	struct bk_layered *binaries; /* == nodes when one store holds both; NULL when none does */
	uint64_t timeout_ns;         /* for one call, where the store can; 0: none */
	struct bk_traffic *traffic;  /* of all sessions; NULL: not counted */
};

/* The id of the node at `path`: 16 bytes of its hash, spread evenly over the key space as the
 * random ids of repositories are; or the path itself where the store wants that.
 * `out` backs the result. */
struct bk_slice bk_repo_id(const struct bk_repo *repo, unsigned char out[BK_REPO_ID_LEN],
			   struct bk_slice path);

/* One worker's sessions.  Opened, used and closed on the worker's own thread. */
struct bk_repo_session {
	const struct bk_repo *repo;
	struct bk_session *nodes;
	struct bk_session *binaries; /* == nodes when one store holds both */
	uint64_t round_trips;        /* calls that went to a store */
	struct bk_traffic said[2];   /* by the sessions of both stores, so far */
};
bk_status bk_repo_session_open(struct bk_repo_session *out, const struct bk_repo *repo,
			       uint32_t worker, uint32_t durability, struct bk_error *err);
/* What the sessions did since the last time is in the repository's traffic now; closing does it. */
void bk_repo_session_meter(struct bk_repo_session *session);
void bk_repo_session_close(struct bk_repo_session *session);

static inline const struct bk_node_ops *bk_repo_nodes(const struct bk_repo *repo)
{
	return &repo->nodes->tables.node;
}

static inline bool bk_repo_has(const struct bk_layered *store, uint64_t feature)
{
	return ((store->native | store->emulated) & feature) != 0;
}

#endif
