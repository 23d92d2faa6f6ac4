/*
 * sanitize.h - what a build with sanitizers changes for the suite.
 *
 * The one invariant: without a sanitizer everything here is a constant.
 */
#ifndef BK_CONFORM_SANITIZE_H
#define BK_CONFORM_SANITIZE_H

#include <stdbool.h>

unsigned bk_sanitizer_slowdown(void); /* factor for waits; 1 without */
bool bk_sanitizer_memory(void);       /* resident memory says nothing about the backend */
/* What has been found in this process so far, or NULL: memory that nothing points at any more, a
 * data race.  Asked for at the end of a case. */
const char *bk_sanitizer_found(void);

#endif
