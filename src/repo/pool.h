/*
 * pool.h - inside the reading of a resource: readers, the work they share, one reader's view of it.
 * Private to pool.c and what it calls, from there down: visit.c, fetch.c, chunk.c.
 */
#ifndef BK_REPO_POOL_H
#define BK_REPO_POOL_H

#include "repo/ntriples.h"
#include "repo/read.h"

#include <pthread.h>

/* How a node came to be named, and so what follows once it is loaded. */
enum visit {
	VISIT_ARRIVE,    /* reached by hop `hop` (or the start, hop 0 done) */
	VISIT_CONTAINER, /* on the way up to the container */
	VISIT_ANCESTOR,  /* loaded for its own sake, and its parent after it */
	VISIT_DESCEND,   /* loaded for its own sake, and its children if it is a level */
};

#define CHUNK_MAX 1000u

/* Ids that are to be visited in the same way.  One block grows with the ids' bytes. */
struct chunk {
	struct chunk *next;
	enum visit visit;
	size_t hop; /* hops done when the ids are reached */
	size_t count, used, cap;
	uint32_t ends[CHUNK_MAX]; /* end of each id in `bytes` */
	unsigned char *bytes;
};

struct reader {
	struct bk_readers *pool;
	pthread_t thread;
	bool running;
	struct bk_repo_session session;
	struct bk_ntriples out;
};

struct bk_readers {
	struct bk_readers_config config;
	struct reader *readers;

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t change;
	struct chunk *todo;  /* last in, first out, so that little waits at a time */
	struct chunk *spare; /* for reuse */
	uint32_t busy;       /* readers at work */
	uint64_t generation; /* of reads; readers wake when it moves */
	uint32_t opened;     /* readers that have tried to open their session */
	uint64_t meterings;  /* asked for; readers wake when it moves */
	uint32_t metered;    /* readers that did the last one */
	bool closing;
	bk_status status; /* of the read: the first failure */
	struct bk_error error;

	/* the read under way; written before it starts */
	const struct bk_read *read;
	enum bk_access access;
	struct bk_u64set *touched;
	struct bk_cached *start;
	size_t chunk_size;
};

/* chunk.c */
struct chunk *bk_pool_chunk(struct bk_readers *pool, enum visit visit, size_t hop);
void bk_pool_push(struct bk_readers *pool, struct chunk *chunk);
void bk_pool_recycle(struct bk_readers *pool, struct chunk *chunk);
bool bk_chunk_add(struct chunk *chunk, struct bk_slice id); /* false: no memory */
struct bk_slice bk_chunk_id(const struct chunk *chunk, size_t i);

/* fetch.c: nodes come held, through the cache. */
bk_status bk_fetch_no_memory(struct bk_error *err);
bk_status bk_fetch_node(struct bk_cached **out, struct reader *r, struct bk_slice id,
			struct bk_error *err);
bk_status bk_fetch_chunk(struct bk_cached **out, struct reader *r, const struct chunk *chunk,
			 struct bk_error *err);
/* The ids of the children of a node, or of those that name it with `rel`. */
bk_status bk_fetch_list(const struct bk_cached_list **out, struct reader *r, struct bk_cached *node,
			bool inbound, struct bk_slice rel, struct bk_error *err);
/* Every hit of a walk, to `fn`, which returns false when it is out of memory. */
bk_status bk_fetch_walk(struct reader *r, struct bk_slice start, const struct bk_step *steps,
			size_t n_steps, uint32_t want,
			bool (*fn)(void *ctx, const struct bk_hit *hit), void *ctx,
			struct bk_error *err);

/* visit.c */
bk_status bk_visit_chunk(struct reader *r, const struct chunk *chunk, struct bk_error *err);
bk_status bk_visit_native(struct reader *r, struct bk_error *err);

#endif
