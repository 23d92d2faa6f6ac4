/*
 * open_results.c - see the header.
 */
#include "cmd/open_results.h"

#include <bakeoff/backend_util.h>

bk_status bk_cmd_open_run(struct bk_results **out, int64_t *run, const struct bk_cmd_args *args)
{
	struct bk_error err = bk_error_init();
	const char *which = bk_cmd_operand_count(args) ? bk_cmd_operand(args, 0) : "";
	bk_status st =
		bk_results_open(out, bk_results_path(bk_cmd_flag(args, "results")), false, &err);

	if (st >= 0) {
		st = bk_results_run_find(run, *out, which, &err);
		if (st < 0)
			bk_results_close(*out);
	}
	if (st < 0)
		bk_cmd_usage("%s", err.message);
	return st;
}
