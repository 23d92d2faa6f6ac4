/*
 * absent.c - ids and paths that are surely not in the store.
 *
 * Creating a node asks twice for a key that is not there, and LevelDB has to look into every
 * level to say so: two to three times the cost of the write itself.  This filter knows every id
 * and path written since the store was empty, so its "not there" can be trusted; its "perhaps"
 * costs the lookup.  It never forgets a removed name, which makes it say "perhaps" once too
 * often and no more.
 *
 * Layers grow fourfold; a name sets three bits in each of two words of one cache line.
 */
#include "store.h"

#include <stdlib.h>

#define LAYER_ENTRIES  (UINT64_C(1) << 19)
#define BITS_PER_ENTRY 16u
#define BLOCK_WORDS    8u
#define LINE           64u /* bytes of a block, and of a cache line */

struct place {
	uint64_t word[2], bits[2];
};

static inline struct place place_of(uint64_t hash, uint64_t blocks)
{
	uint64_t block = ((hash >> 32) * blocks) >> 32;
	uint64_t h = (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	struct place p;
	unsigned first = (unsigned)(h >> 61), i;

	p.word[0] = block * BLOCK_WORDS + first;
	p.word[1] = block * BLOCK_WORDS + (first ^ ((unsigned)(h >> 58 & 7) | 1));
	for (i = 0; i < 2; i++) {
		p.bits[i] = UINT64_C(1) << (h & 63) | UINT64_C(1) << (h >> 6 & 63) |
			    UINT64_C(1) << (h >> 12 & 63);
		h >>= 18;
	}
	return p;
}

static bool add_layer(struct ldb_absent *a, uint32_t layers)
{
	uint64_t entries = LAYER_ENTRIES << 2 * layers;
	uint64_t bytes = entries * BITS_PER_ENTRY / 8;

	if (layers == LDB_ABSENT_LAYERS || ldb_absent_bytes(a) + bytes > a->bytes_max)
		return false;
	a->memory[layers] = calloc(1, bytes + LINE);
	if (!a->memory[layers])
		return false;
	a->bits[layers] =
		(void *)(((uintptr_t)a->memory[layers] + LINE - 1) & ~(uintptr_t)(LINE - 1));
	a->blocks[layers] = bytes / (BLOCK_WORDS * 8);
	atomic_store(&a->entries, 0);
	atomic_store(&a->layers, layers + 1);
	return true;
}

/* The newest layer is full: a larger one on top, or the filter retires. */
static void grow(struct ldb_absent *a, uint32_t seen)
{
	pthread_mutex_lock(&a->grow);
	if (atomic_load(&a->layers) == seen && !add_layer(a, seen))
		atomic_store(&a->complete, false);
	pthread_mutex_unlock(&a->grow);
}

bool ldb_absent_init(struct ldb_absent *a, uint64_t bytes_max)
{
	a->bytes_max = bytes_max;
	return pthread_mutex_init(&a->grow, NULL) == 0;
}

static void drop_layers(struct ldb_absent *a)
{
	uint32_t i;

	atomic_store(&a->complete, false);
	atomic_store(&a->layers, 0);
	for (i = 0; i < LDB_ABSENT_LAYERS; i++) {
		free(a->memory[i]);
		a->memory[i] = NULL;
		a->bits[i] = NULL;
		a->blocks[i] = 0;
	}
}

void ldb_absent_free(struct ldb_absent *a)
{
	drop_layers(a);
	pthread_mutex_destroy(&a->grow);
}

void ldb_absent_restart(struct ldb_absent *a, bool store_is_empty)
{
	drop_layers(a);
	atomic_store(&a->complete, store_is_empty && add_layer(a, 0));
}

static bool holds(_Atomic uint64_t *bits, const struct place *p)
{
	uint64_t w0 = atomic_load_explicit(&bits[p->word[0]], memory_order_relaxed);
	uint64_t w1 = atomic_load_explicit(&bits[p->word[1]], memory_order_relaxed);

	return (w0 & p->bits[0]) == p->bits[0] && (w1 & p->bits[1]) == p->bits[1];
}

static bool older_hold(struct ldb_absent *a, uint64_t hash, uint32_t layers)
{
	while (layers-- > 0) {
		const struct place p = place_of(hash, a->blocks[layers]);

		if (holds(a->bits[layers], &p))
			return true;
	}
	return false;
}

bool ldb_absent_claim(struct ldb_absent *a, uint64_t hash)
{
	_Atomic uint64_t *bits;
	uint32_t newest;
	struct place p;

	if (!atomic_load_explicit(&a->complete, memory_order_relaxed))
		return false;
	newest = atomic_load_explicit(&a->layers, memory_order_acquire) - 1;
	bits = a->bits[newest];
	p = place_of(hash, a->blocks[newest]);
	if (holds(bits, &p))
		return false;
	atomic_fetch_or_explicit(&bits[p.word[0]], p.bits[0], memory_order_relaxed);
	atomic_fetch_or_explicit(&bits[p.word[1]], p.bits[1], memory_order_relaxed);
	if (atomic_fetch_add_explicit(&a->entries, 1, memory_order_relaxed) >=
	    LAYER_ENTRIES << 2 * newest)
		grow(a, newest + 1);
	return !older_hold(a, hash, newest);
}

bool ldb_absent_surely(struct ldb_absent *a, uint64_t hash)
{
	if (!atomic_load_explicit(&a->complete, memory_order_relaxed))
		return false;
	return !older_hold(a, hash, atomic_load_explicit(&a->layers, memory_order_acquire));
}

void ldb_absent_prefetch(struct ldb_absent *a, uint64_t hash)
{
	uint32_t i;

	if (!atomic_load_explicit(&a->complete, memory_order_relaxed))
		return;
	for (i = atomic_load_explicit(&a->layers, memory_order_acquire); i-- > 0;)
		__builtin_prefetch((const void *)&a->bits[i][place_of(hash, a->blocks[i]).word[0]]);
}

uint64_t ldb_absent_bytes(const struct ldb_absent *a)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < LDB_ABSENT_LAYERS; i++)
		bytes += a->blocks[i] * BLOCK_WORDS * 8;
	return bytes;
}
