/*
 * mem.c - see mem.h.
 *
 * The one invariant: a failed allocation leaves what was there as it was.
 */
#include "mem.h"

#include <stdlib.h>

#define BLOCK (64u << 10)

struct my_block {
	struct my_block *next;
	size_t used, size;
	max_align_t data[];
};

bool my_buf_reserve(struct my_buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 256;
	char *p;

	if (more <= b->cap - b->len)
		return true;
	if (more > SIZE_MAX / 4 - b->len)
		return false;
	while (cap < b->len + more)
		cap *= 2;
	p = realloc(b->data, cap);
	if (!p)
		return false;
	b->data = p;
	b->cap = cap;
	return true;
}

bool my_buf_add(struct my_buf *b, const void *data, size_t len)
{
	if (!my_buf_reserve(b, len))
		return false;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	return true;
}

void my_buf_free(struct my_buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

static struct my_block *block_new(size_t len)
{
	size_t size = len > BLOCK ? len : BLOCK;
	struct my_block *k = malloc(sizeof(*k) + size);

	if (k) {
		k->next = NULL;
		k->used = 0;
		k->size = size;
	}
	return k;
}

void *my_alloc(struct my_arena *a, size_t len)
{
	size_t want = (len + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	struct my_block *k = a->current;
	void *p;

	if (want < len)
		return NULL;
	if (!k || want > k->size - k->used) {
		struct my_block *fresh = block_new(want);

		if (!fresh)
			return NULL;
		if (k) {
			fresh->next = k->next;
			k->next = fresh;
		} else {
			a->first = fresh;
		}
		a->current = k = fresh;
	}
	p = (char *)k->data + k->used;
	k->used += want;
	a->held += len;
	return p;
}

bool my_copy(struct my_arena *a, struct bk_slice *out, struct bk_slice from)
{
	char *p = my_alloc(a, from.len ? from.len : 1);

	if (!p)
		return false;
	if (from.len)
		memcpy(p, from.data, from.len);
	*out = bk_slice_of(p, from.len);
	return true;
}

void my_arena_reset(struct my_arena *a)
{
	struct my_block *k = a->first, *keep = NULL;

	while (k) {
		struct my_block *next = k->next;

		if (!keep && k->size == BLOCK) {
			keep = k;
			keep->used = 0;
		} else {
			free(k);
		}
		k = next;
	}
	if (keep)
		keep->next = NULL;
	a->first = a->current = keep;
	a->held = 0;
}

void my_arena_free(struct my_arena *a)
{
	my_arena_reset(a);
	free(a->first);
	memset(a, 0, sizeof(*a));
}

uint64_t my_hash(struct bk_slice key)
{
	const unsigned char *p = key.data;
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < key.len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h ^ (h >> 32);
}

bool my_map_init(struct my_map *m, struct my_arena *a, size_t n)
{
	size_t size = 8;

	while (size < n * 2)
		size *= 2;
	m->entries = my_alloc(a, size * sizeof(*m->entries));
	if (!m->entries)
		return false;
	memset(m->entries, 0, size * sizeof(*m->entries));
	m->mask = size - 1;
	return true;
}

struct my_map_entry *my_map_at(struct my_map *m, struct bk_slice key)
{
	uint64_t hash = my_hash(key);
	size_t i = (size_t)hash & m->mask;

	while (m->entries[i].used &&
	       (m->entries[i].hash != hash || !bk_slice_eq(m->entries[i].key, key)))
		i = (i + 1) & m->mask;
	if (!m->entries[i].used) {
		m->entries[i].key = key;
		m->entries[i].hash = hash;
	}
	return &m->entries[i];
}

/* Bytes of the character at p; 0: not well-formed (overlong, surrogate, beyond U+10FFFF). */
static size_t utf8_len(const unsigned char *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4, i;
	uint32_t c = p[0];
	static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000};

	if (p[0] >= 0x80) {
		if (p[0] < 0xc0 || p[0] > 0xf4 || n > left)
			return 0;
		c &= 0x7fu >> n;
	}
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

bool my_utf8(struct bk_slice text)
{
	const unsigned char *p = text.data;
	size_t at = 0, n;

	while (at < text.len) {
		n = utf8_len(p + at, text.len - at);
		if (n == 0)
			return false;
		at += n;
	}
	return true;
}
