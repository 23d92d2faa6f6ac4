/*
 * hash.h - the two hashes: 128 bits that name a node's file, 64 bits for checks and look-ups.
 *
 * The one invariant: the name of a node's file is what `printf %s ID | xxh128sum` prints.
 */
#ifndef BK_FILE_HASH_H
#define BK_FILE_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bakeoff/backend.h>

#define FILE_NAME_LEN 32

static inline void file_hex(char *out, uint64_t value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value >>= 4)
		out[i] = "0123456789abcdef"[value & 15];
}

static inline void file_hash_name(char out[FILE_NAME_LEN + 1], struct bk_slice id)
{
	XXH128_hash_t h = XXH3_128bits(id.data, id.len);

	file_hex(out, h.high64, 16);
	file_hex(out + 16, h.low64, 16);
	out[FILE_NAME_LEN] = '\0';
}

static inline uint64_t file_hash(uint64_t seed, struct bk_slice s)
{
	return XXH3_64bits_withSeed(s.data, s.len, seed);
}

#endif
