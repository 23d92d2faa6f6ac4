/*
 * compare_rows.h - the trials of a run into rows and cells.  Private to compare.c.
 */
#ifndef BK_REPORT_COMPARE_ROWS_H
#define BK_REPORT_COMPARE_ROWS_H

#include "report/compare.h"

/* Rows of `metrics` (as for bk_comparison_load), their cells filled by round.  The run's head and
 * its variants are there before. */
bk_status bk_comparison_rows(struct bk_comparison *c, struct bk_results *results,
			     const char *metrics, struct bk_error *err);

/* A text of the results file, kept as long as the comparison; NULL stays NULL. */
static inline const char *bk_comparison_keep(struct bk_comparison *c, const char *text)
{
	return text ? bk_arena_strdup(&c->arena, text) : NULL;
}

#endif
