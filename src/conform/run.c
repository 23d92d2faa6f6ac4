/*
 * run.c - the suite from end to end: select, look whether a case applies, run it, print.
 */
#include "conform/select.h"
#include "conform/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static bool has_folder_of_ours(const struct bk_runner *p)
{
	const struct bk_option *entry = bk_options_flagged(p->config->options, BK_OPTF_FOLDER);

	return entry && !bk_options_is_set(p->config->options, entry->name);
}

/* Why the case does not apply to this store; empty when it does. */
static void why_not(struct bk_buf *buf, const struct bk_runner *p, const struct bk_case *c)
{
	const struct bk_backend *desc = &p->config->plugin->desc;
	uint64_t missing = (c->needs & ~(p->own | p->looped)) | (c->own & ~p->own);

	if (missing)
		bk_tap_features(buf, "needs ", missing);
	else if (c->lacks & p->own)
		bk_tap_features(buf, "is about a backend without ", c->lacks & p->own);
	else if ((c->flags & (BK_CASE_TWO | BK_CASE_THREADS)) &&
		 (desc->threads == BK_THREADS_SINGLE || p->limits.sessions_max == 1))
		bk_buf_puts(buf, "needs two sessions at a time");
	else if ((c->flags & BK_CASE_FREE_ID) && (p->own & BK_F_ID_IS_PATH))
		bk_buf_puts(buf, "needs ids that are not paths");
	else if ((c->flags & BK_CASE_FOLDER) && !has_folder_of_ours(p))
		bk_buf_puts(buf, "needs a store in a folder that the suite made");
}

bk_status bk_conform_list(const char *const *patterns, size_t pattern_count, FILE *out,
			  struct bk_error *err)
{
	struct bk_selection sel;
	bk_status st = bk_select_cases(&sel, patterns, pattern_count, err);
	size_t i;

	for (i = 0; st == BK_OK && i < sel.count; i++) {
		struct bk_buf needs = BK_BUF_INIT;

		bk_tap_features(&needs, " [needs ",
				sel.list[i].what->needs | sel.list[i].what->own);
		if (needs.len)
			bk_buf_puts(&needs, "]");
		fprintf(out, "%-44s %s%s\n", sel.list[i].name, sel.list[i].what->what,
			bk_buf_str(&needs));
		bk_buf_free(&needs);
	}
	free(sel.list);
	return st;
}

static void run_selection(struct bk_conform_result *sum, struct bk_runner *p,
			  const struct bk_selection *sel, const struct bk_expect *expect)
{
	size_t i;

	for (i = 0; i < sel->count && !p->interrupted; i++) {
		struct bk_case_result r;

		memset(&r, 0, sizeof(r));
		why_not(&r.message, p, sel->list[i].what);
		if (r.message.len)
			r.outcome = BK_SKIPPED;
		else
			bk_process_case(p, sel->list[i].what, i + 1, &r);
		bk_tap_result(sum, p->config, i + 1, &sel->list[i], &r, expect);
		bk_case_result_free(&r);
	}
	if (p->interrupted)
		fprintf(p->config->out, "Bail out! interrupted\n");
	fprintf(p->config->out, "# %zu passed, %zu failed, %zu expected failures, %zu skipped\n",
		sum->passed, sum->failed, sum->expected, sum->skipped);
	fflush(p->config->out);
}

bk_status bk_conform_run(struct bk_conform_result *out, const struct bk_conform_config *config,
			 struct bk_error *err)
{
	struct bk_selection sel;
	struct bk_expect expect;
	struct bk_runner p;
	bk_status st;

	memset(out, 0, sizeof(*out));
	memset(&expect, 0, sizeof(expect));
	memset(&p, 0, sizeof(p));
	p.interrupt_fd = -1;
	p.config = config;
	st = bk_select_cases(&sel, config->patterns, config->pattern_count, err);
	if (st == BK_OK)
		st = bk_expect_read(&expect, config->expect_path, config->plugin->path, err);
	if (st == BK_OK)
		st = bk_process_open(&p, config, err);
	if (st == BK_OK)
		st = bk_process_probe(&p, err);
	if (st == BK_OK) {
		bk_tap_head(&p, sel.count);
		run_selection(out, &p, &sel, &expect);
		if (p.interrupted)
			out->failed++;
	}
	bk_process_close(&p);
	bk_expect_free(&expect);
	free(sel.list);
	return st;
}

bk_status bk_conform_crash_command(void *command, struct bk_error *err)
{
	int status = system(command);

	if (status == -1)
		return bk_fail(err, BK_IO, 0, "cannot run the crash command");
	if (WIFSIGNALED(status))
		return bk_fail(err, BK_IO, 0, "the crash command ended by signal %d",
			       WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return bk_fail(err, BK_IO, WEXITSTATUS(status),
			       "the crash command ended with status %d", WEXITSTATUS(status));
	return BK_OK;
}
