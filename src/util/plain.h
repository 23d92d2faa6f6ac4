/*
 * plain.h - output for people that may quote anything: a results file, a path, a store's words.
 *
 * The one invariant: nothing but lines of UTF-8 gets out; no byte of it commands a terminal.
 * Control characters but the line end become spaces, bytes that are no text `?`.
 */
#ifndef BK_UTIL_PLAIN_H
#define BK_UTIL_PLAIN_H

#include <stdio.h>

/* Cleans the text in place and puts it on `out`. */
void bk_plain_puts(char *text, FILE *out);

/* Collects what is printed.  Begin, print to `file`, end. */
struct bk_plain {
	FILE *file;
	char *text;
	size_t len;
};

/* `file` is NULL when there is no memory. */
void bk_plain_begin(struct bk_plain *plain);
/* Puts it on `out`.  -1: no memory, nothing was put. */
int bk_plain_end(struct bk_plain *plain, FILE *out);

#endif
