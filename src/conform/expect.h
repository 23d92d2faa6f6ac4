/*
 * expect.h - the failures that a backend owns up to: lines `group.case: reason`.
 *
 * The one invariant: every line names a case that exists, once, with a reason.
 */
#ifndef BK_CONFORM_EXPECT_H
#define BK_CONFORM_EXPECT_H

#include "util/arena.h"

#include <bakeoff/backend.h>

struct bk_expectation {
	const char *name, *reason;
	int line;
};
struct bk_expect {
	const char *path; /* NULL: no file */
	struct bk_expectation *list;
	size_t count;
	struct bk_arena arena;
};

/* `path` NULL: bk-NAME.expect beside `plugin_path`, if it is there. */
bk_status bk_expect_read(struct bk_expect *out, const char *path, const char *plugin_path,
			 struct bk_error *err);
void bk_expect_free(struct bk_expect *expect);
const struct bk_expectation *bk_expect_find(const struct bk_expect *expect, const char *name);

#endif
