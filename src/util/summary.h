/*
 * summary.h - order statistics of a few figures.  Pure functions on arrays; the input is not
 * changed and may not hold NaN.
 */
#ifndef BK_UTIL_SUMMARY_H
#define BK_UTIL_SUMMARY_H

#include <stddef.h>

struct bk_summary {
	size_t n;
	double min, median, max; /* NaN when n is 0 */
};

/* The median of an even number is the mean of the middle two. */
struct bk_summary bk_summary_of(const double *values, size_t n);

#endif
