/*
 * mem.h - memory of one session: a growing buffer, an arena, a map from bytes to a number.
 *
 * The one invariant: an arena's blocks never move, so that a view into one stays good until the
 * arena is reset.
 */
#ifndef BK_MYSQL_MEM_H
#define BK_MYSQL_MEM_H

#include <bakeoff/backend_util.h>

#include <stdbool.h>

struct my_buf {
	char *data;
	size_t len, cap;
};
bool my_buf_reserve(struct my_buf *b, size_t more); /* false: out of memory */
bool my_buf_add(struct my_buf *b, const void *data, size_t len);
void my_buf_free(struct my_buf *b);

struct my_block;
struct my_arena {
	struct my_block *first, *current;
	size_t held; /* bytes given out since the last reset */
};
void *my_alloc(struct my_arena *a, size_t len); /* NULL: out of memory; aligned for any type */
bool my_copy(struct my_arena *a, struct bk_slice *out, struct bk_slice from);
void my_arena_reset(struct my_arena *a); /* keeps one block of ordinary size */
void my_arena_free(struct my_arena *a);

/* Keys are borrowed.  Lives in an arena, sized once for at most `n` keys. */
struct my_map_entry {
	struct bk_slice key;
	uint64_t hash, value;
	bool used;
};
struct my_map {
	struct my_map_entry *entries;
	size_t mask;
};
bool my_map_init(struct my_map *m, struct my_arena *a, size_t n);
/* The entry of `key`; entry->used is false when it is not there yet: fill in value and set it. */
struct my_map_entry *my_map_at(struct my_map *m, struct bk_slice key);
uint64_t my_hash(struct bk_slice key);

bool my_utf8(struct bk_slice text); /* well-formed, without NUL */

#endif
