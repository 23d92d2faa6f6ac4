/*
 * table.c - the subcommands of commands.def as a table.
 */
#include "cmd/cmd.h"

#define X(name) extern const struct bk_cmd bk_cmd_##name;
#include "cmd/commands.def"
#undef X

const struct bk_cmd *const bk_commands[] = {
#define X(name) &bk_cmd_##name,
#include "cmd/commands.def"
#undef X
	NULL,
};
