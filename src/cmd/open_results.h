/*
 * open_results.h - the results file and one run in it, as the commands that read name them.
 */
#ifndef BK_CMD_OPEN_RESULTS_H
#define BK_CMD_OPEN_RESULTS_H

#include "cmd/cmd.h"
#include "results/results.h"

#define BK_CMD_RESULTS_FLAG                                                                        \
	{                                                                                          \
		.name = "results", .arg = "FILE",                                                  \
		.help = "the results file (default $BAKEOFF_RESULTS, then bakeoff.db)"             \
	}

/* Opens for reading and finds the run that operand 0 names (the last one without).  A negative
 * status: the message has been printed. */
bk_status bk_cmd_open_run(struct bk_results **out, int64_t *run, const struct bk_cmd_args *args);

#endif
