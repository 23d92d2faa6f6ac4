/*
 * arena.h - memory that is freed all at once.
 *
 * The one invariant: what it gave stays where it is until the arena is freed.
 */
#ifndef BK_UTIL_ARENA_H
#define BK_UTIL_ARENA_H

#include <stddef.h>

struct bk_arena_block;
struct bk_arena { /* starts as all zero */
	struct bk_arena_block *blocks;
};

/* Zeroed, aligned for anything; NULL when there is no memory. */
void *bk_arena_alloc(struct bk_arena *arena, size_t size);
char *bk_arena_strdup(struct bk_arena *arena, const char *text);
char *bk_arena_strndup(struct bk_arena *arena, const char *text, size_t len);
char *bk_arena_printf(struct bk_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void bk_arena_free(struct bk_arena *arena); /* usable again afterwards, empty */

#endif
