/*
 * error_text.h - what a failed call is told as.
 */
#ifndef BK_UTIL_ERROR_TEXT_H
#define BK_UTIL_ERROR_TEXT_H

#include <bakeoff/backend.h>

#include <stddef.h>

/* The message, and the SQLSTATE behind it unless the message names it; cut to `size` bytes. */
void bk_error_text(char *out, size_t size, const struct bk_error *err);

#endif
