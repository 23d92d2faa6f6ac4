/*
 * error_text.c - what a failed call is told as.
 */
#include "util/error_text.h"

#include <stdio.h>
#include <string.h>

void bk_error_text(char *out, size_t size, const struct bk_error *err)
{
	if (!err->sqlstate[0] || strstr(err->message, err->sqlstate))
		snprintf(out, size, "%s", err->message);
	else
		snprintf(out, size, "%s (SQLSTATE %s)", err->message, err->sqlstate);
}
