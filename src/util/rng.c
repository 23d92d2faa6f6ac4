/*
 * rng.c - xoshiro256++ (Blackman and Vigna, public domain), seeded by splitmix64; labels go
 * through XXH64, whose output is fixed by its specification.
 */
#include "util/rng.h"

#include "util/u128.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include <xxhash.h>

static uint64_t rng_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint64_t rng_splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t bk_rng_derive(uint64_t seed, const char *label)
{
	return XXH64(label, strlen(label), seed);
}

uint64_t bk_rng_derive_u64(uint64_t seed, uint64_t label)
{
	unsigned char bytes[8];
	int i;

	for (i = 0; i < 8; i++) /* same on either byte order */
		bytes[i] = (unsigned char)(label >> (8 * i));
	return XXH64(bytes, sizeof(bytes), seed);
}

void bk_rng_init(struct bk_rng *rng, uint64_t seed)
{
	size_t i;

	for (i = 0; i < 4; i++)
		rng->s[i] = rng_splitmix(&seed);
}

void bk_rng_stream(struct bk_rng *rng, uint64_t seed, ...)
{
	const char *label;
	va_list ap;

	va_start(ap, seed);
	while ((label = va_arg(ap, const char *)))
		seed = bk_rng_derive(seed, label);
	va_end(ap);
	bk_rng_init(rng, seed);
}

uint64_t bk_rng_u64(struct bk_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rng_rotl(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rng_rotl(s[3], 45);
	return result;
}

uint64_t bk_rng_below(struct bk_rng *rng, uint64_t n)
{
	bk_u128 product;
	uint64_t low;

	assert(n > 0);
	product = (bk_u128)bk_rng_u64(rng) * n;
	low = (uint64_t)product;
	if (low < n) { /* Lemire: throw away the part that would be counted once too often */
		uint64_t threshold = (0 - n) % n;

		while (low < threshold) {
			product = (bk_u128)bk_rng_u64(rng) * n;
			low = (uint64_t)product;
		}
	}
	return (uint64_t)(product >> 64);
}

void bk_rng_fill(struct bk_rng *rng, void *out, size_t len)
{
	unsigned char *p = out;

	while (len > 0) {
		uint64_t v = bk_rng_u64(rng);
		size_t i, n = len < 8 ? len : 8;

		for (i = 0; i < n; i++)
			p[i] = (unsigned char)(v >> (8 * i));
		p += n;
		len -= n;
	}
}

void bk_rng_shuffle(struct bk_rng *rng, void *base, size_t n, size_t size)
{
	unsigned char *p = base;
	size_t i, k;

	for (i = n; i > 1; i--) {
		unsigned char *a = p + (i - 1) * size, *b = p + bk_rng_below(rng, i) * size;

		for (k = 0; a != b && k < size; k++) {
			unsigned char t = a[k];

			a[k] = b[k];
			b[k] = t;
		}
	}
}
