/*
 * progress.h - what a person sees while a run is under way: one line that changes on a terminal,
 * one plain line a trial elsewhere.
 */
#ifndef BK_REPORT_PROGRESS_H
#define BK_REPORT_PROGRESS_H

#include "run/run.h"

#include <pthread.h>
#include <stdio.h>

struct bk_progress {
	pthread_mutex_t lock;
	FILE *out;
	bool terminal; /* rewrite the line; else one line a trial */
	bool quiet;    /* messages only */
	bool colour;
	int width;      /* columns */
	bool line_open; /* a changing line is on the screen */
	uint32_t total;
	double finished_seconds; /* of the run, when the last trial ended */
	uint32_t finished;
};

/* From the stream, --quiet, --no-color and NO_COLOR. */
void bk_progress_init(struct bk_progress *progress, FILE *out, bool quiet, bool no_colour);
struct bk_run_events bk_progress_events(struct bk_progress *progress);
void bk_progress_end(struct bk_progress *progress); /* takes the changing line away */

/* "0.0123" and "s" as "12.3 ms"; "MB/s" and "1/s" with three digits. */
#define BK_FIGURE_MAX 32
void bk_figure_format(char out[BK_FIGURE_MAX], double value, const char *unit);

#endif
