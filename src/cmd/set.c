/*
 * set.c - --set for commands with one backend.
 */
#include "cmd/set.h"

#include <bakeoff/backend_util.h>

bk_status bk_cmd_apply_set(struct bk_options *options, const char *name,
			   const struct bk_cmd_args *args, struct bk_error *err)
{
	size_t n = bk_cmd_flag_count(args, "set"), i;
	bk_status st = BK_OK;

	for (i = 0; st == BK_OK && i < n; i++) {
		const char *pair = bk_cmd_flag_at(args, "set", i);
		/* option names have no dot, so one before the '=' ends a NAME */
		size_t len = strcspn(pair, ".=");

		if (pair[len] != '.') {
			st = bk_options_set_pair(options, pair, BK_FROM_USER, err);
		} else if (strlen(name) == len && memcmp(name, pair, len) == 0) {
			st = bk_options_set_pair(options, pair + len + 1, BK_FROM_USER, err);
		} else {
			st = bk_fail(err, BK_INVALID, 0,
				     "--set names '%.*s', but the backend here is '%s'",
				     len > 40 ? 40 : (int)len, pair, name);
		}
	}
	return st;
}
