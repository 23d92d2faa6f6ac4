/*
 * export.c - `bakeoff export`: write a run's raw figures as CSV or JSON.
 */
#include "cmd/open_results.h"
#include "report/dump.h"

#include <bakeoff/backend_util.h>

#include <string.h>

static int export_exec(const struct bk_cmd_args *args)
{
	struct bk_error err = bk_error_init();
	const char *format = bk_cmd_flag(args, "format");
	struct bk_results *results;
	int64_t run;
	bk_status st;

	if (format && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0)
		return bk_cmd_usage("--format %s: write csv or json", format);
	if (bk_cmd_open_run(&results, &run, args) < 0)
		return BK_EXIT_USAGE;
	if (format && strcmp(format, "json") == 0)
		st = bk_dump_json(stdout, results, run, &err);
	else
		st = bk_dump_csv(stdout, results, run, &err);
	bk_results_close(results);
	return st < 0 ? bk_cmd_fail("%s", err.message) : BK_EXIT_OK;
}

static const struct bk_flag flags[] = {
	{.name = "format", .arg = "csv|json", .help = "csv by default"},
	BK_CMD_RESULTS_FLAG,
	{0},
};

const struct bk_cmd bk_cmd_export = {
	.name = "export",
	.operands = "[RUN]",
	.summary = "write a run's raw figures as CSV or JSON",
	.details =
		"RUN is a number that `bakeoff runs` lists; the last run by default.\n"
		"\n"
		"CSV has one line a metric of a trial; JSON has everything: the matrix, host, options, "
		"data sets, trials with metrics, series and histograms.\n",
	.flags = flags,
	.operands_max = 1,
	.exec = export_exec,
};
