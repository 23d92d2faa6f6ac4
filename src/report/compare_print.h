/*
 * compare_print.h - the forms of a comparison that programs read.  Private to compare_print.c.
 */
#ifndef BK_REPORT_COMPARE_PRINT_H
#define BK_REPORT_COMPARE_PRINT_H

#include "report/compare.h"

void bk_comparison_csv(FILE *out, const struct bk_comparison *c);
void bk_comparison_json(FILE *out, const struct bk_comparison *c);

#endif
