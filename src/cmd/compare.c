/*
 * compare.c - `bakeoff compare`: one run, its variants side by side.
 */
#include "report/compare.h"
#include "cmd/open_results.h"
#include "util/plain.h"

#include <bakeoff/backend_util.h>

/* CSV and JSON are for programs: they get what is there. */
static bk_status compare_print(const struct bk_comparison *c, enum bk_format format,
			       struct bk_error *err)
{
	struct bk_plain plain;

	if (format == BK_FORMAT_CSV || format == BK_FORMAT_JSON) {
		bk_comparison_print(stdout, c, format);
		return BK_OK;
	}
	bk_plain_begin(&plain);
	if (plain.file)
		bk_comparison_print(plain.file, c, format);
	return bk_plain_end(&plain, stdout) < 0 ? bk_fail(err, BK_NOMEM, 0, "out of memory")
						: BK_OK;
}

static int compare_exec(const struct bk_cmd_args *args)
{
	struct bk_error err = bk_error_init();
	const char *format_name = bk_cmd_flag(args, "format");
	enum bk_format format = BK_FORMAT_TABLE;
	struct bk_results *results;
	struct bk_comparison c;
	int64_t run;
	bk_status st;

	if (format_name && !bk_format_parse(&format, format_name))
		return bk_cmd_usage("--format %s: write table, md, csv or json", format_name);
	if (bk_cmd_open_run(&results, &run, args) < 0)
		return BK_EXIT_USAGE;
	st = bk_comparison_load(&c, results, run, bk_cmd_flag(args, "reference"),
				bk_cmd_flag(args, "metrics"), &err);
	if (st >= 0) {
		st = compare_print(&c, format, &err);
		bk_comparison_free(&c);
	}
	bk_results_close(results);
	return st < 0 ? bk_cmd_usage("%s", err.message) : BK_EXIT_OK;
}

static const struct bk_flag flags[] = {
	{.name = "reference", .arg = "VARIANT", .help = "what the others are held against"},
	{.name = "metrics",
	 .arg = "NAME,...",
	 .help = "these instead of what each scenario shows; all: every one"},
	{.name = "format", .arg = "table|md|csv|json", .help = "table by default"},
	BK_CMD_RESULTS_FLAG,
	{0},
};

const struct bk_cmd bk_cmd_compare = {
	.name = "compare",
	.operands = "[RUN]",
	.summary = "compare the variants of a run",
	.details =
		"RUN is a number that `bakeoff runs` lists; the last run by default.\n"
		"\n"
		"Cases down, variants across: the median of the rounds with its range, and the "
		"ratio to the reference.  What was emulated, looped or failed is marked beside the "
		"number.\n"
		"\n"
		"Examples:\n"
		"  bakeoff compare\n"
		"  bakeoff compare 3 --reference file-simple --format md\n"
		"  bakeoff compare --metrics time_to_first,nodes.touched,round_trips\n",
	.flags = flags,
	.operands_max = 1,
	.exec = compare_exec,
};
