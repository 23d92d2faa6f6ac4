/*
 * tap.c - what is printed about the cases (TAP version 14).
 *
 * The one invariant: one line of result for each case that was selected, in the order of the
 * table, whatever happened to it.
 */
#include "conform/tap.h"

#include <string.h>

void bk_tap_features(struct bk_buf *buf, const char *before, uint64_t bits)
{
	const struct bk_feature *f;

	for (f = bk_features; f->name; f++) {
		if (bits & f->bit) {
			bk_buf_putf(buf, "%s%s", before, f->name);
			before = ", ";
		}
	}
}

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
			     const struct bk_selected *s, uint64_t seed)
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

void bk_tap_result(struct bk_conform_result *sum, const struct bk_conform_config *config,
		   size_t number, const struct bk_selected *s, const struct bk_case_result *r,
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

void bk_tap_head(const struct bk_runner *p, size_t count)
{
	const struct bk_backend *desc = &p->config->plugin->desc;
	struct bk_buf features = BK_BUF_INIT;
	FILE *out = p->config->out;

	bk_tap_features(&features, "", p->own);
	fprintf(out, "TAP version 14\n1..%zu\n", count);
	fprintf(out, "# backend %s %s: %s\n", desc->name, desc->version, p->config->plugin->path);
	fprintf(out, "# offers %s\n", bk_buf_str(&features));
	fprintf(out, "# seed %llu\n", (unsigned long long)p->config->seed);
	if (desc->service && !p->config->crash)
		fprintf(out, "# the crash group kills the client only: no --crash-command\n");
	fflush(out);
	bk_buf_free(&features);
}
