/*
 * cache.h - the repository's node cache: decoded nodes by id, shared by its readers.
 *
 * A node taken from the cache is held until bk_cache_release(), also when it has been evicted in
 * between.  A node never changes once it is in; its lists (children, referrers) are attached once,
 * when somebody has read them.  Sharded by id, one lock a shard.
 */
#ifndef BK_REPO_CACHE_H
#define BK_REPO_CACHE_H

#include <bakeoff/backend.h>

#include <stdbool.h>

enum bk_cache_policy { BK_CACHE_LRU, BK_CACHE_FIFO };

struct bk_cache;
struct bk_cached_list;

struct bk_cached { /* one block of memory; views point into it */
	struct bk_slice id, parent, path, doc;
	const struct bk_link *links;
	size_t link_count;
	bool pairtree; /* a level of the hierarchy, no resource of its own */
	/* below: the cache's own */
	struct bk_cached *hash_next, *newer, *older;
	struct bk_cached_list *lists;
	uint64_t hash;
	uint32_t refs;
	bool resident;
};

/* Ids that were read with a node: its children (rel empty) or those that link to it by `rel`. */
struct bk_cached_list {
	struct bk_cached_list *next;
	struct bk_slice rel;
	bool inbound;
	size_t count;
	struct bk_slice ids[];
};

/* `nodes`: how many it holds; 0 keeps nothing.  `readers` fixes the number of shards. */
bk_status bk_cache_new(struct bk_cache **out, uint64_t nodes, uint32_t readers,
		       enum bk_cache_policy policy, struct bk_error *err);
void bk_cache_free(struct bk_cache *cache); /* nothing may be held */
void bk_cache_clear(struct bk_cache *cache);

/* Held for the caller, or NULL: a miss.  [any thread] */
struct bk_cached *bk_cache_get(struct bk_cache *cache, struct bk_slice id);
/* Copies `node` in and returns it held; when another reader was first, theirs.  NULL: no memory. */
struct bk_cached *bk_cache_put(struct bk_cache *cache, const struct bk_node *node);
void bk_cache_release(struct bk_cache *cache, struct bk_cached *node);

/* The list, or NULL when nobody has attached it.  Valid while the node is held. */
const struct bk_cached_list *bk_cache_list(struct bk_cache *cache, const struct bk_cached *node,
					   bool inbound, struct bk_slice rel);
/* Takes over `list` (malloc'd whole, ids and all) and returns the one that counts. */
const struct bk_cached_list *bk_cache_attach(struct bk_cache *cache, struct bk_cached *node,
					     struct bk_cached_list *list);

/* The node, held, from the cache or else from the store: one round trip. */
struct bk_repo_session;
#define BK_REPO_WANT (BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS)
bk_status bk_repo_load(struct bk_cached **out, struct bk_repo_session *session,
		       struct bk_cache *cache, struct bk_slice id, struct bk_error *err);

/* Since the last clear.  A get that finds nothing is a miss. */
void bk_cache_counters(struct bk_cache *cache, uint64_t *hits, uint64_t *misses);

#endif
