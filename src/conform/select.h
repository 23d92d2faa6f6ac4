/*
 * select.h - the cases that patterns select, in the order of the table.
 */
#ifndef BK_CONFORM_SELECT_H
#define BK_CONFORM_SELECT_H

#include "conform/case.h"

#include <bakeoff/backend.h>

struct bk_selected {
	const struct bk_group *group;
	const struct bk_case *what;
	char name[96]; /* group.case */
};

struct bk_selection {
	struct bk_selected *list; /* the caller's to free, after a failure too */
	size_t count;
};

/* No pattern: every case.  INVALID: one selects nothing. */
bk_status bk_select_cases(struct bk_selection *out, const char *const *patterns, size_t n,
			  struct bk_error *err);

#endif
