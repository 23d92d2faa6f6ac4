/*
 * show.c - `bakeoff show`: show all that was recorded of a run.
 */
#include "cmd/open_results.h"
#include "report/dump.h"
#include "util/plain.h"

#include <bakeoff/backend_util.h>

#include <string.h>

static bk_status show_text(struct bk_results *results, int64_t run, struct bk_error *err)
{
	struct bk_plain plain;
	bk_status st;

	bk_plain_begin(&plain);
	st = plain.file ? bk_dump_show(plain.file, results, run, err)
			: bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (bk_plain_end(&plain, stdout) < 0 && st >= 0)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	return st;
}

static int show_exec(const struct bk_cmd_args *args)
{
	struct bk_error err = bk_error_init();
	const char *format = bk_cmd_flag(args, "format");
	struct bk_results *results;
	int64_t run;
	bk_status st;

	if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
		return bk_cmd_usage("--format %s: write text or json", format);
	if (bk_cmd_open_run(&results, &run, args) < 0)
		return BK_EXIT_USAGE;
	if (format && strcmp(format, "json") == 0)
		st = bk_dump_json(stdout, results, run, &err);
	else
		st = show_text(results, run, &err);
	bk_results_close(results);
	return st < 0 ? bk_cmd_fail("%s", err.message) : BK_EXIT_OK;
}

static const struct bk_flag flags[] = {
	{.name = "format", .arg = "text|json", .help = "text by default"},
	BK_CMD_RESULTS_FLAG,
	{0},
};

const struct bk_cmd bk_cmd_show = {
	.name = "show",
	.operands = "[RUN]",
	.summary = "show all that was recorded of a run",
	.details =
		"RUN is a number that `bakeoff runs` lists; the last run by default.\n"
		"\n"
		"Host, versions, options in force, features, data sets, and every trial in the order in "
		"which it ran.\n",
	.flags = flags,
	.operands_max = 1,
	.exec = show_exec,
};
