/*
 * list.h - lists of names as they are written on the command line: "a,b,c".
 */
#ifndef BK_UTIL_LIST_H
#define BK_UTIL_LIST_H

#include <stdbool.h>

/* Is `name` one of them? */
bool bk_list_has(const char *list, const char *name);

#endif
