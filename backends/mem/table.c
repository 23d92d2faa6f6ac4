/*
 * table.c - the hash table of the in-memory backend, and its hash.
 *
 * The one invariant: adding cannot fail; a table that cannot grow only gets slower.
 */
#include "mem.h"

#include <stdlib.h>

#define FIRST_BUCKETS 16u

bool mem_table_init(struct mem_table *t)
{
	t->buckets = calloc(FIRST_BUCKETS, sizeof(struct mem_entry *));
	t->mask = FIRST_BUCKETS - 1;
	t->count = 0;
	return t->buckets != NULL;
}

void mem_table_free(struct mem_table *t)
{
	free(t->buckets);
	t->buckets = NULL;
	t->count = 0;
}

/* Empty it; what a large content has made large becomes small again. */
void mem_table_clear(struct mem_table *t)
{
	if (t->mask >= 64 * FIRST_BUCKETS) {
		struct mem_entry **small = calloc(FIRST_BUCKETS, sizeof(struct mem_entry *));

		if (small) {
			free(t->buckets);
			t->buckets = small;
			t->mask = FIRST_BUCKETS - 1;
			t->count = 0;
			return;
		}
	}
	if (t->count)
		memset(t->buckets, 0, (t->mask + 1) * sizeof(struct mem_entry *));
	t->count = 0;
}

static void table_grow(struct mem_table *t)
{
	size_t mask = t->mask * 2 + 1, i;
	struct mem_entry **buckets = calloc(mask + 1, sizeof(struct mem_entry *));
	struct mem_entry *e, *next;

	if (!buckets)
		return;
	for (i = 0; i <= t->mask; i++) {
		for (e = t->buckets[i]; e; e = next) {
			next = e->next;
			e->next = buckets[e->hash & mask];
			buckets[e->hash & mask] = e;
		}
	}
	free(t->buckets);
	t->buckets = buckets;
	t->mask = mask;
}

void mem_table_add(struct mem_table *t, struct mem_entry *e, uint64_t hash)
{
	if (t->count > t->mask)
		table_grow(t);
	e->hash = hash;
	e->next = t->buckets[hash & t->mask];
	t->buckets[hash & t->mask] = e;
	t->count++;
}

void mem_table_drop(struct mem_table *t, struct mem_entry *e)
{
	struct mem_entry **at = &t->buckets[e->hash & t->mask];

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	t->count--;
}

/* Multiply and fold, eight bytes at a time. */
uint64_t mem_hash(struct bk_slice s)
{
	const unsigned char *p = s.data;
	const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t h = k ^ s.len, w;
	size_t n = s.len;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * k;
		h ^= h >> 29;
	}
	if (n) {
		w = 0;
		memcpy(&w, p, n);
		h = (h ^ w) * k;
	}
	h ^= h >> 32;
	h *= k;
	return h ^ (h >> 29);
}

bool mem_buf_reserve(struct mem_buf *b, size_t bytes)
{
	size_t cap = b->cap ? b->cap : 256;
	void *data;

	if (bytes <= b->cap)
		return true;
	while (cap < bytes)
		cap *= 2;
	/* Nothing in a buffer outlives the call that fills it, so it need not be copied. */
	data = malloc(cap);
	if (!data)
		return false;
	free(b->data);
	b->data = data;
	b->cap = cap;
	return true;
}
