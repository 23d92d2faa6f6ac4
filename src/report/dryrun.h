/*
 * dryrun.h - what a matrix would do, before it does it.
 */
#ifndef BK_REPORT_DRYRUN_H
#define BK_REPORT_DRYRUN_H

#include "matrix/matrix.h"
#include "results/results.h"

#include <stdio.h>

/* Cells, bytes, and the time from earlier trials of the same cells in `earlier` (NULL: none), or
 * 'not known yet'. */
void bk_dryrun_print(FILE *out, const struct bk_matrix *matrix, struct bk_results *earlier);

#endif
