/*
 * summary.c - sorts a copy; for few values on the stack.
 */
#include "util/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bk_summary bk_summary_of(const double *values, size_t n)
{
	struct bk_summary s = {n, NAN, NAN, NAN};
	double few[64], *sorted = n <= 64 ? few : malloc(n * sizeof(*sorted));

	if (n && sorted) {
		memcpy(sorted, values, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_value);
		s.min = sorted[0];
		s.max = sorted[n - 1];
		s.median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	}
	if (sorted != few)
		free(sorted);
	return s;
}
