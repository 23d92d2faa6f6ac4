/*
 * u64set.c - linear probing; zero marks a free slot and is itself kept apart.
 */
#include "util/u64set.h"

#include <stdlib.h>
#include <string.h>

/* spreads values that are not hashes already (splitmix64's finaliser) */
static size_t place(uint64_t v)
{
	v ^= v >> 30;
	v *= UINT64_C(0xbf58476d1ce4e5b9);
	v ^= v >> 27;
	return (size_t)v;
}

static bool insert(struct bk_u64set *set, uint64_t value)
{
	size_t i = place(value) & set->mask;

	while (set->slots[i]) {
		if (set->slots[i] == value)
			return false;
		i = (i + 1) & set->mask;
	}
	set->slots[i] = value;
	return true;
}

static bool grow(struct bk_u64set *set)
{
	struct bk_u64set larger = {0};
	size_t slots = set->slots ? (set->mask + 1) * 2 : 1024, i;

	larger.slots = calloc(slots, sizeof(uint64_t));
	if (!larger.slots)
		return false;
	larger.mask = slots - 1;
	for (i = 0; set->slots && i <= set->mask; i++) {
		if (set->slots[i])
			insert(&larger, set->slots[i]);
	}
	free(set->slots);
	set->slots = larger.slots;
	set->mask = larger.mask;
	return true;
}

bool bk_u64set_add(struct bk_u64set *set, uint64_t value)
{
	bool fresh;

	if (value == 0) {
		fresh = !set->has_zero;
		set->has_zero = true;
		set->count += fresh;
		return fresh;
	}
	if ((!set->slots || set->count >= (set->mask + 1) / 4 * 3) && !grow(set)) {
		set->failed = true;
		return true;
	}
	fresh = insert(set, value);
	set->count += fresh;
	return fresh;
}

void bk_u64set_free(struct bk_u64set *set)
{
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
