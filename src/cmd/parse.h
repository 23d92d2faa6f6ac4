/*
 * parse.h - the command line of one subcommand, parsed by its descriptor.
 */
#ifndef BK_CMD_PARSE_H
#define BK_CMD_PARSE_H

#include "cmd/cmd.h"

/* Parses argv (without the command's own name).  Returns BK_EXIT_OK with *out the caller's to
 * free, or BK_EXIT_USAGE after a message.  --help anywhere before a "--" sets *help and ends the
 * parsing. */
int bk_cmd_parse(struct bk_cmd_args **out, bool *help, const struct bk_cmd *cmd, int argc,
		 char **argv);
void bk_cmd_args_free(struct bk_cmd_args *args);

#endif
