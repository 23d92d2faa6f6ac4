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
#include "ldb.h"

#include <stdlib.h>

#define LAYER_ENTRIES  (UINT64_C(1) << 17)
#define BITS_PER_ENTRY 16u
#define BLOCK_WORDS    8u
#define LINE_BYTES     (BLOCK_WORDS * sizeof(uint64_t))

struct place {
	uint64_t word[2], bits[2];
};

static inline uint64_t block_of(uint64_t hash, uint64_t blocks)
{
	return ((hash >> 32) * blocks) >> 32;
}

static inline struct place place_of(uint64_t hash, uint64_t blocks)
{
	uint64_t block = block_of(hash, blocks);
	uint64_t h = (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	struct place p;
	unsigned first = (unsigned)(h >> 61), i;

	p.word[0] = block * BLOCK_WORDS + first;
	p.word[1] = block * BLOCK_WORDS + ((first + 1 + (unsigned)(h >> 58) % 7) & 7);
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
	a->memory[layers] = calloc(1, bytes + LINE_BYTES);
	if (!a->memory[layers])
		return false;
	/* calloc() leaves untouched pages to the kernel, but does not begin at a line. */
	a->bits[layers] = (_Atomic uint64_t *)(((uintptr_t)a->memory[layers] + LINE_BYTES - 1) &
					       ~(uintptr_t)(LINE_BYTES - 1));
	a->blocks[layers] = bytes / LINE_BYTES;
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

void ldb_absent_add(struct ldb_absent *a, uint64_t hash)
{
	uint32_t layers;
	struct place p;
	_Atomic uint64_t *bits;

	if (!atomic_load_explicit(&a->complete, memory_order_relaxed))
		return;
	layers = atomic_load_explicit(&a->layers, memory_order_acquire);
	if (atomic_fetch_add_explicit(&a->entries, 1, memory_order_relaxed) >=
	    LAYER_ENTRIES << 2 * (layers - 1)) {
		grow(a, layers);
		layers = atomic_load(&a->layers);
	}
	bits = a->bits[layers - 1];
	p = place_of(hash, a->blocks[layers - 1]);
	atomic_fetch_or_explicit(&bits[p.word[0]], p.bits[0], memory_order_relaxed);
	atomic_fetch_or_explicit(&bits[p.word[1]], p.bits[1], memory_order_relaxed);
}

bool ldb_absent_surely(struct ldb_absent *a, uint64_t hash)
{
	uint32_t i;

	if (!atomic_load_explicit(&a->complete, memory_order_relaxed))
		return false;
	for (i = atomic_load_explicit(&a->layers, memory_order_acquire); i-- > 0;) {
		const struct place p = place_of(hash, a->blocks[i]);
		uint64_t w0 = atomic_load_explicit(&a->bits[i][p.word[0]], memory_order_relaxed);
		uint64_t w1 = atomic_load_explicit(&a->bits[i][p.word[1]], memory_order_relaxed);

		if ((w0 & p.bits[0]) == p.bits[0] && (w1 & p.bits[1]) == p.bits[1])
			return false;
	}
	return true;
}

void ldb_absent_prefetch(struct ldb_absent *a, uint64_t hash)
{
	uint32_t i;

	if (!atomic_load_explicit(&a->complete, memory_order_relaxed))
		return;
	for (i = atomic_load_explicit(&a->layers, memory_order_acquire); i-- > 0;)
		__builtin_prefetch(
			(const void *)&a->bits[i][block_of(hash, a->blocks[i]) * BLOCK_WORDS]);
}

uint64_t ldb_absent_bytes(const struct ldb_absent *a)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < LDB_ABSENT_LAYERS; i++)
		bytes += a->blocks[i] * LINE_BYTES;
	return bytes;
}
