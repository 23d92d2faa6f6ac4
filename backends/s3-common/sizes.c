/*
 * sizes.c - how many binaries a store holds, and how large they are.
 *
 * The one invariant: listing stops after so many pages, and then says that it did.
 */
#include "own.h"

#define SIZ_PAGES  100
#define SIZ_GROUPS 11 /* below 1 KiB, 4 KiB, ... 64 MiB, 256 MiB; above */

struct siz {
	uint64_t count, bytes, by_size[SIZ_GROUPS];
	bool cut;
};

static void siz_count(struct siz *s, uint64_t size_bytes)
{
	uint64_t limit = 1024;
	size_t i;

	for (i = 0; i < SIZ_GROUPS - 1 && size_bytes >= limit; i++)
		limit *= 4;
	s->by_size[i]++;
	s->count++;
	s->bytes += size_bytes;
}

static bk_status siz_walk(struct siz *s, const struct own_doors *d, struct bk_error *err)
{
	struct s3_page page = {.count = 0};
	struct s3_buf own = {0};
	bk_status st = BK_OK;
	size_t pages, i;

	for (pages = 0; st == BK_OK && (!page.begun || page.more); pages++) {
		s->cut = pages == SIZ_PAGES;
		if (s->cut)
			break;
		st = d->page(d->ctx, &page, d->site->at.bucket, d->site->at.space, 1000, err);
		for (i = 0; st == BK_OK && i < page.count; i++) {
			s3_buf_reset(&own);
			if (d->own_key(&own, d->site, s3_page_key(&page, i)))
				siz_count(s, page.items[i].size_bytes);
		}
	}
	s3_page_free(&page);
	s3_buf_free(&own);
	return st;
}

bk_status s3_sizes_tell(const struct own_doors *d, const struct bk_sink *sink, struct bk_error *err)
{
	struct siz s = {.count = 0};
	bk_status st = siz_walk(&s, d, err);
	uint32_t flags = s.cut ? BK_SINK_ESTIMATE : 0;
	uint64_t limit = 1024;
	char name[48];
	size_t i;

	if (st != BK_OK)
		return st;
	sink->put_u64(sink->ctx, "binaries.count", s.count, "count", flags);
	sink->put_u64(sink->ctx, "storage.bytes", s.bytes, "bytes", flags);
	if (s.count)
		sink->begin(sink->ctx, "histogram", "sizes");
	for (i = 0; s.count && i < SIZ_GROUPS; i++, limit *= 4) {
		if (i < SIZ_GROUPS - 1)
			snprintf(name, sizeof(name), "below.%llu", (unsigned long long)limit);
		else
			snprintf(name, sizeof(name), "larger");
		if (s.by_size[i])
			sink->put_u64(sink->ctx, name, s.by_size[i], "count", flags);
	}
	if (s.count)
		sink->end(sink->ctx);
	if (s.cut)
		sink->flag(sink->ctx, "listing-cut",
			   "there is more than was listed: counts and sizes are lower bounds");
	return BK_OK;
}
