/*
 * content.c - the pool block, its stamps, its digests.
 */
#include "scenario/content.h"

#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define STAMP_EVERY 4096u

bool bk_content_init(struct bk_content *content, uint64_t seed)
{
	struct bk_rng rng;

	content->seed = seed;
	content->block = malloc(BK_CONTENT_CHUNK);
	if (!content->block)
		return false;
	bk_rng_stream(&rng, seed, "content", (const char *)NULL);
	bk_rng_fill(&rng, content->block, BK_CONTENT_CHUNK);
	return true;
}

void bk_content_free(struct bk_content *content)
{
	free(content->block);
	content->block = NULL;
}

const unsigned char *bk_content_chunk(struct bk_content *content, uint64_t i, uint64_t offset)
{
	uint64_t stamp[2] = {content->seed ^ (i * UINT64_C(0x9e3779b97f4a7c15)), offset};
	size_t at;

	for (at = 0; at < BK_CONTENT_CHUNK; at += STAMP_EVERY) {
		memcpy(content->block + at, stamp, sizeof(stamp));
		stamp[1] += STAMP_EVERY;
	}
	return content->block;
}

bk_status bk_content_sha256(char out[BK_SHA256_HEX], struct bk_content *content, uint64_t i,
			    uint64_t size, struct bk_error *err)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0, k;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint64_t offset;
	bool good = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;

	for (offset = 0; good && offset < size; offset += BK_CONTENT_CHUNK) {
		uint64_t left = size - offset;

		good = EVP_DigestUpdate(ctx, bk_content_chunk(content, i, offset),
					left < BK_CONTENT_CHUNK ? (size_t)left
								: BK_CONTENT_CHUNK) == 1;
	}
	good = good && EVP_DigestFinal_ex(ctx, digest, &len) == 1 && len == 32;
	EVP_MD_CTX_free(ctx);
	if (!good)
		return bk_fail(err, BK_INTERNAL, 0, "cannot compute a SHA-256");
	for (k = 0; k < len; k++) {
		out[2 * k] = hex[digest[k] >> 4];
		out[2 * k + 1] = hex[digest[k] & 15];
	}
	out[2 * len] = '\0';
	return BK_OK;
}
