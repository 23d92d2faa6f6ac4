/*
 * cmd.h - a subcommand: one file, one descriptor, one line in commands.def.
 */
#ifndef BK_CMD_CMD_H
#define BK_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#define BK_EXIT_OK     0
#define BK_EXIT_FAILED 1 /* some cells or checks failed */
#define BK_EXIT_USAGE  2 /* bad usage or input */

/* One flag of a command.  `arg` NULL: a switch.  Parsed by bk_cmd_parse(); documented by --help
 * and the man page from the same table. */
struct bk_flag {
	const char *name; /* "results", written --results */
	const char *arg;  /* "FILE" or NULL */
	const char *help; /* one line */
	char letter;      /* 'k' for -k, or 0 */
	bool many;        /* may be given more than once */
};

struct bk_cmd_args; /* parsed flags and operands; see bk_cmd_* */

struct bk_cmd {
	const char *name;
	const char *operands; /* "FILE.so [NAME...]" or "" */
	const char *summary;  /* one line */
	const char *details;  /* paragraphs for --help and the man page, with examples; or NULL */
	const struct bk_flag *flags;                 /* ends with name NULL; NULL: none */
	size_t operands_min, operands_max;           /* SIZE_MAX: any number */
	bool passthrough;                            /* what follows -- is kept whole (exec) */
	int (*exec)(const struct bk_cmd_args *args); /* the exit status */
};

/* Parsed command line.  Values are borrowed from argv. */
const char *bk_cmd_flag(const struct bk_cmd_args *args,
			const char *name); /* last value; "" for a
					      switch; NULL: not given */
size_t bk_cmd_flag_count(const struct bk_cmd_args *args, const char *name);
const char *bk_cmd_flag_at(const struct bk_cmd_args *args, const char *name, size_t i);
size_t bk_cmd_operand_count(const struct bk_cmd_args *args);
const char *bk_cmd_operand(const struct bk_cmd_args *args, size_t i);
char *const *bk_cmd_rest(const struct bk_cmd_args *args); /* after --, NULL-terminated; or NULL */

/* "bakeoff: ..." on standard error, one line; returns BK_EXIT_USAGE for `return bk_cmd_usage(...)`.
 */
int bk_cmd_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int bk_cmd_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* BK_EXIT_FAILED */

extern const struct bk_cmd *const bk_commands[]; /* in the order of the help; ends with NULL */

/* main() without the process: parses, finds the command (suggesting the nearest), runs it. */
int bk_cmd_main(int argc, char **argv);

#endif
