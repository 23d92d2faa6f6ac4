/*
 * rng.h - seeded random numbers (xoshiro256++), in streams that do not depend on each other.
 *
 * The one invariant: the same seed and the same labels give the same numbers on every machine and
 * in every version; recorded seeds must replay.
 */
#ifndef BK_UTIL_RNG_H
#define BK_UTIL_RNG_H

#include <stddef.h>
#include <stdint.h>

struct bk_rng {
	uint64_t s[4];
};

/* A seed of its own for each label beneath a seed: bk_rng_derive(bk_rng_derive(seed, "n-members"),
 * "worker-3").  Order matters. */
uint64_t bk_rng_derive(uint64_t seed, const char *label);
uint64_t bk_rng_derive_u64(uint64_t seed, uint64_t label);

void bk_rng_init(struct bk_rng *rng, uint64_t seed);
/* The stream of (seed, labels...); ends with NULL. */
void bk_rng_stream(struct bk_rng *rng, uint64_t seed, ...) __attribute__((sentinel));

uint64_t bk_rng_u64(struct bk_rng *rng);
uint64_t bk_rng_below(struct bk_rng *rng, uint64_t n); /* [0, n), n >= 1, without bias */
void bk_rng_fill(struct bk_rng *rng, void *out, size_t len);
void bk_rng_shuffle(struct bk_rng *rng, void *base, size_t n, size_t size); /* Fisher-Yates */

#endif
