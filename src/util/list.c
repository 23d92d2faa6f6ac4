/*
 * list.c - see list.h.
 */
#include "util/list.h"

#include <string.h>

bool bk_list_has(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && strncmp(list, name, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}
