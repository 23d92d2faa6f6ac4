/*
 * bins.c - the table of binaries: keys, and reference-counted contents.
 *
 * The one invariant: a content never changes once a table holds it, so that a reader needs no lock.
 */
#include "mem.h"

#include <stdlib.h>

void mem_blob_release(struct mem_blob *blob)
{
	if (!blob || atomic_fetch_sub(&blob->refs, 1) != 1)
		return;
	free(blob->data);
	free(blob);
}

bool mem_bins_init(struct mem_bins *b)
{
	b->bytes = 0;
	return mem_table_init(&b->keys);
}

void mem_bins_clear(struct mem_bins *b)
{
	struct mem_entry *e, *next;
	struct mem_bin *bin;
	size_t i;

	for (i = 0; b->keys.count && i <= b->keys.mask; i++) {
		for (e = b->keys.buckets[i]; e; e = next) {
			next = e->next;
			bin = MEM_OWNER(e, struct mem_bin, by_key);
			mem_blob_release(bin->blob);
			free(bin);
		}
	}
	mem_table_clear(&b->keys);
	b->bytes = 0;
}

void mem_bins_free(struct mem_bins *b)
{
	if (b->keys.buckets)
		mem_bins_clear(b);
	mem_table_free(&b->keys);
}

static struct mem_bin *bin_find(const struct mem_bins *b, struct bk_slice key, uint64_t hash)
{
	struct mem_entry *e;
	struct mem_bin *bin;

	for (e = mem_table_chain(&b->keys, hash); e; e = e->next) {
		bin = MEM_OWNER(e, struct mem_bin, by_key);
		if (e->hash == hash && bk_slice_eq(bk_slice_of(bin->key, bin->key_len), key))
			return bin;
	}
	return NULL;
}

struct mem_bin *mem_bin_find(const struct mem_bins *b, struct bk_slice key)
{
	return bin_find(b, key, mem_hash(key));
}

struct mem_bin *mem_bin_get(struct mem_bins *b, struct bk_slice key)
{
	uint64_t hash = mem_hash(key);
	struct mem_bin *bin = bin_find(b, key, hash);

	if (bin)
		return bin;
	bin = calloc(1, sizeof(*bin) + key.len);
	if (!bin)
		return NULL;
	memcpy(bin->key, key.data, key.len);
	bin->key_len = key.len;
	mem_table_add(&b->keys, &bin->by_key, hash);
	return bin;
}

void mem_bin_set(struct mem_bins *b, struct mem_bin *bin, struct mem_blob *blob)
{
	if (bin->blob)
		b->bytes -= bin->blob->len;
	mem_blob_release(bin->blob);
	bin->blob = blob;
	if (blob)
		b->bytes += blob->len;
}

void mem_bin_drop(struct mem_bins *b, struct mem_bin *bin)
{
	mem_bin_set(b, bin, NULL);
	mem_table_drop(&b->keys, &bin->by_key);
	free(bin);
}
