/*
 * session.h - the parts of one run, for each other.  Private to run/.
 */
#ifndef BK_RUN_SESSION_H
#define BK_RUN_SESSION_H

#include "host/usage.h"
#include "repo/traffic.h"
#include "run/order.h"
#include "run/run.h"
#include "run/stores.h"

#include <pthread.h>

struct bk_dataset {
	size_t variant;
	char *key; /* "n-children[n=1000,...]" */
	char space[25];
	struct bk_repo repo; /* open while `open` */
	bool open, loaded, failed;
	bool stale;            /* the server behind it is another process now: to be opened again */
	bool fresh;            /* loaded anew for each trial: with load=single or fresh: true */
	struct bk_error error; /* why it failed */
	uint32_t uses_left;    /* trials that still need it */
	struct bk_outcome outcome; /* of loading: the rate with load=single */
};

/* Watches the trial under way from a thread of its own: interrupt, time guard, display. */
struct bk_monitor {
	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t change;
	bool ending;
	struct bk_run_trial trial; /* what the display is told */
	uint64_t phase_start_ns, run_start_ns, deadline_ns;
	const struct bk_run_config *config;
	/* atomics, shared with the trial */
	int stop; /* BK_STOP_*; 0: go on */
	uint64_t progress, progress_total;
};

struct bk_meter_stand { /* what stands on the meters */
	struct bk_usage self;
	struct bk_service_usage server;
	bool server_known, log_known;
	struct bk_traffic traffic;
	double log_bytes;
};

struct bk_meter {
	struct bk_meter_stand before; /* when the stretch under way began */
	/* of all stretches since the last report */
	double cpu_s, server_cpu_s, written_bytes, log_bytes, server_rss_bytes;
	bool server_unknown, written_unknown, log_unknown;
	struct bk_traffic traffic;
};

struct bk_run_state {
	const struct bk_run_config *config;
	struct bk_matrix *m;
	struct bk_variant_stores *stores; /* by variant */
	bool *described;                  /* by variant: its row is written */
	int64_t *cells;                   /* row ids, by cell; 0: not yet */
	bool *guarded;                    /* by cell: it ran into the time guard once */
	struct bk_dataset *datasets;
	size_t dataset_count;
	size_t *dataset_of; /* by cell; SIZE_MAX for scenarios that write */
	struct bk_order order;
	struct bk_monitor monitor;
	char *folder; /* of this run's data */
	int claim;    /* folder.c */
	int64_t run;
	uint32_t position;
	bool results_failed; /* the results file cannot be written: the run ends */
	struct bk_meter meter;
	const struct bk_repo *metered; /* of the trial under way */
	const struct bk_variant_stores *metered_stores;
	struct bk_run_summary *summary;
};

/* folder.c: makes the run's folder, and removes those of runs that were killed.  Once the run has a
 * number, note() it.  At the end: keep() leaves the data to whoever wants it. */
bk_status bk_run_folder_make(struct bk_run_state *s, struct bk_error *err);
void bk_run_folder_note(struct bk_run_state *s);
void bk_run_folder_keep(struct bk_run_state *s);
void bk_run_folder_remove(struct bk_run_state *s);

/* monitor.c */
bk_status bk_monitor_start(struct bk_monitor *monitor, const struct bk_run_config *config,
			   struct bk_error *err);
void bk_monitor_stop(struct bk_monitor *monitor);
int bk_monitor_stopped(const struct bk_monitor *monitor); /* BK_STOP_*; 0: go on */
/* A phase begins; guard_ns 0: no limit.  Clears `stop` unless the run was interrupted. */
void bk_monitor_phase(struct bk_monitor *monitor, const char *phase, uint64_t guard_ns);

/* datasets.c */
bk_status bk_datasets_plan(struct bk_run_state *s, struct bk_error *err);
/* Open and loaded, or `failed` with its cause.  Negative: interrupted, not to be opened again, or
 * the results file cannot be written (then results_failed is set). */
bk_status bk_dataset_ready(struct bk_dataset **out, struct bk_run_state *s, size_t cell,
			   uint32_t round, struct bk_error *err);
void bk_dataset_used(struct bk_run_state *s, size_t cell);
/* Closes what is open of a variant and keeps the data; opened again at the next use. */
void bk_datasets_lapse(struct bk_run_state *s, size_t variant);
bk_status bk_dataset_reopen(struct bk_run_state *s, struct bk_dataset *d, struct bk_error *err);
void bk_datasets_close(struct bk_run_state *s);

/* meter.c: for bk_env; and the bytes that the stores of the trial occupy. */
void bk_meter_begin(void *host);
void bk_meter_end(void *host);
void bk_meter_report(void *host, struct bk_outcome *out, double payload_bytes, double divisor);
void bk_meter_stored(struct bk_run_state *s, struct bk_outcome *out);

/* env.c: what the scenario is given for one trial, and for loading a data set. */
struct bk_env bk_run_env(struct bk_run_state *s, size_t variant, const struct bk_case *c,
			 const struct bk_repo *repo, uint32_t round);

/* record.c: a trial into the results file. */
struct bk_trial_verdict {
	const char *status; /* ok, failed, wrong, guard */
	char error[600];    /* "" when ok */
	double seconds, started_unix;
};
bk_status bk_trial_record(struct bk_run_state *s, size_t cell, uint32_t round,
			  const struct bk_repo *repo, const struct bk_trial_verdict *v,
			  struct bk_outcome *out, struct bk_error *err);

/* trial.c: one cell in one round, recorded.  A negative status only when the run must end. */
bk_status bk_trial_run(struct bk_run_state *s, size_t cell, uint32_t round, struct bk_error *err);

/* run.c */
void bk_run_message(struct bk_run_state *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
