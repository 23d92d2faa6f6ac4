/*
 * set.h - --set [NAME.]option=value, the same for every command that opens a store.
 */
#ifndef BK_CMD_SET_H
#define BK_CMD_SET_H

#include "cmd/cmd.h"
#include "plugin/options.h"

/* The flag's entry in a command's table. */
#define BK_CMD_SET_FLAG                                                                            \
	{                                                                                          \
		.name = "set", .arg = "[NAME.]OPTION=VALUE",                                       \
		.help = "set an option of the backend; `bakeoff backends NAME` lists them",        \
		.many = true                                                                       \
	}

/* Applies every --set of `args` to the options of the one backend `name`.  A NAME that is another
 * is an error: with one backend it can only be a mistake. */
bk_status bk_cmd_apply_set(struct bk_options *options, const char *name,
			   const struct bk_cmd_args *args, struct bk_error *err);

#endif
