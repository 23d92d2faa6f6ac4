/*
 * buffer.c - growing bytes and a small hash map (see buffer.h).
 *
 * A map holds at most half as many keys as slots, so a search always meets a free slot.
 */
#include "buffer.h"

#include <stdarg.h>
#include <stdlib.h>

#define BUF_KEEP_BYTES (1u << 20)

void pg_buffer_free(struct pg_buffer *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void pg_buffer_reset(struct pg_buffer *b)
{
	if (b->cap > BUF_KEEP_BYTES)
		pg_buffer_free(b);
	b->len = 0;
	b->failed = false;
}

char *pg_buffer_grow(struct pg_buffer *b, size_t bytes)
{
	size_t cap = b->cap ? b->cap : 256;
	char *p;

	if (b->failed || bytes > SIZE_MAX / 2 - b->len) {
		b->failed = true;
		return NULL;
	}
	if (b->len + bytes <= b->cap)
		return b->data + b->len;
	while (cap < b->len + bytes)
		cap *= 2;
	p = realloc(b->data, cap);
	if (!p) {
		b->failed = true;
		return NULL;
	}
	b->data = p;
	b->cap = cap;
	return b->data + b->len;
}

void pg_buffer_add(struct pg_buffer *b, const void *data, size_t len)
{
	char *p = pg_buffer_grow(b, len);

	if (!p || len == 0)
		return;
	memcpy(p, data, len);
	b->len += len;
}

void pg_buffer_u16(struct pg_buffer *b, uint16_t v)
{
	unsigned char c[2] = {(unsigned char)(v >> 8), (unsigned char)v};

	pg_buffer_add(b, c, sizeof(c));
}

static void buf_store_u32(unsigned char *c, uint32_t v)
{
	c[0] = (unsigned char)(v >> 24);
	c[1] = (unsigned char)(v >> 16);
	c[2] = (unsigned char)(v >> 8);
	c[3] = (unsigned char)v;
}

void pg_buffer_u32(struct pg_buffer *b, uint32_t v)
{
	unsigned char c[4];

	buf_store_u32(c, v);
	pg_buffer_add(b, c, sizeof(c));
}

void pg_buffer_u64(struct pg_buffer *b, uint64_t v)
{
	unsigned char c[8];

	pg_put_u64(c, v);
	pg_buffer_add(b, c, sizeof(c));
}

void pg_buffer_set_u32(struct pg_buffer *b, size_t at, uint32_t v)
{
	if (!b->failed)
		buf_store_u32((unsigned char *)b->data + at, v);
}

void pg_buffer_print(struct pg_buffer *b, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	p = n < 0 ? NULL : pg_buffer_grow(b, (size_t)n + 1);
	if (!p) {
		b->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

uint32_t pg_get_u32(const void *p)
{
	const unsigned char *c = p;

	return (uint32_t)c[0] << 24 | (uint32_t)c[1] << 16 | (uint32_t)c[2] << 8 | c[3];
}

uint64_t pg_get_u64(const void *p)
{
	const unsigned char *c = p;

	return (uint64_t)pg_get_u32(c) << 32 | pg_get_u32(c + 4);
}

void pg_put_u64(void *p, uint64_t v)
{
	unsigned char *c = p;

	buf_store_u32(c, (uint32_t)(v >> 32));
	buf_store_u32(c + 4, (uint32_t)v);
}

/* ---- map -------------------------------------------------------------------------------- */

static uint32_t map_hash(struct bk_slice key)
{
	const unsigned char *p = key.data;
	uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ key.len, v;
	size_t n = key.len;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
	}
	for (; n; n--, p++)
		h = (h ^ *p) * UINT64_C(0x100000001b3);
	h ^= h >> 29;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return (uint32_t)(h >> 32);
}

void pg_map_free(struct pg_map *m)
{
	free(m->slots);
	memset(m, 0, sizeof(*m));
}

void pg_map_reset(struct pg_map *m, size_t expected)
{
	size_t cap = 64;

	while (cap < expected * 2 + 2)
		cap *= 2;
	m->failed = false;
	m->count = 0;
	if (cap <= m->cap && m->cap <= cap * 16) {
		memset(m->slots, 0, m->cap * sizeof(*m->slots));
		return;
	}
	free(m->slots);
	m->slots = calloc(cap, sizeof(*m->slots));
	m->failed = !m->slots;
	m->cap = m->slots ? cap : 0;
}

static struct pg_map_slot *map_slot(const struct pg_map *m, struct bk_slice key, uint32_t hash)
{
	size_t i = hash & (m->cap - 1);

	while (m->slots[i].value &&
	       !(m->slots[i].hash == hash && bk_slice_eq(m->slots[i].key, key)))
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static bool map_double(struct pg_map *m)
{
	struct pg_map old = *m;
	size_t i;

	m->slots = calloc(old.cap * 2, sizeof(*m->slots));
	if (!m->slots) {
		m->slots = old.slots;
		m->failed = true;
		return false;
	}
	m->cap = old.cap * 2;
	for (i = 0; i < old.cap; i++) {
		if (old.slots[i].value)
			*map_slot(m, old.slots[i].key, old.slots[i].hash) = old.slots[i];
	}
	free(old.slots);
	return true;
}

uint32_t pg_map_add(struct pg_map *m, struct bk_slice key, uint32_t value)
{
	uint32_t hash = map_hash(key);
	struct pg_map_slot *slot;

	if (!m->cap || ((m->count + 1) * 2 > m->cap && !map_double(m))) {
		m->failed = true;
		return PG_MAP_NONE;
	}
	slot = map_slot(m, key, hash);
	if (slot->value)
		return slot->value - 1;
	slot->key = key;
	slot->hash = hash;
	slot->value = value + 1;
	m->count++;
	return PG_MAP_NONE;
}

void pg_map_set(struct pg_map *m, struct bk_slice key, uint32_t value)
{
	if (pg_map_add(m, key, value) != PG_MAP_NONE)
		map_slot(m, key, map_hash(key))->value = value + 1;
}

struct bk_slice pg_map_key(const struct pg_map *m, struct bk_slice key)
{
	return m->cap ? map_slot(m, key, map_hash(key))->key : key;
}

uint32_t pg_map_get(const struct pg_map *m, struct bk_slice key)
{
	const struct pg_map_slot *slot;

	if (!m->cap)
		return PG_MAP_NONE;
	slot = map_slot(m, key, map_hash(key));
	return slot->value ? slot->value - 1 : PG_MAP_NONE;
}
