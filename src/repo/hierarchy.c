/*
 * hierarchy.c - names and the paths they lead to.
 */
#include "repo/hierarchy.h"

#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <string.h>

bk_status bk_hierarchy_parse(struct bk_hierarchy *out, const char *text, struct bk_error *err)
{
	unsigned int levels = 4, digits = 2;
	int used = 0;

	if (strcmp(text, "flat") == 0) {
		out->levels = out->digits = 0;
		return BK_OK;
	}
	if (strncmp(text, "pairtree", 8) == 0) {
		const char *rest = text + 8;

		if (*rest == '\0' ||
		    (sscanf(rest, " %2ux%2u%n", &levels, &digits, &used) == 2 && !rest[used])) {
			if (levels >= 1 && digits >= 1 && levels * digits <= 32) {
				out->levels = levels;
				out->digits = digits;
				return BK_OK;
			}
		}
	}
	return bk_fail(
		err, BK_INVALID, 0,
		"hierarchy '%s' is none; write flat, pairtree, or pairtree LEVELSxDIGITS with "
		"at most 32 digits in all (pairtree 4x2)",
		text);
}

void bk_name_make(char out[BK_NAME_LEN + 1], uint64_t seed, const char *kind, uint64_t i)
{
	struct bk_rng rng;
	uint64_t a, b;

	bk_rng_init(&rng, bk_rng_derive_u64(bk_rng_derive(seed, kind), i));
	a = bk_rng_u64(&rng);
	b = bk_rng_u64(&rng);
	snprintf(out, BK_NAME_LEN + 1, "%08x-%04x-4%03x-%04x-%012llx", (unsigned int)(a >> 32),
		 (unsigned int)(a >> 16) & 0xffffu, (unsigned int)a & 0xfffu,
		 ((unsigned int)(b >> 48) & 0x3fffu) | 0x8000u,
		 (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}

void bk_hierarchy_path(struct bk_buf *buf, const struct bk_hierarchy *h, const char *name,
		       size_t ends[32])
{
	const char *digit = name;
	uint32_t l, d;

	for (l = 0; l < h->levels; l++) {
		bk_buf_puts(buf, "/");
		for (d = 0; d < h->digits; d++) {
			if (*digit == '-')
				digit++;
			bk_buf_put(buf, digit++, 1);
		}
		ends[l] = buf->len;
	}
	bk_buf_puts(buf, "/");
	bk_buf_puts(buf, name);
}
