/*
 * overlay.c - a transaction's own writes, in key order: a skip list in an arena.
 *
 * Entries never move and never go away before the reset, so a position in it stays good while
 * more is written; what is taken back turns to state NONE.
 */
#include "view.h"

#include <stdlib.h>

void ldb_overlay_init(struct ldb_overlay *o)
{
	memset(o, 0, sizeof(*o));
	o->height = 1;
	o->random = UINT64_C(0x2545f4914f6cdd1d);
}

void ldb_overlay_reset(struct ldb_overlay *o)
{
	ldb_arena_reset(&o->arena);
	memset(o->head, 0, sizeof(o->head));
	o->height = 1;
	o->count = 0;
	o->ordinal = 0;
	o->undo_count = 0;
	o->failed = false;
}

void ldb_overlay_free(struct ldb_overlay *o)
{
	ldb_arena_free(&o->arena);
	free(o->undo);
	o->undo = NULL;
}

/* Any seed does: the order of keys cannot be aimed at it by accident. */
static uint32_t random_height(struct ldb_overlay *o)
{
	uint32_t height = 1;
	uint64_t x = o->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	o->random = x;
	for (; height < LDB_OVERLAY_HEIGHT && (x & 3) == 0; x >>= 2)
		height++;
	return height;
}

/* The first entry at or after key; in `before`, the links that lead past it, level by level. */
static struct ldb_entry *descend(const struct ldb_overlay *o, struct bk_slice key,
				 struct ldb_entry *const **before)
{
	struct ldb_entry *const *links = o->head;
	uint32_t level = o->height;

	while (level-- > 0) {
		while (links[level] && bk_slice_cmp(links[level]->key, key) < 0)
			links = links[level]->next;
		if (before)
			before[level] = &links[level];
	}
	return links[0];
}

struct ldb_entry *ldb_overlay_seek(const struct ldb_overlay *o, struct bk_slice key)
{
	return descend(o, key, NULL);
}

struct ldb_entry *ldb_overlay_find(const struct ldb_overlay *o, struct bk_slice key)
{
	struct ldb_entry *e = descend(o, key, NULL);

	return e && bk_slice_eq(e->key, key) ? e : NULL;
}

static bool note(struct ldb_overlay *o, struct ldb_entry *e)
{
	struct ldb_undo *u;

	if (o->undo_count == o->undo_cap) {
		size_t cap = o->undo_cap ? o->undo_cap * 2 : 64;

		u = realloc(o->undo, cap * sizeof(*u));
		if (!u)
			return false;
		o->undo = u;
		o->undo_cap = cap;
	}
	u = &o->undo[o->undo_count++];
	u->entry = e;
	u->value = e->value;
	u->state = e->state;
	u->ordinal = e->ordinal;
	return true;
}

static struct ldb_entry *insert(struct ldb_overlay *o, struct bk_slice key,
				struct ldb_entry *const **before)
{
	uint32_t height = random_height(o), i;
	struct ldb_entry *e;

	e = ldb_arena_alloc(&o->arena, sizeof(*e) + height * sizeof(e->next[0]));
	if (!e || !ldb_arena_copy(&o->arena, &e->key, key))
		return NULL;
	e->value = bk_slice_of(NULL, 0);
	e->state = LDB_ENTRY_NONE;
	e->ordinal = o->ordinal;
	for (i = o->height; i < height; i++)
		before[i] = &o->head[i];
	if (height > o->height)
		o->height = height;
	for (i = 0; i < height; i++) {
		e->next[i] = *before[i];
		/* The links are const to those who search only. */
		*(struct ldb_entry **)before[i] = e;
	}
	o->count++;
	return e;
}

void ldb_overlay_set(struct ldb_overlay *o, struct bk_slice key, struct bk_slice value,
		     uint32_t state)
{
	struct ldb_entry *const *before[LDB_OVERLAY_HEIGHT];
	struct ldb_entry *e = descend(o, key, before);
	struct bk_slice copy;

	if (o->failed)
		return;
	if (!e || !bk_slice_eq(e->key, key))
		e = insert(o, key, before);
	if (!e || !ldb_arena_copy(&o->arena, &copy, value) || !note(o, e)) {
		o->failed = true;
		return;
	}
	if (e->state == LDB_ENTRY_NONE)
		e->ordinal = o->ordinal;
	e->value = copy;
	e->state = state;
}

void ldb_overlay_mark(struct ldb_overlay *o)
{
	o->undo_count = 0;
	o->failed = false;
}

void ldb_overlay_back(struct ldb_overlay *o)
{
	while (o->undo_count > 0) {
		const struct ldb_undo *u = &o->undo[--o->undo_count];

		u->entry->value = u->value;
		u->entry->state = u->state;
		u->entry->ordinal = u->ordinal;
	}
	o->failed = false;
}
