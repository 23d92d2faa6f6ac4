/*
 * histogram.c - merge, quantiles and the text form; recording is inline in the header.
 */
#include "load/histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bk_histogram *bk_histogram_new(void)
{
	struct bk_histogram *h = malloc(sizeof(*h));

	if (h)
		bk_histogram_reset(h);
	return h;
}

void bk_histogram_free(struct bk_histogram *h)
{
	free(h);
}

void bk_histogram_reset(struct bk_histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min_ns = UINT64_MAX;
}

void bk_histogram_merge(struct bk_histogram *into, const struct bk_histogram *from)
{
	size_t i;

	for (i = 0; i < BK_HISTOGRAM_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
}

static uint64_t bucket_middle_ns(size_t index)
{
	size_t power = index >> BK_HISTOGRAM_SUB_BITS;
	uint64_t low;

	if (power == 0)
		return index;
	low = ((UINT64_C(1) << BK_HISTOGRAM_SUB_BITS) +
	       (index & ((UINT64_C(1) << BK_HISTOGRAM_SUB_BITS) - 1)))
	      << (power - 1);
	return low + (UINT64_C(1) << (power - 1)) / 2;
}

static uint64_t rank_of(const struct bk_histogram *h, double q)
{
	double rank = ceil(q * (double)h->count);

	if (rank < 1)
		return 1;
	return rank > (double)h->count ? h->count : (uint64_t)rank;
}

uint64_t bk_histogram_quantile(const struct bk_histogram *h, double q)
{
	uint64_t rank, seen = 0, value;
	size_t i;

	if (h->count == 0)
		return 0;
	rank = rank_of(h, q);
	if (rank == h->count)
		return h->max_ns;
	for (i = 0; i < BK_HISTOGRAM_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			break;
	}
	value = bucket_middle_ns(i);
	if (value < h->min_ns)
		return h->min_ns;
	return value > h->max_ns ? h->max_ns : value;
}

uint64_t bk_histogram_beyond(const struct bk_histogram *h, double q)
{
	return h->count ? h->count - rank_of(h, q) : 0;
}

double bk_histogram_mean(const struct bk_histogram *h)
{
	return h->count ? (double)h->sum_ns / (double)h->count : 0.0;
}

int bk_histogram_write(char **out, const struct bk_histogram *h)
{
	size_t size, i, last = 0;
	FILE *f = open_memstream(out, &size);

	if (!f)
		return -1;
	fprintf(f, "h1 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, h->count, h->sum_ns,
		h->count ? h->min_ns : 0, h->max_ns);
	for (i = 0; i < BK_HISTOGRAM_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		fprintf(f, " %zu:%" PRIu64, i - last, h->bucket[i]);
		last = i;
	}
	return fclose(f) == 0 ? 0 : -1;
}

int bk_histogram_read(struct bk_histogram *h, const char *text)
{
	size_t index = 0;
	uint64_t total = 0;
	int used = 0;

	bk_histogram_reset(h);
	if (sscanf(text, "h1 %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &h->count,
		   &h->sum_ns, &h->min_ns, &h->max_ns, &used) != 4)
		return -1;
	text += used;
	while (*text) {
		size_t delta;
		uint64_t n;

		if (sscanf(text, " %zu:%" SCNu64 "%n", &delta, &n, &used) != 2)
			return -1;
		if (delta >= BK_HISTOGRAM_BUCKETS - index)
			return -1;
		index += delta;
		h->bucket[index] = n;
		total += n;
		text += used;
	}
	if (h->count == 0)
		h->min_ns = UINT64_MAX;
	return total == h->count ? 0 : -1;
}
