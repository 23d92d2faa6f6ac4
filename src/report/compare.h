/*
 * compare.h - one run, its cases down and its variants across.
 *
 * First form: the median of the rounds with its range, and the median of the per-round ratios to
 * the reference.  Intervals and verdicts find their place in bk_comparison_cell.
 */
#ifndef BK_REPORT_COMPARE_H
#define BK_REPORT_COMPARE_H

#include "results/results.h"
#include "util/arena.h"
#include "util/summary.h"

#include <stdio.h>

enum bk_format { BK_FORMAT_TABLE, BK_FORMAT_MARKDOWN, BK_FORMAT_CSV, BK_FORMAT_JSON };
/* false: no such format */
bool bk_format_parse(enum bk_format *out, const char *text);

struct bk_compared_variant {
	const char *name;
	const char *product; /* the backends, and what answers behind them */
};

struct bk_comparison_cell {
	bool present;     /* the cell is part of the run */
	double *by_round; /* values by round - 1; NaN: failed or not run */
	struct bk_summary summary;
	double ratio;       /* to the reference; NaN: none */
	uint32_t failed;    /* trials */
	const char *error;  /* of the first failed trial; NULL: none */
	const char *status; /* of it: failed, wrong, guard */
	const char *marks;  /* "emulated", "looped" or "" */
	bool from_cache;    /* no timed read went to the store */
	const char *note;   /* of the last trial; NULL: none */
};

struct bk_comparison_row {
	const char *kase, *scenario, *metric, *unit;
	bool higher_is_better, counts;    /* counts: describes the work, no ratio */
	struct bk_comparison_cell *cells; /* by variant */
};

struct bk_comparison {
	struct bk_arena arena;
	int64_t run;
	const char *matrix, *started, *status, *note, *durability, *seed, *host, *version;
	uint32_t rounds;
	struct bk_compared_variant *variants;
	size_t variant_count, reference;
	struct bk_comparison_row *rows;
	size_t row_count;
};

/* `reference` NULL: the run's own.  `metrics` NULL: each scenario's primary metric; else names
 * separated by commas, or "all". */
bk_status bk_comparison_load(struct bk_comparison *out, struct bk_results *results, int64_t run,
			     const char *reference, const char *metrics, struct bk_error *err);
void bk_comparison_free(struct bk_comparison *comparison);

void bk_comparison_print(FILE *out, const struct bk_comparison *comparison, enum bk_format format);

/* Load with the primary metrics and print. */
bk_status bk_compare_run(FILE *out, struct bk_results *results, int64_t run, const char *reference,
			 enum bk_format format, struct bk_error *err);

#endif
