/*
 * process.h - one case in a process of its own.
 *
 * The one invariant: when bk_process_case() returns, no process of the case is left and its folder
 * is gone.
 */
#ifndef BK_CONFORM_PROCESS_H
#define BK_CONFORM_PROCESS_H

#include "conform/report.h"
#include "conform/test.h"
#include "util/buf.h"

enum bk_outcome { BK_PASSED, BK_FAILED, BK_SKIPPED };

/* What the cases of one run share. */
struct bk_runner {
	const struct bk_conform_config *config;
	char *folder;     /* ours: below it each case has its own */
	char run_tag[8];  /* makes the spaces of this run differ from those of another */
	int interrupt_fd; /* readable once SIGINT or SIGTERM has come */
	bool interrupted;
	uint64_t own, looped; /* features in force, from the probe */
	struct bk_limits limits;
	uint64_t timeout_ns;
	unsigned slow;
};

struct bk_case_result {
	enum bk_outcome outcome;
	char at[128];          /* file:line, or "" */
	struct bk_buf message; /* why it failed or was skipped; one line */
	struct bk_buf notes;   /* lines */
	struct bk_buf log;     /* what the case's process printed, its last part */
	uint64_t took_ns;
};

bk_status bk_process_open(struct bk_runner *p, const struct bk_conform_config *config,
			  struct bk_error *err);
void bk_process_close(struct bk_runner *p);

/* Opens a store, as the cases will, and learns what it offers. */
bk_status bk_process_probe(struct bk_runner *p, struct bk_error *err);

void bk_process_case(struct bk_runner *p, const struct bk_case *what, size_t index,
		     struct bk_case_result *out);
void bk_case_result_free(struct bk_case_result *result);

#endif
