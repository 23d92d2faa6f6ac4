/*
 * read.h - reading one resource with what hangs on it, in one of three ways.
 *
 * A read starts at a node and makes hops; each node that the last hop reaches gives one triple.
 *   document  every node that the read names is loaded, one at a time, through the node cache
 *   batched   the same, with get_many for what the cache lacks, up to 1000 ids a call
 *   native    one walk by the store
 * Lists of children and of referrers are read by a single-step walk each, and kept with the node in
 * the cache; there is no batched form of them.
 * The triples are the same in all three, whatever the number of readers.
 */
#ifndef BK_REPO_READ_H
#define BK_REPO_READ_H

#include "repo/cache.h"
#include "repo/repo.h"
#include "util/u64set.h"

enum bk_access { BK_ACCESS_DOCUMENT, BK_ACCESS_BATCHED, BK_ACCESS_NATIVE };

enum bk_hop_kind {
	BK_HOP_CHILDREN,  /* down through pairtree levels to the first node that is none */
	BK_HOP_OUT,       /* along links `rel` */
	BK_HOP_IN,        /* against links `rel` */
	BK_HOP_CONTAINER, /* up to the first ancestor that is no pairtree level */
};

struct bk_hop {
	enum bk_hop_kind kind;
	const char *rel; /* OUT, IN */
	bool ancestors; /* of each node reached, all are loaded too, as a repository does to name it
			 */
	bool descendants; /* of each node reached, those down to the first non-level are loaded too
			   */
};

struct bk_read {
	struct bk_slice start; /* path */
	const struct bk_hop *hops;
	size_t hop_count;
	const struct bk_step *steps; /* the same as one walk, for native access */
	size_t step_count;
	const char *predicate;
	bool inverse; /* triples read <reached> predicate <start> */
};

struct bk_read_result {
	uint64_t triples, sum;             /* to be compared with what the plan says */
	uint64_t first_ns, last_ns;        /* from the start to the first and the last triple */
	uint64_t cache_hits, cache_misses; /* misses are nodes loaded from the store */
	uint64_t round_trips;              /* calls to the store */
	uint64_t touched;                  /* distinct nodes named; only when counted */
};

/* A pool of readers for one repository: reader 0 is the thread that calls; it must be the one that
 * made the pool. */
struct bk_readers;
struct bk_readers_config {
	const struct bk_repo *repo;
	struct bk_cache *cache; /* shared; not owned */
	uint32_t readers;
	uint32_t durability;
	const int *stop; /* may be NULL; non-zero ends a read with CANCELLED (atomic) */
};
bk_status bk_readers_open(struct bk_readers **out, const struct bk_readers_config *config,
			  struct bk_error *err);
/* What the readers' sessions did so far is in the repository's traffic now. */
void bk_readers_meter(struct bk_readers *pool);
void bk_readers_close(struct bk_readers *pool);

/* One read.  `touched` non-NULL: the distinct nodes named are counted into it (slow; not for timed
 * reads). */
bk_status bk_readers_read(struct bk_read_result *out, struct bk_readers *pool,
			  const struct bk_read *read, enum bk_access access,
			  struct bk_u64set *touched, struct bk_error *err);

#endif
