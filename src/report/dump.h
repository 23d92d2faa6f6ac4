/*
 * dump.h - what the results file holds of a run, whole: for people (show) and for programs
 * (export).
 */
#ifndef BK_REPORT_DUMP_H
#define BK_REPORT_DUMP_H

#include "results/results.h"

#include <stdio.h>

/* One line a run. */
bk_status bk_dump_runs(FILE *out, struct bk_results *results, struct bk_error *err);
/* Head, variants with their options, data sets, every trial. */
bk_status bk_dump_show(FILE *out, struct bk_results *results, int64_t run, struct bk_error *err);
/* Everything recorded, as one JSON document. */
bk_status bk_dump_json(FILE *out, struct bk_results *results, int64_t run, struct bk_error *err);
/* One line a metric of a trial. */
bk_status bk_dump_csv(FILE *out, struct bk_results *results, int64_t run, struct bk_error *err);

#endif
