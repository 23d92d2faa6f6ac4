/*
 * published.h - the Fedora community's published figures that a comparison can be held against:
 * matrix/published.csv, installed beside the program.  Ratios only: their seconds went through
 * HTTP and a whole repository.
 */
#ifndef BK_REPORT_PUBLISHED_H
#define BK_REPORT_PUBLISHED_H

#include "report/compare.h"

/* One line for each pair (variant, reference) of the comparison that was published for a case that
 * is in it; nothing where there is none. */
void bk_published_print(FILE *out, const struct bk_comparison *comparison, const char *bullet);

#endif
