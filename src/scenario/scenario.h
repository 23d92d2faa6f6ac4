/*
 * scenario.h - a scenario is a procedure with parameters: set-up, timed part, verification.
 *
 * One file a scenario, with a const descriptor; one line in the table of table.c.  A scenario
 * reaches stores only through the repository that its environment holds, reports what it measured
 * as metrics, and fails a trial whose answer is wrong, however fast it was.
 */
#ifndef BK_SCENARIO_SCENARIO_H
#define BK_SCENARIO_SCENARIO_H

#include "load/histogram.h"
#include "repo/repo.h"

#include <stdbool.h>

/* ---- Parameters --------------------------------------------------------------- */

enum bk_param_type {
	BK_PARAM_COUNT,     /* u: a whole number */
	BK_PARAM_BYTES,     /* u: bytes; the user may write 1MB, 64KiB */
	BK_PARAM_CHOICE,    /* u: index into choices */
	BK_PARAM_HIERARCHY, /* text: flat, pairtree 4x2; u unused */
};

#define BK_PARAM_DATA  (1u << 0) /* shapes the data set; others only the reading of it */
#define BK_PARAM_SHOWN (1u << 1) /* always part of a case's name */

struct bk_param {
	const char *name;
	const char *help;           /* one line, with the unit */
	const char *def;            /* as a user would write it */
	const char *const *choices; /* CHOICE only; ends with NULL */
	uint64_t min, max;          /* COUNT and BYTES; max 0: unbounded */
	enum bk_param_type type;
	uint32_t flags; /* BK_PARAM_* */
};

#define BK_VALUE_MAX 32
struct bk_value {
	uint64_t u;
	char text[BK_VALUE_MAX]; /* canonical: two spellings of one value are one text */
};

/* INVALID with a message that names the parameter, the value and what may be written. */
bk_status bk_param_parse(struct bk_value *out, const struct bk_param *param, const char *text,
			 struct bk_error *err);

/* ---- Cases -------------------------------------------------------------------- */

#define BK_PARAMS_MAX 16

struct bk_scenario;
struct bk_case {
	const struct bk_scenario *scenario;
	struct bk_value values[BK_PARAMS_MAX]; /* in the order of scenario->params */
};

/* Every parameter at its default. */
void bk_case_init(struct bk_case *c, const struct bk_scenario *scenario);
/* "n-members[n=10000,access=document]": parameters that are always shown, and those that are not
 * at their default.  Into buf, appended. */
void bk_case_name(struct bk_buf *buf, const struct bk_case *c);
/* Every parameter, at its default or not: for patterns. */
void bk_case_full_name(struct bk_buf *buf, const struct bk_case *c);
/* "n-members[n=10000,hierarchy=flat]": data parameters only; cases of one variant with the same
 * key share one data set. */
void bk_case_data_key(struct bk_buf *buf, const struct bk_case *c);

/* NULL when the scenario lacks the parameter. */
const struct bk_value *bk_case_find(const struct bk_case *c, const char *name);
/* Values by parameter name; a name that the scenario lacks is a programming error (abort). */
uint64_t bk_case_u64(const struct bk_case *c, const char *name);
const char *bk_case_text(const struct bk_case *c, const char *name);
bool bk_case_is(const struct bk_case *c, const char *name, const char *text);

/* ---- What a trial yields -------------------------------------------------------- */

struct bk_metric {
	char name[48]; /* time_to_last, throughput, objects_per_s, cache.misses, ... */
	char unit[16]; /* s, MB/s, 1/s, count, bytes, ratio */
	double value;
};

struct bk_named_histogram {
	char name[48];
	struct bk_histogram *histogram; /* owned */
};

struct bk_series { /* raw figures in order, such as each timed read */
	char name[48];
	char unit[16];
	double *values; /* owned */
	size_t count;
};

struct bk_outcome {
	struct bk_metric *metrics;
	size_t metric_count;
	struct bk_named_histogram *histograms;
	size_t histogram_count;
	struct bk_series *series;
	size_t series_count;
	uint64_t failed_by_status[32]; /* failed operations, index -status */
	struct bk_error first_failure; /* of the first failed operation; status 0: none */
	char note[160];                /* state reached, such as "cold: page cache not dropped" */
	bool failed;                   /* out of memory while adding */
};
void bk_outcome_init(struct bk_outcome *out);
void bk_outcome_free(struct bk_outcome *out);
void bk_outcome_metric(struct bk_outcome *out, const char *name, const char *unit, double value);
/* The histogram, and NAME.mean, NAME.p50, NAME.p99 in seconds: a percentile only when at least 100
 * operations lie beyond it (the median always). */
void bk_outcome_latency(struct bk_outcome *out, const char *name, const struct bk_histogram *h);
/* Operations done, failed (by status, with the first failure) and tried again. */
struct bk_load_result;
void bk_outcome_load(struct bk_outcome *out, const struct bk_load_result *result);
void bk_outcome_series(struct bk_outcome *out, const char *name, const char *unit,
		       const double *values, size_t count);
const struct bk_metric *bk_outcome_find(const struct bk_outcome *out, const char *name);

/* What is known of a metric whatever the scenario: direction and meaning. */
struct bk_metric_kind {
	const char *name;
	const char *meaning;
	bool higher_is_better;
	bool count; /* describes the work, is not compared as speed */
};
const struct bk_metric_kind *bk_metric_kind(const char *name); /* NULL: unknown */

/* ---- The environment of a trial ------------------------------------------------- */

struct bk_env {
	const struct bk_case *c;
	const struct bk_repo *repo;
	uint64_t data_seed;  /* of (plan seed, scenario, data parameters) */
	uint64_t order_seed; /* of (plan seed, case, round) */
	uint32_t durability; /* of timed parts */
	const char *scratch; /* folder for files of the trial's own, on the data file system */
	const int *stop;     /* non-zero: end soon (atomic); never NULL */
	uint64_t *progress;  /* units done of the part under way, for a display (atomic) */
	uint64_t *progress_total;
	/* Make the stores cold; no session is open.  `reached` gets what was reached in words.
	 * NULL where nobody can. */
	bk_status (*chill)(void *host, char *reached, size_t size, struct bk_error *err);
	/* What the timed part costs.  begin and end go around each timed stretch, while its
	 * sessions are open and what they say is in the repository's traffic; report puts the sum
	 * of all stretches since the last one into `out` (CPU, bytes written, log, requests).
	 * payload_bytes 0: nothing was stored; figures are divided by `divisor` (timed reads). */
	void (*meter_begin)(void *host);
	void (*meter_end)(void *host);
	void (*meter_report)(void *host, struct bk_outcome *out, double payload_bytes,
			     double divisor);
	void *host;
};

/* ---- The descriptor ----------------------------------------------------------------- */

struct bk_scenario {
	const char *name;
	const char *summary;                  /* one line */
	const char *details;                  /* what set-up and timed part do, what is verified */
	const struct bk_param *const *params; /* ends with NULL */
	const void *own;     /* where scenarios share their code: what tells them apart; or NULL */
	const char *primary; /* the metric that verdicts are about */
	const char *const *shown; /* further ones that a comparison shows, to NULL; or NULL */
	bool binaries;            /* needs a store of binaries */
	bool writes;              /* starts each trial on cleared stores */
	/* Bytes that the data set of one variant takes up, roughly; for --dry-run. */
	uint64_t (*bytes)(const struct bk_case *c);
	/* BK_F_* that the timed part makes use of where the store has them; a report marks what of
	 * them is emulated or looped.  NULL: none. */
	uint64_t (*uses)(const struct bk_case *c);
	/* Put the data set into empty stores (scenarios that do not write).  With load=single the
	 * rate goes to `out`. */
	bk_status (*load)(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err);
	/* One trial: timed part and verification. */
	bk_status (*trial)(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err);
};

extern const struct bk_scenario *const bk_scenarios[]; /* ends with NULL */
const struct bk_scenario *bk_scenario_find(const char *name);

#endif
