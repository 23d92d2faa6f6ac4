/*
 * buffer.h - bytes that grow, and a map from byte strings to numbers.
 *
 * Neither reports lack of memory at each step: a buffer that could not grow stays as it is with
 * `failed` set, and whoever sends it looks at that once.
 */
#ifndef BK_PG_BUFFER_H
#define BK_PG_BUFFER_H

#include <bakeoff/backend_util.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pg_buffer {
	char *data;
	size_t len, cap;
	bool failed;
};

void pg_buffer_free(struct pg_buffer *b);
void pg_buffer_reset(struct pg_buffer *b); /* empty; keeps the memory unless it is large */
char *pg_buffer_grow(struct pg_buffer *b, size_t bytes); /* room for more at the end, or NULL */
void pg_buffer_add(struct pg_buffer *b, const void *data, size_t len);
void pg_buffer_u16(struct pg_buffer *b, uint16_t v); /* network order, as the protocol has it */
void pg_buffer_u32(struct pg_buffer *b, uint32_t v);
void pg_buffer_u64(struct pg_buffer *b, uint64_t v);
void pg_buffer_set_u32(struct pg_buffer *b, size_t at, uint32_t v);
void pg_buffer_print(struct pg_buffer *b, const char *fmt, ...) BK_PRINTF(2, 3);
static inline struct bk_slice pg_buffer_slice(const struct pg_buffer *b)
{
	return bk_slice_of(b->data ? b->data : "", b->len);
}

uint32_t pg_get_u32(const void *p);
uint64_t pg_get_u64(const void *p);
void pg_put_u64(void *p, uint64_t v);

/* Keys are borrowed.  Insertion answers with the number that is already there, if any. */
struct pg_map {
	struct pg_map_slot {
		struct bk_slice key;
		uint32_t value; /* + 1; 0: free */
		uint32_t hash;
	} * slots;
	size_t cap, count;
	bool failed;
};
#define PG_MAP_NONE UINT32_MAX
void pg_map_free(struct pg_map *m);
void pg_map_reset(struct pg_map *m, size_t expected);
uint32_t pg_map_add(struct pg_map *m, struct bk_slice key, uint32_t value);
void pg_map_set(struct pg_map *m, struct bk_slice key, uint32_t value);
struct bk_slice pg_map_key(const struct pg_map *m, struct bk_slice key); /* as it was added */
uint32_t pg_map_get(const struct pg_map *m, struct bk_slice key);

#endif
