/*
 * select.c - which cases run, by the patterns of the command line.
 */
#include "conform/select.h"

#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool pattern_takes(const char *pattern, const struct bk_group *group, const char *name)
{
	return strcmp(pattern, group->name) == 0 || fnmatch(pattern, name, 0) == 0;
}

static bool patterns_take(const char *const *patterns, size_t n, const struct bk_group *group,
			  const char *name)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (pattern_takes(patterns[i], group, name))
			return true;
	}
	return n == 0;
}

static size_t cases_total(void)
{
	const struct bk_group *const *g;
	const struct bk_case *c;
	size_t n = 0;

	for (g = bk_conform_groups; *g; g++) {
		for (c = (*g)->cases; c->name; c++)
			n++;
	}
	return n;
}

static bk_status no_such_case(const char *pattern, struct bk_error *err)
{
	const struct bk_group *const *g;
	const struct bk_case *c;
	struct bk_suggest suggest;
	char name[96], best[96] = "";

	bk_suggest_init(&suggest, pattern);
	for (g = bk_conform_groups; *g; g++) {
		bk_suggest_offer(&suggest, (*g)->name);
		for (c = (*g)->cases; c->name; c++) {
			const char *before = suggest.best;

			snprintf(name, sizeof(name), "%s.%s", (*g)->name, c->name);
			bk_suggest_offer(&suggest, name);
			if (suggest.best != before) { /* `name` is ours: keep its text */
				snprintf(best, sizeof(best), "%s", name);
				suggest.best = best;
			}
		}
	}
	return bk_fail(err, BK_INVALID, 0, "no case matches '%s'%s%s%s", pattern,
		       suggest.best ? "; did you mean '" : "", suggest.best ? suggest.best : "",
		       suggest.best ? "'?" : " (see --list)");
}

bk_status bk_select_cases(struct bk_selection *out, const char *const *patterns, size_t n,
			  struct bk_error *err)
{
	const struct bk_group *const *g;
	const struct bk_case *c;
	size_t i, k;

	memset(out, 0, sizeof(*out));
	out->list = calloc(cases_total() + 1, sizeof(*out->list));
	if (!out->list)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	for (g = bk_conform_groups; *g; g++) {
		for (c = (*g)->cases; c->name; c++) {
			struct bk_selected *s = &out->list[out->count];

			snprintf(s->name, sizeof(s->name), "%s.%s", (*g)->name, c->name);
			s->group = *g;
			s->what = c;
			if (patterns_take(patterns, n, *g, s->name))
				out->count++;
		}
	}
	for (i = 0; i < n; i++) { /* a pattern that selects nothing is a typing error */
		for (k = 0; k < out->count; k++) {
			if (pattern_takes(patterns[i], out->list[k].group, out->list[k].name))
				break;
		}
		if (k == out->count)
			return no_such_case(patterns[i], err);
	}
	return BK_OK;
}
