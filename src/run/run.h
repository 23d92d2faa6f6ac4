/*
 * run.h - executes a matrix: opens stores, loads data sets, runs trials in their order, records
 * each in the results file.
 *
 * Bad news from a store ends one cell with its cause, never the run; a results file that cannot be
 * written ends the run, since what is measured could not be kept.
 */
#ifndef BK_RUN_RUN_H
#define BK_RUN_RUN_H

#include "matrix/matrix.h"
#include "results/results.h"

#define BK_STOP_INTERRUPT 1
#define BK_STOP_TIME      2

/* What a display is told.  `tick` comes from a thread of the run's own, about ten times a second;
 * the others from the thread that called bk_run().  Any may be NULL. */
struct bk_run_trial {
	const struct bk_matrix *matrix;
	const struct bk_cell *cell;
	uint32_t round, position, total; /* position: 1 .. total, of all trials */
	const char *phase;               /* "loading", "settling", "measuring" */
	uint64_t done, goal;             /* of the phase, where known */
	double phase_seconds, run_seconds;
};
struct bk_run_verdict {
	const struct bk_run_trial *trial;
	const char *status; /* ok, failed, wrong, guard */
	const char *error;  /* NULL: none */
	const char *metric; /* the primary one, when ok */
	const char *unit;
	double value, seconds, run_seconds;
};
struct bk_run_events {
	void *ctx;
	void (*began)(void *ctx, int64_t run, const struct bk_matrix *matrix, uint32_t trials);
	void (*tick)(void *ctx, const struct bk_run_trial *trial);
	void (*finished)(void *ctx, const struct bk_run_verdict *verdict);
	void (*message)(void *ctx, const char *text);
};

struct bk_run_config {
	struct bk_matrix *matrix;
	struct bk_results *results;
	const char *note;       /* NULL: none */
	bool keep;              /* leave the data where it is */
	const int *interrupted; /* non-zero: end after the operation under way (signal-safe) */
	const struct bk_run_events *events;
};
struct bk_run_summary {
	int64_t run; /* 0: nothing was recorded */
	uint32_t trials_ok, trials_failed;
	bool interrupted;
	char data[512]; /* where the data is, with keep */
};

/* Every backend and every option of the matrix is checked before anything is written. */
bk_status bk_run_check(struct bk_matrix *matrix, struct bk_error *err);
/* So is the place of the data, without making anything. */
bk_status bk_run_check_data(const struct bk_matrix *matrix, struct bk_error *err);
bk_status bk_run(struct bk_run_summary *out, const struct bk_run_config *config,
		 struct bk_error *err);

#endif
