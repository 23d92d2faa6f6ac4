/*
 * run.c - which cases run, in which order, and what is printed about them (TAP version 14).
 *
 * The one invariant: one line of result for each case that was selected, in the order of the
 * table, whatever happened to it.
 */
#include "conform/expect.h"
#include "conform/process.h"
#include "util/suggest.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/wait.h>

struct selected {
	const struct bk_group *group;
	const struct bk_case *what;
	char name[96]; /* group.case */
};

struct selection {
	struct selected *list;
	size_t count;
};

/* ---- Selecting --------------------------------------------------------------------- */

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

static bk_status select_cases(struct selection *out, const char *const *patterns, size_t n,
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
			struct selected *s = &out->list[out->count];

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

/* ---- Features ----------------------------------------------------------------------- */

static void put_features(struct bk_buf *buf, const char *before, uint64_t bits)
{
	const struct bk_feature *f;

	for (f = bk_features; f->name; f++) {
		if (bits & f->bit) {
			bk_buf_putf(buf, "%s%s", before, f->name);
			before = ", ";
		}
	}
}

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
		put_features(buf, "needs ", missing);
	else if (c->lacks & p->own)
		put_features(buf, "is about a backend without ", c->lacks & p->own);
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
	struct selection sel;
	bk_status st = select_cases(&sel, patterns, pattern_count, err);
	size_t i;

	for (i = 0; st == BK_OK && i < sel.count; i++) {
		struct bk_buf needs = BK_BUF_INIT;

		put_features(&needs, " [needs ", sel.list[i].what->needs | sel.list[i].what->own);
		if (needs.len)
			bk_buf_puts(&needs, "]");
		fprintf(out, "%-44s %s%s\n", sel.list[i].name, sel.list[i].what->what,
			bk_buf_str(&needs));
		bk_buf_free(&needs);
	}
	free(sel.list);
	return st;
}

/* ---- Printing ----------------------------------------------------------------------- */

static void print_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_block(FILE *out, const char *key, const char *text)
{
	const char *p = text, *end;

	if (!*text)
		return;
	fprintf(out, "  %s: |\n", key);
	for (; *p; p = *end ? end + 1 : end) {
		const char *q;

		end = strchr(p, '\n');
		if (!end)
			end = p + strlen(p);
		fputs("    ", out);
		for (q = p; q < end; q++)
			fputc((unsigned char)*q < 0x20 ? ' ' : *q, out);
		fputc('\n', out);
	}
}

static void print_diagnostic(FILE *out, const struct bk_case_result *r, const char *message,
			     const struct selected *s, uint64_t seed)
{
	fputs("  ---\n  message: ", out);
	print_quoted(out, message);
	if (r->at[0])
		fprintf(out, "\n  at: %s", r->at);
	fputs("\n  shows: ", out);
	print_quoted(out, s->what->what);
	fprintf(out, "\n  seed: %llu\n  took_ms: %llu\n", (unsigned long long)seed,
		(unsigned long long)(r->took_ns / 1000000));
	print_block(out, "notes", bk_buf_str(&r->notes));
	print_block(out, "output", bk_buf_str(&r->log));
	fputs("  ...\n", out);
}

/* A reason stands in the TAP line, where `#` would begin a directive. */
static void print_reason(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == '#' ? '/' : *text, out);
	fputc('\n', out);
}

static void print_result(struct bk_conform_result *sum, const struct bk_conform_config *config,
			 size_t number, const struct selected *s, const struct bk_case_result *r,
			 const struct bk_expect *expect)
{
	const struct bk_expectation *e = bk_expect_find(expect, s->name);
	FILE *out = config->out;

	if (r->outcome == BK_SKIPPED) {
		sum->skipped++;
		fprintf(out, "ok %zu - %s # SKIP ", number, s->name);
		print_reason(out, bk_buf_str(&r->message));
	} else if (r->outcome == BK_PASSED && !e) {
		sum->passed++;
		fprintf(out, "ok %zu - %s\n", number, s->name);
	} else if (r->outcome == BK_PASSED) {
		struct bk_buf text = BK_BUF_INIT;

		sum->failed++;
		bk_buf_putf(&text, "passed, but %s:%d expects it to fail (%s); remove that line",
			    expect->path, e->line, e->reason);
		fprintf(out, "not ok %zu - %s\n", number, s->name);
		print_diagnostic(out, r, bk_buf_str(&text), s, config->seed);
		bk_buf_free(&text);
	} else if (e) {
		sum->expected++;
		fprintf(out, "not ok %zu - %s # TODO ", number, s->name);
		print_reason(out, e->reason);
	} else {
		sum->failed++;
		fprintf(out, "not ok %zu - %s\n", number, s->name);
		print_diagnostic(out, r, bk_buf_str(&r->message), s, config->seed);
	}
	fflush(out);
}

static void print_head(const struct bk_runner *p, size_t count)
{
	const struct bk_backend *desc = &p->config->plugin->desc;
	struct bk_buf features = BK_BUF_INIT;
	FILE *out = p->config->out;

	put_features(&features, "", p->own);
	fprintf(out, "TAP version 14\n1..%zu\n", count);
	fprintf(out, "# backend %s %s: %s\n", desc->name, desc->version, p->config->plugin->path);
	fprintf(out, "# offers %s\n", bk_buf_str(&features));
	fprintf(out, "# seed %llu\n", (unsigned long long)p->config->seed);
	if (desc->service && !p->config->crash)
		fprintf(out, "# the crash group kills the client only: no --crash-command\n");
	fflush(out);
	bk_buf_free(&features);
}

/* ---- Running -------------------------------------------------------------------------- */

static void run_selection(struct bk_conform_result *sum, struct bk_runner *p,
			  const struct selection *sel, const struct bk_expect *expect)
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
		print_result(sum, p->config, i + 1, &sel->list[i], &r, expect);
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
	struct selection sel;
	struct bk_expect expect;
	struct bk_runner p;
	bk_status st;

	memset(out, 0, sizeof(*out));
	memset(&expect, 0, sizeof(expect));
	memset(&p, 0, sizeof(p));
	p.interrupt_fd = -1;
	p.config = config;
	st = select_cases(&sel, config->patterns, config->pattern_count, err);
	if (st == BK_OK)
		st = bk_expect_read(&expect, config->expect_path, config->plugin->path, err);
	if (st == BK_OK)
		st = bk_process_open(&p, config, err);
	if (st == BK_OK)
		st = bk_process_probe(&p, err);
	if (st == BK_OK) {
		print_head(&p, sel.count);
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
