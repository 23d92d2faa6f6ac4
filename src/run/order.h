/*
 * order.h - the order of a run's trials: fixed by the seed, balanced, the same every time.
 *
 * A round runs every case once.  Within a case the variants that have it stand next to each other,
 * in an order that is a row of a Williams square (for two: AB, BA): over the rounds each variant
 * comes about equally often in each place, and after each other variant.  Cases are shuffled anew
 * each round.  (E. J. Williams, Aust. J. Sci. Res. A2, 1949.)
 */
#ifndef BK_RUN_ORDER_H
#define BK_RUN_ORDER_H

#include "matrix/matrix.h"

struct bk_order {
	size_t *cells; /* rounds * cell_count indexes into matrix->cells */
	size_t per_round;
};
bk_status bk_order_make(struct bk_order *out, const struct bk_matrix *matrix, struct bk_error *err);
void bk_order_free(struct bk_order *order);

/* Row `row` of the Williams square of n: n rows when n is even, 2n when it is odd. */
void bk_williams_row(size_t *out, size_t n, size_t row);
size_t bk_williams_rows(size_t n);

#endif
