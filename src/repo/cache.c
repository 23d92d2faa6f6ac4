/*
 * cache.c - shards of hash chains threaded by a list from newest to oldest.
 *
 * With one reader there is one shard, so that the order of eviction is exactly that of the policy
 * and the size is exact; with more the size is split evenly.
 */
#include "repo/cache.h"

#include "repo/document.h"
#include "repo/repo.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SHARDS_MAX  16u
#define BUCKETS_MAX ((size_t)1 << 21)

struct shard {
	pthread_mutex_t lock;
	struct bk_cached **buckets; /* a power of two of them */
	size_t bucket_mask;
	struct bk_cached *newest, *oldest;
	uint64_t count, limit;
	uint64_t hits, misses;
};

struct bk_cache {
	enum bk_cache_policy policy;
	uint32_t shard_count; /* a power of two */
	struct shard shards[SHARDS_MAX];
};

static struct shard *shard_of(struct bk_cache *cache, uint64_t hash)
{
	return &cache->shards[(hash >> 48) & (cache->shard_count - 1)];
}

bk_status bk_cache_new(struct bk_cache **out, uint64_t nodes, uint32_t readers,
		       enum bk_cache_policy policy, struct bk_error *err)
{
	struct bk_cache *cache = calloc(1, sizeof(*cache));
	uint32_t shards = 1, i;

	if (!cache)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the node cache");
	while (readers > 1 && shards < readers * 2 && shards < SHARDS_MAX && nodes / shards >= 256)
		shards *= 2;
	cache->policy = policy;
	cache->shard_count = shards;
	for (i = 0; i < shards; i++) {
		struct shard *s = &cache->shards[i];
		size_t buckets = 64;

		s->limit = nodes / shards + (i < nodes % shards);
		while (buckets < s->limit && buckets < BUCKETS_MAX)
			buckets *= 2;
		s->bucket_mask = buckets - 1;
		s->buckets = calloc(buckets, sizeof(struct bk_cached *));
		pthread_mutex_init(&s->lock, NULL);
		if (!s->buckets) {
			cache->shard_count = i + 1;
			bk_cache_free(cache);
			return bk_fail(err, BK_NOMEM, 0, "out of memory for a cache of %llu nodes",
				       (unsigned long long)nodes);
		}
	}
	*out = cache;
	return BK_OK;
}

static void free_node(struct bk_cached *node)
{
	struct bk_cached_list *list, *next;

	for (list = node->lists; list; list = next) {
		next = list->next;
		free(list);
	}
	free(node);
}

static void list_unlink(struct shard *s, struct bk_cached *n)
{
	*(n->newer ? &n->newer->older : &s->newest) = n->older;
	*(n->older ? &n->older->newer : &s->oldest) = n->newer;
}

static void list_push(struct shard *s, struct bk_cached *n)
{
	n->newer = NULL;
	n->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = n;
	s->newest = n;
}

/* Out of the shard; freed now or by whoever holds it last. */
static void evict(struct shard *s, struct bk_cached *n)
{
	struct bk_cached **p = &s->buckets[n->hash & s->bucket_mask];

	while (*p != n)
		p = &(*p)->hash_next;
	*p = n->hash_next;
	list_unlink(s, n);
	s->count--;
	n->resident = false;
	if (n->refs == 0)
		free_node(n);
}

void bk_cache_clear(struct bk_cache *cache)
{
	uint32_t i;

	for (i = 0; i < cache->shard_count; i++) {
		struct shard *s = &cache->shards[i];

		pthread_mutex_lock(&s->lock);
		while (s->oldest)
			evict(s, s->oldest);
		s->hits = s->misses = 0;
		pthread_mutex_unlock(&s->lock);
	}
}

void bk_cache_free(struct bk_cache *cache)
{
	uint32_t i;

	if (!cache)
		return;
	for (i = 0; i < cache->shard_count; i++) {
		struct shard *s = &cache->shards[i];

		while (s->oldest)
			evict(s, s->oldest);
		free(s->buckets);
		pthread_mutex_destroy(&s->lock);
	}
	free(cache);
}

static struct bk_cached *lookup(struct shard *s, uint64_t hash, struct bk_slice id)
{
	struct bk_cached *n = s->buckets[hash & s->bucket_mask];

	while (n && !(n->hash == hash && bk_slice_eq(n->id, id)))
		n = n->hash_next;
	return n;
}

struct bk_cached *bk_cache_get(struct bk_cache *cache, struct bk_slice id)
{
	uint64_t hash = XXH3_64bits(id.data, id.len);
	struct shard *s = shard_of(cache, hash);
	struct bk_cached *n;

	pthread_mutex_lock(&s->lock);
	n = lookup(s, hash, id);
	if (n) {
		s->hits++;
		n->refs++;
		if (cache->policy == BK_CACHE_LRU && s->newest != n) {
			list_unlink(s, n);
			list_push(s, n);
		}
	} else {
		s->misses++;
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

static char *copy(struct bk_slice *out, char *at, struct bk_slice from)
{
	if (from.len)
		memcpy(at, from.data, from.len);
	*out = bk_slice_of(at, from.len);
	return at + from.len;
}

static struct bk_cached *copy_node(const struct bk_node *node)
{
	size_t size = sizeof(struct bk_cached) + node->link_count * sizeof(struct bk_link) +
		      node->id.len + node->parent.len + node->path.len + node->doc.len;
	struct bk_doc_record type;
	struct bk_cached *n;
	struct bk_link *links;
	char *at;
	size_t i;

	for (i = 0; i < node->link_count; i++)
		size += node->links[i].rel.len + node->links[i].target.len;
	n = malloc(size);
	if (!n)
		return NULL;
	memset(n, 0, sizeof(*n));
	links = (struct bk_link *)(void *)(n + 1);
	at = (char *)(links + node->link_count);
	at = copy(&n->id, at, node->id);
	at = copy(&n->parent, at, node->parent);
	at = copy(&n->path, at, node->path);
	at = copy(&n->doc, at, node->doc);
	for (i = 0; i < node->link_count; i++) {
		at = copy(&links[i].rel, at, node->links[i].rel);
		at = copy(&links[i].target, at, node->links[i].target);
	}
	n->links = links;
	n->link_count = node->link_count;
	n->pairtree = bk_doc_find(&type, n->doc, BK_DOC_TYPE, "") > 0 &&
		      bk_slice_eq(type.object, bk_slice_str(BK_TYPE_PAIRTREE));
	return n;
}

struct bk_cached *bk_cache_put(struct bk_cache *cache, const struct bk_node *node)
{
	uint64_t hash = XXH3_64bits(node->id.data, node->id.len);
	struct shard *s = shard_of(cache, hash);
	struct bk_cached *n = copy_node(node), *there;

	if (!n)
		return NULL;
	n->hash = hash;
	n->refs = 1;
	if (s->limit == 0)
		return n;
	pthread_mutex_lock(&s->lock);
	there = lookup(s, hash, node->id);
	if (there) {
		there->refs++;
	} else {
		while (s->count >= s->limit)
			evict(s, s->oldest);
		n->hash_next = s->buckets[hash & s->bucket_mask];
		s->buckets[hash & s->bucket_mask] = n;
		n->resident = true;
		s->count++;
		list_push(s, n);
	}
	pthread_mutex_unlock(&s->lock);
	if (!there)
		return n;
	free_node(n);
	return there;
}

void bk_cache_release(struct bk_cache *cache, struct bk_cached *node)
{
	struct shard *s;
	bool last;

	if (!node)
		return;
	s = shard_of(cache, node->hash);
	pthread_mutex_lock(&s->lock);
	last = --node->refs == 0 && !node->resident;
	pthread_mutex_unlock(&s->lock);
	if (last)
		free_node(node);
}

static struct bk_cached_list *find_list(const struct bk_cached *node, bool inbound,
					struct bk_slice rel)
{
	struct bk_cached_list *list = node->lists;

	while (list && !(list->inbound == inbound && bk_slice_eq(list->rel, rel)))
		list = list->next;
	return list;
}

const struct bk_cached_list *bk_cache_list(struct bk_cache *cache, const struct bk_cached *node,
					   bool inbound, struct bk_slice rel)
{
	struct shard *s = shard_of(cache, node->hash);
	const struct bk_cached_list *list;

	pthread_mutex_lock(&s->lock);
	list = find_list(node, inbound, rel);
	pthread_mutex_unlock(&s->lock);
	return list;
}

const struct bk_cached_list *bk_cache_attach(struct bk_cache *cache, struct bk_cached *node,
					     struct bk_cached_list *list)
{
	struct shard *s = shard_of(cache, node->hash);
	struct bk_cached_list *there;

	pthread_mutex_lock(&s->lock);
	there = find_list(node, list->inbound, list->rel);
	if (!there) {
		list->next = node->lists;
		node->lists = list;
	}
	pthread_mutex_unlock(&s->lock);
	if (!there)
		return list;
	free(list);
	return there;
}

void bk_cache_counters(struct bk_cache *cache, uint64_t *hits, uint64_t *misses)
{
	uint32_t i;

	*hits = *misses = 0;
	for (i = 0; i < cache->shard_count; i++) {
		struct shard *s = &cache->shards[i];

		pthread_mutex_lock(&s->lock);
		*hits += s->hits;
		*misses += s->misses;
		pthread_mutex_unlock(&s->lock);
	}
}

bk_status bk_repo_load(struct bk_cached **out, struct bk_repo_session *session,
		       struct bk_cache *cache, struct bk_slice id, struct bk_error *err)
{
	struct bk_node node;
	bk_status st;

	*out = bk_cache_get(cache, id);
	if (*out)
		return BK_OK;
	session->round_trips++;
	st = bk_repo_nodes(session->repo)->get(&node, session->nodes, id, BK_REPO_WANT, err);
	if (st < 0)
		return st;
	*out = bk_cache_put(cache, &node);
	return *out ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory for the node cache");
}
