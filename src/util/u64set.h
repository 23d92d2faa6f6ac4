/*
 * u64set.h - a set of 64-bit values (hashes), open addressing: 16 bytes of memory a value at most.
 */
#ifndef BK_UTIL_U64SET_H
#define BK_UTIL_U64SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bk_u64set { /* starts as all zero */
	uint64_t *slots;
	size_t mask;
	size_t count;
	bool failed; /* out of memory: the count is too small */
	bool has_zero;
};

/* true when `value` was not in it before. */
bool bk_u64set_add(struct bk_u64set *set, uint64_t value);
void bk_u64set_free(struct bk_u64set *set); /* empty and usable again */

#endif
