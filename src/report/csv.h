/*
 * csv.h - fields of RFC 4180: quoted where they need it.
 */
#ifndef BK_REPORT_CSV_H
#define BK_REPORT_CSV_H

#include <stdio.h>

/* NULL: an empty field. */
void bk_csv_field(FILE *out, const char *text);

#endif
