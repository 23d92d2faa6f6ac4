/*
 * help.h - help texts and manual pages, both made from the descriptors.
 */
#ifndef BK_CMD_HELP_H
#define BK_CMD_HELP_H

#include "cmd/cmd.h"
#include "util/buf.h"

void bk_help_overview(struct bk_buf *out);
void bk_help_command(struct bk_buf *out, const struct bk_cmd *cmd);
/* troff for man(1); cmd NULL: bakeoff(1) itself. */
void bk_help_man(struct bk_buf *out, const struct bk_cmd *cmd);

#endif
