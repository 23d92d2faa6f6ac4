/*
 * arena.c - a chain of blocks, the one in use first.
 */
#include "util/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK 4096

struct bk_arena_block {
	struct bk_arena_block *next;
	size_t used, size;
	max_align_t data[];
};

void *bk_arena_alloc(struct bk_arena *arena, size_t size)
{
	struct bk_arena_block *block = arena->blocks;
	const size_t align = sizeof(max_align_t);
	void *p;

	if (size > (size_t)-1 / 2)
		return NULL;
	size = (size + align - 1) / align * align;
	if (!block || block->size - block->used < size) {
		size_t cap = size > ARENA_BLOCK ? size : ARENA_BLOCK;

		block = calloc(1, sizeof(*block) + cap);
		if (!block)
			return NULL;
		block->size = cap;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	p = (char *)block->data + block->used;
	block->used += size;
	return p;
}

char *bk_arena_strndup(struct bk_arena *arena, const char *text, size_t len)
{
	char *copy = bk_arena_alloc(arena, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

char *bk_arena_strdup(struct bk_arena *arena, const char *text)
{
	return bk_arena_strndup(arena, text, strlen(text));
}

char *bk_arena_printf(struct bk_arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	text = bk_arena_alloc(arena, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

void bk_arena_free(struct bk_arena *arena)
{
	if (!arena)
		return;
	while (arena->blocks) {
		struct bk_arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}
