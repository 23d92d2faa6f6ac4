/*
 * content.h - the bytes of binaries: incompressible, unique, and made before the clock.
 *
 * A block of random bytes is stamped every 4 KiB with (seed, binary, position), in place, so that
 * a chunk costs a few hundred stores instead of a copy.
 */
#ifndef BK_SCENARIO_CONTENT_H
#define BK_SCENARIO_CONTENT_H

#include <bakeoff/backend.h>

#include <stdbool.h>

#define BK_CONTENT_CHUNK ((size_t)1 << 20)
#define BK_SHA256_HEX    65

struct bk_content {           /* one for each worker */
	unsigned char *block; /* BK_CONTENT_CHUNK bytes */
	uint64_t seed;
};

bool bk_content_init(struct bk_content *content, uint64_t seed); /* false: out of memory */
void bk_content_free(struct bk_content *content);

/* Bytes [offset, offset + n) of binary i, where offset is a multiple of BK_CONTENT_CHUNK and n at
 * most one chunk; valid until the next call. */
const unsigned char *bk_content_chunk(struct bk_content *content, uint64_t i, uint64_t offset);

/* The SHA-256 of binary i of `size` bytes, as hex. */
bk_status bk_content_sha256(char out[BK_SHA256_HEX], struct bk_content *content, uint64_t i,
			    uint64_t size, struct bk_error *err);

#endif
