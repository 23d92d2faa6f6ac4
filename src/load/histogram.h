/*
 * histogram.h - latencies in nanoseconds, log-linear: 1024 buckets for each power of two.
 *
 * Any value is kept within 0.1 % (three digits) from 1 ns to 4.8 hours; larger ones are counted in
 * the last bucket and their maximum kept exactly.  The merge of two histograms is the histogram of
 * the union.  One writer each, no locks.  The layout follows the idea of HdrHistogram (Gil Tene).
 */
#ifndef BK_LOAD_HISTOGRAM_H
#define BK_LOAD_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define BK_HISTOGRAM_SUB_BITS 10
#define BK_HISTOGRAM_MAX_BITS 44
#define BK_HISTOGRAM_BUCKETS                                                                       \
	((size_t)(BK_HISTOGRAM_MAX_BITS - BK_HISTOGRAM_SUB_BITS + 1) << BK_HISTOGRAM_SUB_BITS)

struct bk_histogram {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns, max_ns; /* exact; min is UINT64_MAX while empty */
	uint64_t bucket[BK_HISTOGRAM_BUCKETS];
};

/* The caller frees with bk_histogram_free(); NULL when out of memory. */
struct bk_histogram *bk_histogram_new(void);
void bk_histogram_free(struct bk_histogram *h);
void bk_histogram_reset(struct bk_histogram *h);

static inline size_t bk_histogram_index(uint64_t ns)
{
	unsigned int top;

	if (ns < (UINT64_C(1) << BK_HISTOGRAM_SUB_BITS))
		return (size_t)ns;
	top = 63u - (unsigned int)__builtin_clzll(ns);
	if (top >= BK_HISTOGRAM_MAX_BITS)
		return BK_HISTOGRAM_BUCKETS - 1;
	/* the bits below the leading one select the bucket within its power of two */
	return ((size_t)(top - BK_HISTOGRAM_SUB_BITS + 1) << BK_HISTOGRAM_SUB_BITS) +
	       (size_t)((ns >> (top - BK_HISTOGRAM_SUB_BITS)) &
			((UINT64_C(1) << BK_HISTOGRAM_SUB_BITS) - 1));
}

static inline void bk_histogram_record(struct bk_histogram *h, uint64_t ns)
{
	h->bucket[bk_histogram_index(ns)]++;
	h->count++;
	h->sum_ns += ns;
	if (ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

void bk_histogram_merge(struct bk_histogram *into, const struct bk_histogram *from);

/* The value at quantile q (0..1), nearest rank, as the middle of its bucket clamped to what was
 * seen; 0 while empty. */
uint64_t bk_histogram_quantile(const struct bk_histogram *h, double q);
/* Operations that lie beyond quantile q: a percentile is worth printing from 100 on. */
uint64_t bk_histogram_beyond(const struct bk_histogram *h, double q);
double bk_histogram_mean(const struct bk_histogram *h);

/* Sparse text, "h1 count sum min max" and then "gap:count" for each bucket in use, for the results
 * file; *out is malloc'd.  -1 when out of memory. */
int bk_histogram_write(char **out, const struct bk_histogram *h);
/* The reverse; -1 on text that is no histogram. */
int bk_histogram_read(struct bk_histogram *h, const char *text);

#endif
