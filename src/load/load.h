/*
 * load.h - workers that drive operations in a closed loop: each has one session, sends its next
 * request when the last one is answered, and keeps a histogram of its own.
 *
 * Per operation the loop reads the clock once and records one value; it allocates and locks
 * nothing.  Which worker does which operation is fixed by (worker, workers, total), never by
 * speed, so that every variant sees the same requests.
 */
#ifndef BK_LOAD_LOAD_H
#define BK_LOAD_LOAD_H

#include <bakeoff/backend.h>

#include "load/histogram.h"

#include <stdbool.h>

#define BK_LOAD_STATUSES 32 /* statuses -1..-31 have a place each */

struct bk_load_plan {
	uint32_t workers; /* 1.. */
	uint64_t total;   /* operations in all; worker w does w, w + workers, ... */
	void *ctx;
	/* Called on the worker's own thread before the clock starts, e.g. to open its session;
	 * *state is handed to the calls below.  A failure fails the whole load. */
	bk_status (*start)(void *ctx, uint32_t worker, void **state, struct bk_error *err);
	/* One operation.  A negative status counts as failed and enters no latency. */
	bk_status (*op)(void *state, uint64_t index, struct bk_error *err);
	/* On the worker's thread, untimed, after its last operation; may be NULL. */
	void (*finish)(void *state);
	void (*stop)(void *state);
	/* Either may be NULL.  Called by the caller's thread when every session is open and nothing
	 * is timed yet, and when the last operation is done and no session is closed yet: what
	 * sessions cost a server can be read then, and goes with them. */
	void (*begin)(void *host);
	void (*end)(void *host);
	void *host; /* handed to these two */
	/* CONFLICT and errors flagged BK_ERR_RETRY are tried again up to `retries` times with
	 * full-jitter back-off; latency runs from the first try and each retry is counted. */
	uint32_t retries;
	bool pair_clock; /* read the clock before and after each operation, not chained */
	/* End the load after so many failed operations (0: never): a store that is gone must not
	 * cost hours. */
	uint64_t failures_max;
	const int *stop_flag; /* may be NULL; non-zero ends the load between operations (atomic) */
	uint64_t *progress;   /* may be NULL; operations done, for a display (atomic) */
	/* The time of every window_ops-th operation is kept (0: none). */
	uint64_t window_ops;
};

struct bk_load_result {
	struct bk_histogram *latency; /* of all workers, successful operations only; owned */
	uint64_t done, failed, retried;
	uint64_t failed_by_status[BK_LOAD_STATUSES]; /* index -status */
	struct bk_error first_error;                 /* of the first operation that failed */
	uint64_t first_done_ns, last_done_ns; /* from the start until the first worker had no more
						 work, and until the last */
	uint64_t *window_ns;                  /* length of each full window; owned; or NULL */
	size_t window_count;
	bool stopped;
};

/* Runs to the end.  OK also when operations failed: see `failed`.  Negative when the workers could
 * not be started; then *out holds nothing. */
bk_status bk_load_run(struct bk_load_result *out, const struct bk_load_plan *plan,
		      struct bk_error *err);
void bk_load_result_free(struct bk_load_result *result);

#endif
