/*
 * run.c - `bakeoff run`: a matrix file in, a run in the results file out.
 */
#include "run/run.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/open_results.h"
#include "report/compare.h"
#include "report/dryrun.h"
#include "report/progress.h"
#include "util/plain.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char **collect_sets(const struct bk_cmd_args *args)
{
	size_t n = bk_cmd_flag_count(args, "set"), i;
	const char **sets = calloc(n + 1, sizeof(*sets));

	for (i = 0; sets && i < n; i++)
		sets[i] = bk_cmd_flag_at(args, "set", i);
	return sets;
}

static int dry_run(struct bk_matrix *m, const char *path)
{
	struct bk_error ignored = bk_error_init();
	struct bk_results *earlier = NULL;

	/* a file that is not there yet only means that no times are known */
	if (bk_results_open(&earlier, path, false, &ignored) < 0)
		earlier = NULL;
	bk_dryrun_print(stdout, m, earlier);
	bk_results_close(earlier);
	return BK_EXIT_OK;
}

/* The comparison at the end; what it quotes must not reach a terminal raw. */
static void compare(struct bk_results *results, int64_t run)
{
	struct bk_error err = bk_error_init();
	struct bk_plain plain;
	bk_status st = BK_NOMEM;

	bk_plain_begin(&plain);
	if (plain.file)
		st = bk_compare_run(plain.file, results, run, NULL, BK_FORMAT_TABLE, &err);
	if (bk_plain_end(&plain, stdout) < 0 || st < 0)
		fprintf(stderr, "bakeoff: no comparison: %s\n",
			err.message[0] ? err.message : "out of memory");
}

static int report_end(const struct bk_run_summary *summary, const char *file, bool named,
		      bool quiet)
{
	char path[600], with[620] = "", program[600];

	/* as it was called: a build folder is not in PATH */
	snprintf(program, sizeof(program), "%s", program_invocation_name);
	bk_one_line(program);
	snprintf(path, sizeof(path), "%s", file);
	bk_one_line(path);
	if (named)
		snprintf(with, sizeof(with), " --results %s", path);
	if (!summary->run)
		return BK_EXIT_FAILED;
	if (summary->interrupted)
		fprintf(stderr, "bakeoff: interrupted; what was measured is kept\n");
	if (!quiet || summary->interrupted) {
		fprintf(stderr, "%" PRIu32 " trials ok, %" PRIu32 " failed; results in %s\n",
			summary->trials_ok, summary->trials_failed, path);
		if (summary->data[0])
			fprintf(stderr,
				"data kept in %s\nto look at it: %s inspect %s/VARIANT/nodes\n",
				summary->data, program, summary->data);
		fprintf(stderr, "next: %s compare %" PRId64 "%s   %s show %" PRId64 "%s\n", program,
			summary->run, with, program, summary->run, with);
	}
	if (summary->interrupted)
		return 130;
	return summary->trials_failed ? BK_EXIT_FAILED : BK_EXIT_OK;
}

static int execute(struct bk_matrix *m, const struct bk_cmd_args *args, const char *path)
{
	struct bk_error err = bk_error_init();
	struct bk_run_summary summary;
	struct bk_progress progress;
	struct bk_run_events events;
	bool quiet = bk_cmd_flag(args, "quiet") != NULL;
	char *note = bk_cmd_flag(args, "note") ? strdup(bk_cmd_flag(args, "note")) : NULL;
	struct bk_run_config config = {
		.matrix = m,
		.note = note,
		.keep = bk_cmd_flag(args, "keep") != NULL,
		.interrupted = bk_interrupt_watch(),
	};
	bk_status st;
	int rc;

	if (note)
		bk_one_line(note);
	if (bk_results_open(&config.results, path, true, &err) < 0) {
		free(note);
		return bk_cmd_usage("%s", err.message);
	}
	bk_progress_init(&progress, stderr, quiet, bk_cmd_flag(args, "no-color") != NULL);
	events = bk_progress_events(&progress);
	config.events = &events;
	st = bk_run(&summary, &config, &err);
	bk_progress_end(&progress);
	if (st < 0 && !summary.run) {
		bk_results_close(config.results);
		free(note);
		return bk_cmd_usage("%s", err.message);
	}
	if (st < 0)
		fprintf(stderr, "bakeoff: the run ends: %s\n", err.message);
	else if (!summary.interrupted)
		compare(config.results, summary.run);
	bk_results_close(config.results);
	free(note);
	bk_one_line(summary.data);
	fflush(stdout); /* where both go to one place, the comparison comes first */
	rc = report_end(&summary, path, bk_cmd_flag(args, "results") != NULL, quiet);
	return st < 0 ? BK_EXIT_FAILED : rc;
}

static int run_exec(const struct bk_cmd_args *args)
{
	struct bk_error err = bk_error_init();
	const char *path = bk_results_path(bk_cmd_flag(args, "results"));
	const char **sets = collect_sets(args);
	struct bk_matrix_overrides overrides = {
		.only = bk_cmd_flag(args, "only"),
		.variants = bk_cmd_flag(args, "variants"),
		.rounds = bk_cmd_flag(args, "rounds"),
		.seed = bk_cmd_flag(args, "seed"),
		.data = bk_cmd_flag(args, "data"),
		.sets = sets,
	};
	struct bk_matrix m;
	int rc;

	if (!sets)
		return bk_cmd_fail("out of memory");
	if (bk_matrix_load(&m, bk_cmd_operand(args, 0), &overrides, &err) < 0) {
		free(sets);
		return bk_cmd_usage("%s", err.message);
	}
	if (bk_run_check(&m, &err) < 0)
		rc = bk_cmd_usage("%s", err.message);
	else if (bk_cmd_flag(args, "dry-run"))
		rc = dry_run(&m, path);
	else if (bk_run_check_data(&m, &err) < 0)
		rc = bk_cmd_usage("%s", err.message);
	else
		rc = execute(&m, args, path);
	bk_matrix_free(&m);
	free(sets);
	return rc;
}

static const struct bk_flag flags[] = {
	{.name = "only",
	 .arg = "GLOB",
	 .help = "only cells of that name, such as '*threads=1*', at its default or not"},
	{.name = "variants", .arg = "NAME,...", .help = "only these variants of the matrix"},
	{.name = "rounds", .arg = "N", .help = "instead of the matrix's own"},
	{.name = "seed", .arg = "S", .help = "instead of the matrix's own"},
	{.name = "data", .arg = "FOLDER", .help = "where stores live while the run lasts"},
	{.name = "set",
	 .arg = "[NAME.]OPTION=VALUE",
	 .help = "a backend's option; NAME is a variant or a backend",
	 .many = true},
	BK_CMD_RESULTS_FLAG,
	{.name = "note", .arg = "TEXT", .help = "kept with the run"},
	{.name = "keep", .help = "leave the stores' data in place afterwards"},
	{.name = "dry-run", .help = "print the cells, the bytes and the time; run nothing"},
	{.name = "quiet", .help = "print failures and the comparison only", .letter = 'q'},
	{.name = "no-color", .help = "no colours on a terminal (as does NO_COLOR)"},
	{0},
};

const struct bk_cmd bk_cmd_run = {
	.name = "run",
	.operands = "FILE",
	.summary = "run a matrix and compare its variants",
	.details =
		"FILE is a matrix: variants, scenarios with parameters, rounds (docs/matrix.md).  Every "
		"name, value and option in it is checked before anything is written.\n"
		"\n"
		"Each trial is kept in the results file as soon as it is done.  A store that fails "
		"ends one cell with its cause, not the run.  Ctrl-C ends cleanly and keeps what was "
		"measured.\n"
		"\n"
		"Examples:\n"
		"  bakeoff run matrix/smoke.yaml\n"
		"  bakeoff run matrix/many-members.yaml --only '*n-members*' --rounds 5\n"
		"  bakeoff run matrix/many-members.yaml --dry-run\n"
		"\n"
		"Exit status: 0 done, 1 some cells failed, 2 bad input (nothing was run), 130 "
		"interrupted.\n",
	.flags = flags,
	.operands_min = 1,
	.operands_max = 1,
	.exec = run_exec,
};
