/*
 * cmd.c - from argv to a command and its exit status.
 *
 * The one invariant: the environment is read and cleaned before anything else happens.
 */
#include "cmd/cmd.h"

#include "cmd/help.h"
#include "cmd/parse.h"
#include "plugin/options.h"
#include "util/redact.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((format(printf, 1, 0))) cmd_complain(const char *fmt, va_list ap)
{
	char line[2048], *shown;

	vsnprintf(line, sizeof(line), fmt, ap);
	bk_one_line(line); /* whatever was quoted in it */
	/* a URL in the wrong place, with its password */
	shown = strstr(line, "://") ? bk_redact(line) : NULL;
	fflush(stdout);
	fprintf(stderr, "bakeoff: %s\n", shown ? shown : line);
	free(shown);
}

int bk_cmd_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmd_complain(fmt, ap);
	va_end(ap);
	return BK_EXIT_USAGE;
}

int bk_cmd_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmd_complain(fmt, ap);
	va_end(ap);
	return BK_EXIT_FAILED;
}

static const struct bk_cmd *cmd_find(const char *name)
{
	size_t i;

	for (i = 0; bk_commands[i]; i++) {
		if (strcmp(bk_commands[i]->name, name) == 0)
			return bk_commands[i];
	}
	return NULL;
}

static int cmd_unknown(const char *name)
{
	struct bk_suggest suggest;
	size_t i;

	bk_suggest_init(&suggest, name);
	for (i = 0; bk_commands[i]; i++)
		bk_suggest_offer(&suggest, bk_commands[i]->name);
	if (suggest.best)
		return bk_cmd_usage("command '%.60s' is unknown; did you mean '%s'?", name,
				    suggest.best);
	return bk_cmd_usage("command '%.60s' is unknown; `bakeoff --help` lists them", name);
}

static int cmd_print(struct bk_buf *text)
{
	int status = BK_EXIT_OK;

	if (text->failed)
		status = bk_cmd_fail("out of memory");
	else
		fputs(bk_buf_str(text), stdout);
	bk_buf_free(text);
	return status;
}

/* --help [CMD], help [CMD], --man [CMD]: `show` is for one command */
static int cmd_show(void (*show)(struct bk_buf *out, const struct bk_cmd *cmd), const char *name)
{
	const struct bk_cmd *cmd = name ? cmd_find(name) : NULL;
	struct bk_buf text = BK_BUF_INIT;

	if (name && !cmd)
		return cmd_unknown(name);
	if (!cmd && show == bk_help_command)
		bk_help_overview(&text);
	else
		show(&text, cmd);
	return cmd_print(&text);
}

/* The names alone, one a line: for the build, which makes a manual page of each. */
static int cmd_names(void)
{
	size_t i;

	for (i = 0; bk_commands[i]; i++)
		puts(bk_commands[i]->name);
	return BK_EXIT_OK;
}

static int cmd_program_flag(const char *flag, const char *operand)
{
	static const char *const flags[] = {"--help", "--version", NULL};
	const char *near;

	if (strcmp(flag, "--help") == 0 || strcmp(flag, "-h") == 0)
		return cmd_show(bk_help_command, operand);
	if (strcmp(flag, "--man") == 0)
		return cmd_show(bk_help_man, operand);
	if (strcmp(flag, "--commands") == 0)
		return cmd_names();
	if (strcmp(flag, "--version") == 0) {
		printf("bakeoff %s (backend ABI %u.%u)\n", BAKEOFF_VERSION, BK_ABI_MAJOR,
		       BK_ABI_MINOR);
		return BK_EXIT_OK;
	}
	near = bk_suggest_in(flag, flags);
	if (near)
		return bk_cmd_usage("%.60s is unknown; did you mean %s?", flag, near);
	return bk_cmd_usage("%.60s is unknown; a command comes first, see bakeoff --help", flag);
}

static int cmd_run(const struct bk_cmd *cmd, int argc, char **argv)
{
	struct bk_cmd_args *args = NULL;
	bool help;
	int status = bk_cmd_parse(&args, &help, cmd, argc, argv);

	if (status == BK_EXIT_OK)
		status = help ? cmd_show(bk_help_command, cmd->name) : cmd->exec(args);
	bk_cmd_args_free(args);
	return status;
}

/* A report cut off by a full disk must not look like a whole one. */
static int cmd_flush(int status)
{
	bool failed = ferror(stdout) != 0; /* earlier: what was wrong then is not known any more */

	if (fflush(stdout) == 0 && !failed)
		return status;
	bk_cmd_fail("cannot write standard output%s%s", failed ? "" : ": ",
		    failed ? "; some of it is lost" : strerror(errno));
	return status == BK_EXIT_OK ? BK_EXIT_FAILED : status;
}

static int cmd_dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";
	const struct bk_cmd *cmd;

	if (name[0] == '-')
		return cmd_program_flag(name, argc > 2 ? argv[2] : NULL);
	if (strcmp(name, "help") == 0)
		return cmd_show(bk_help_command, argc > 2 ? argv[2] : NULL);
	cmd = cmd_find(name);
	return cmd ? cmd_run(cmd, argc - 2, argv + 2) : cmd_unknown(name);
}

static void cmd_ignore(int number)
{
	(void)number;
}

int bk_cmd_main(int argc, char **argv)
{
	/* A limit on file sizes is an error of the write that meets it, not the end of the run.  A
	 * handler, which a program that we start does not inherit. */
	signal(SIGXFSZ, cmd_ignore);
	bk_options_read_environment();
	return cmd_flush(cmd_dispatch(argc, argv));
}
