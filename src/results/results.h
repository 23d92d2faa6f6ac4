/*
 * results.h - the results file: one SQLite database, any number of runs.
 *
 * Written trial by trial, each in a transaction of its own: a crash loses at most the trial that
 * was running.  Raw figures are kept; what a report says is computed from them.  The schema is
 * documented in docs/results.md and versioned (meta.schema).  One thread.
 */
#ifndef BK_RESULTS_RESULTS_H
#define BK_RESULTS_RESULTS_H

#include <bakeoff/backend.h>

#include <stdbool.h>

#define BK_RESULTS_SCHEMA  1
#define BK_RESULTS_DEFAULT "bakeoff.db"
#define BK_ROUNDS_MAX      1000u

struct bk_results;

/* The file that --results, BAKEOFF_RESULTS or the default names. */
const char *bk_results_path(const char *flag);

/* write: made when missing.  A file that is no results file, or of another schema, is refused. */
bk_status bk_results_open(struct bk_results **out, const char *path, bool write,
			  struct bk_error *err);
void bk_results_close(struct bk_results *results);

/* ---- Writing: one run ----------------------------------------------------------- */

struct bk_run_row {
	const char *matrix_name, *matrix_path, *matrix_text;
	const char *note;      /* may be NULL */
	const char *version;   /* of bakeoff */
	const char *host_json; /* what machine this is */
	const char *reference;
	const char *durability;
	uint64_t seed;
	uint32_t rounds;
};
bk_status bk_results_run_begin(int64_t *run, struct bk_results *r, const struct bk_run_row *row,
			       struct bk_error *err);
/* Where it is, from the root; NULL: unknown. */
const char *bk_results_file(struct bk_results *r);
/* A run that still says `running`, of which nobody is there any more: killed. */
bk_status bk_results_run_cut(struct bk_results *r, int64_t run, struct bk_error *err);
/* status: done, interrupted, failed */
bk_status bk_results_run_end(struct bk_results *r, int64_t run, const char *status,
			     struct bk_error *err);

struct bk_variant_row {
	uint32_t position; /* in the matrix */
	const char *name;
	const char *nodes_json;    /* backend, version, options in force, features, product */
	const char *binaries_json; /* NULL: none, or the same store */
};
bk_status bk_results_variant(struct bk_results *r, int64_t run, const struct bk_variant_row *row,
			     struct bk_error *err);

struct bk_cell_row {
	const char *variant, *name; /* name: VARIANT/CASE */
	const char *kase, *scenario;
	const char *params_json;
	const char *primary; /* metric */
	const char *marks;   /* "emulated", "looped" or "" */
	uint32_t position;   /* of its case in the matrix */
};
bk_status bk_results_cell(int64_t *cell, struct bk_results *r, int64_t run,
			  const struct bk_cell_row *row, struct bk_error *err);

struct bk_dataset_row {
	const char *variant, *key, *status, *error; /* error NULL: none */
	double load_seconds, settle_seconds;
	uint32_t round;     /* in which it was loaded */
	const char *settle; /* how it settled, in words */
};
bk_status bk_results_dataset(struct bk_results *r, int64_t run, const struct bk_dataset_row *row,
			     struct bk_error *err);

struct bk_trial_row {
	int64_t cell;
	uint32_t round;    /* from 1 */
	uint32_t position; /* order of execution in the run, from 1 */
	double started_unix, seconds;
	const char *status; /* ok, failed, wrong, guard */
	const char *error;  /* NULL: none */
	const char *note;   /* NULL: none */
};
/* The trial and what the callbacks add, in one transaction. */
struct bk_trial_writer; /* bk_results_add_* work on it */
bk_status bk_results_trial(struct bk_results *r, const struct bk_trial_row *row,
			   bk_status (*add)(void *ctx, struct bk_trial_writer *w,
					    struct bk_error *err),
			   void *ctx, struct bk_error *err);
bk_status bk_results_add_metric(struct bk_trial_writer *w, const char *name, const char *unit,
				double value, struct bk_error *err);
bk_status bk_results_add_histogram(struct bk_trial_writer *w, const char *name, const char *text,
				   struct bk_error *err);
bk_status bk_results_add_series(struct bk_trial_writer *w, const char *name, const char *unit,
				const double *values, size_t count, struct bk_error *err);
bk_status bk_results_add_failures(struct bk_trial_writer *w, const char *status, uint64_t count,
				  struct bk_error *err);

/* ---- Reading -------------------------------------------------------------------------- */

/* "3", "last", or "" for the last one.  NOT_FOUND names what there is. */
bk_status bk_results_run_find(int64_t *run, struct bk_results *r, const char *text,
			      struct bk_error *err);

/* Rows of a query as text, for reports: fn gets the values (NULL for NULL) in the order of the
 * query; `sql` has one ? for each of the run's bindings, all `run`. */
bk_status bk_results_query(struct bk_results *r, const char *sql, int64_t run,
			   bk_status (*fn)(void *ctx, const char *const *values, int count,
					   struct bk_error *err),
			   void *ctx, struct bk_error *err);

/* Mean seconds of earlier trials of cells of that name, for --dry-run; < 0: none. */
double bk_results_earlier_seconds(struct bk_results *r, const char *cell_name);

#endif
