/*
 * help.c - what --help and man show.
 *
 * The one invariant: nothing is said here about a single command; that stands in its descriptor.
 */
#include "cmd/help.h"

#include "matrix/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELP_WIDTH 88

static const char help_purpose[] =
	"bakeoff compares the places where a repository can keep its records and its files. It "
	"drives the same seeded requests at each through backend plugins, checks what comes back, "
	"measures, and shows how far the rounds lie apart.";

/* The first command to try: `run` once there is one, then what every installation has. */
static char *help_first(const char **why)
{
	size_t i;
	char *installed =
		access("matrix/smoke.yaml", R_OK) == 0 ? NULL : bk_matrix_file("smoke.yaml");
	struct bk_buf text = BK_BUF_INIT;

	for (i = 0; bk_commands[i]; i++) {
		if (strcmp(bk_commands[i]->name, "run") == 0) {
			*why = "a first comparison, in about a minute";
			bk_buf_putf(&text, "bakeoff run %s",
				    installed && access(installed, R_OK) == 0
					    ? installed
					    : "matrix/smoke.yaml");
			break;
		}
	}
	if (!bk_commands[i]) {
		*why = "what this installation can drive";
		bk_buf_puts(&text, "bakeoff backends");
	}
	free(installed);
	return bk_buf_steal(&text);
}

void bk_help_overview(struct bk_buf *out)
{
	const char *why;
	char *first = help_first(&why);
	size_t i, width = 0;

	bk_buf_put_wrapped(out, help_purpose, 0, HELP_WIDTH);
	bk_buf_puts(out, "\nusage: bakeoff COMMAND [ARGUMENT...]\n\ncommands:\n");
	for (i = 0; bk_commands[i]; i++) {
		size_t len = strlen(bk_commands[i]->name);

		width = len > width ? len : width;
	}
	for (i = 0; bk_commands[i]; i++)
		bk_buf_putf(out, "  %-*s  %s\n", (int)width, bk_commands[i]->name,
			    bk_commands[i]->summary);
	bk_buf_putf(out, "\ntry first:\n  %s    %s\n", first ? first : "", why);
	free(first);
	bk_buf_puts(out, "\n`bakeoff COMMAND --help` says more about each; `bakeoff --version` "
			 "which this is.\n");
}

static void help_flag_term(struct bk_buf *out, const struct bk_flag *flag)
{
	if (flag->letter)
		bk_buf_putf(out, "-%c, ", flag->letter);
	bk_buf_putf(out, "--%s", flag->name);
	if (flag->arg)
		bk_buf_putf(out, " %s", flag->arg);
}

static void help_flags(struct bk_buf *out, const struct bk_cmd *cmd)
{
	static const struct bk_flag help = {"help", NULL, "show this text", 'h', false};
	const struct bk_flag *flag = cmd->flags;
	struct bk_buf term = BK_BUF_INIT;

	bk_buf_puts(out, "\noptions:\n");
	for (;;) {
		const struct bk_flag *f = flag && flag->name ? flag : &help;

		bk_buf_reset(&term);
		help_flag_term(&term, f);
		if (term.len <= 24)
			bk_buf_putf(out, "  %-24s  ", bk_buf_str(&term));
		else
			bk_buf_putf(out, "  %s\n%28s", bk_buf_str(&term), "");
		bk_buf_putf(out, "%s%s\n", f->help, f->many ? " (may be repeated)" : "");
		if (f == &help)
			break;
		flag++;
	}
	bk_buf_free(&term);
}

static void help_synopsis(struct bk_buf *out, const struct bk_cmd *cmd)
{
	bk_buf_putf(out, "bakeoff %s%s%s%s", cmd->name,
		    cmd->flags && cmd->flags->name ? " [OPTION...]" : "", *cmd->operands ? " " : "",
		    cmd->operands);
}

void bk_help_command(struct bk_buf *out, const struct bk_cmd *cmd)
{
	bk_buf_puts(out, "usage: ");
	help_synopsis(out, cmd);
	bk_buf_putf(out, "\n\n%s\n", cmd->summary);
	if (cmd->details) {
		bk_buf_puts(out, "\n");
		bk_buf_put_wrapped(out, cmd->details, 0, HELP_WIDTH);
	}
	help_flags(out, cmd);
}

/* ---- manual pages -------------------------------------------------------------- */

/* One piece of text, escaped for troff; `bol`: it stands at the beginning of a line. */
static void man_text(struct bk_buf *out, const char *text, size_t len, bool bol)
{
	size_t i;

	if (bol && len && (text[0] == '.' || text[0] == '\''))
		bk_buf_puts(out, "\\&");
	for (i = 0; i < len; i++) {
		if (text[i] == '\\')
			bk_buf_puts(out, "\\e");
		else if (text[i] == '-')
			bk_buf_puts(out, "\\-");
		else
			bk_buf_put(out, &text[i], 1);
	}
}

/* Paragraphs; lines that begin with a space are examples and keep their layout. */
static void man_paragraphs(struct bk_buf *out, const char *text)
{
	bool example = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		bool indented = text[0] == ' ';

		if (indented != example && len)
			bk_buf_puts(out, indented ? ".nf\n" : ".fi\n");
		if (len)
			example = indented;
		if (len == 0)
			bk_buf_puts(out, example ? "\n" : ".PP\n");
		else {
			man_text(out, text, len, true);
			bk_buf_puts(out, "\n");
		}
		text += len + (text[len] == '\n');
	}
	if (example)
		bk_buf_puts(out, ".fi\n");
}

static void man_head(struct bk_buf *out, const char *page, const char *summary)
{
	const char *p;

	bk_buf_puts(out, ".TH \"");
	for (p = page; *p; p++)
		bk_buf_putf(out, "%c", *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
	bk_buf_puts(out, "\" \"1\" \"" BAKEOFF_DATE "\" \"bakeoff " BAKEOFF_VERSION
			 "\" \"bakeoff\"\n.SH NAME\n");
	man_text(out, page, strlen(page), true);
	bk_buf_puts(out, " \\- ");
	man_text(out, summary, strlen(summary), false);
	bk_buf_puts(out, "\n.SH SYNOPSIS\n.B ");
}

static void man_flags(struct bk_buf *out, const struct bk_cmd *cmd)
{
	const struct bk_flag *flag;
	struct bk_buf term = BK_BUF_INIT;

	bk_buf_puts(out, ".SH OPTIONS\n");
	for (flag = cmd->flags; flag && flag->name; flag++) {
		bk_buf_reset(&term);
		help_flag_term(&term, flag);
		bk_buf_puts(out, ".TP\n.B ");
		man_text(out, bk_buf_str(&term), term.len, false);
		bk_buf_puts(out, "\n");
		man_text(out, flag->help, strlen(flag->help), true);
		bk_buf_puts(out, flag->many ? " (may be repeated)\n" : "\n");
	}
	bk_buf_puts(out, ".TP\n.B \\-h, \\-\\-help\nshow a summary\n");
	bk_buf_free(&term);
}

static void man_see_also(struct bk_buf *out, const struct bk_cmd *self)
{
	size_t i;

	bk_buf_puts(out, ".SH SEE ALSO\n");
	if (self)
		bk_buf_puts(out, ".BR bakeoff (1)\n");
	for (i = 0; bk_commands[i]; i++) {
		if (bk_commands[i] != self)
			bk_buf_putf(out, ".BR bakeoff\\-%s (1)\n", bk_commands[i]->name);
	}
}

static void man_program(struct bk_buf *out)
{
	size_t i;

	man_head(out, "bakeoff", "compare stores for repositories");
	bk_buf_puts(out, "bakeoff\n.I COMMAND\n[ARGUMENT...]\n.SH DESCRIPTION\n");
	man_paragraphs(out, help_purpose);
	bk_buf_puts(out, ".SH COMMANDS\n");
	for (i = 0; bk_commands[i]; i++) {
		bk_buf_puts(out, ".TP\n.BR bakeoff\\-");
		man_text(out, bk_commands[i]->name, strlen(bk_commands[i]->name), false);
		bk_buf_puts(out, " (1)\n");
		man_text(out, bk_commands[i]->summary, strlen(bk_commands[i]->summary), true);
		bk_buf_puts(out, "\n");
	}
	bk_buf_puts(out, ".SH ENVIRONMENT\n.TP\n.B BAKEOFF_BACKENDS\nfolders with backends, "
			 "separated by colons, searched before the installed ones\n");
	bk_buf_puts(out,
		    ".TP\n.B BAKEOFF_RESULTS\nthe results file where --results names none\n"
		    ".TP\n.B NO_COLOR\nset: no colours on a terminal\n"
		    ".TP\n.B XDG_CACHE_HOME\nholds bakeoff/templates, data of new servers ready to "
		    "be copied (default ~/.cache)\n");
	bk_buf_puts(out, ".SH EXIT STATUS\n0: done; 1: something that was tried failed; 2: bad "
			 "usage or input. Commands that differ say so.\n");
	man_see_also(out, NULL);
}

void bk_help_man(struct bk_buf *out, const struct bk_cmd *cmd)
{
	struct bk_buf text = BK_BUF_INIT;

	if (!cmd) {
		man_program(out);
		return;
	}
	bk_buf_putf(&text, "bakeoff-%s", cmd->name);
	man_head(out, bk_buf_str(&text), cmd->summary);
	bk_buf_reset(&text);
	help_synopsis(&text, cmd);
	man_text(out, bk_buf_str(&text), text.len, false);
	bk_buf_puts(out, "\n.SH DESCRIPTION\n");
	man_paragraphs(out, cmd->details ? cmd->details : cmd->summary);
	if (!cmd->details)
		bk_buf_puts(out, "\n");
	man_flags(out, cmd);
	man_see_also(out, cmd);
	bk_buf_free(&text);
}
