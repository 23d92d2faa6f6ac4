/*
 * redact.h - text that may be shown, made of text that may hold a password.
 *
 * The one invariant: the result is never longer than the source and never shows what stands where
 * a URL carries its password.
 */
#ifndef BK_UTIL_REDACT_H
#define BK_UTIL_REDACT_H

/* scheme://user:PASSWORD@host/x?password=SECRET becomes scheme://user:*@host/x?password=*; the
 * same for key=value texts.  Anything else is copied.  The caller's to free; NULL: no memory. */
char *bk_redact(const char *text);

#endif
