/*
 * runs.c - `bakeoff runs`: list the runs in the results file.
 */
#include "cmd/open_results.h"
#include "report/dump.h"
#include "util/plain.h"

#include <bakeoff/backend_util.h>

#include <string.h>

static int runs_exec(const struct bk_cmd_args *args)
{
	struct bk_error err = bk_error_init();
	struct bk_results *results;
	struct bk_plain plain;
	bk_status st;

	if (bk_results_open(&results, bk_results_path(bk_cmd_flag(args, "results")), false, &err) <
	    0)
		return bk_cmd_usage("%s", err.message);
	bk_plain_begin(&plain);
	st = plain.file ? bk_dump_runs(plain.file, results, &err)
			: bk_fail(&err, BK_NOMEM, 0, "out of memory");
	if (bk_plain_end(&plain, stdout) < 0 && st >= 0)
		st = bk_fail(&err, BK_NOMEM, 0, "out of memory");
	bk_results_close(results);
	return st < 0 ? bk_cmd_fail("%s", err.message) : BK_EXIT_OK;
}

static const struct bk_flag flags[] = {
	BK_CMD_RESULTS_FLAG,
	{0},
};

const struct bk_cmd bk_cmd_runs = {
	.name = "runs",
	.operands = "",
	.summary = "list the runs in the results file",
	.details =
		"One line a run: number, start, status, matrix, rounds, trials that went well and that failed.\n",
	.flags = flags,
	.operands_max = 0,
	.exec = runs_exec,
};
