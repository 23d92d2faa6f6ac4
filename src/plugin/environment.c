/*
 * environment.c - the variables that client libraries would read unseen, kept and taken away.
 *
 * The one invariant: written once, before any thread and any backend; read-only from then on.  It
 * is the environment itself that is global here, so what was in it is kept the same way.
 */
#include "plugin/options.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

static char **environment_removed; /* "NAME=value", NULL after the last; NULL: none */

static bool environment_is_hidden(const char *name, size_t len)
{
	static const char *const prefixes[] = {"PG", "MYSQL", "MARIADB", "AWS_", NULL};
	static const char *const suffixes[] = {"_proxy", "_PROXY", NULL};
	size_t i;

	for (i = 0; prefixes[i]; i++) {
		size_t n = strlen(prefixes[i]);

		if (len >= n && memcmp(name, prefixes[i], n) == 0)
			return true;
	}
	for (i = 0; suffixes[i]; i++) {
		size_t n = strlen(suffixes[i]);

		if (len >= n && memcmp(name + len - n, suffixes[i], n) == 0)
			return true;
	}
	return len == 13 && memcmp(name, "NOTIFY_SOCKET", 13) == 0;
}

/* Out of memory: the variable is unset all the same; hiding is what protects the measurement. */
static void environment_keep(const char *pair, size_t *kept)
{
	char **more = realloc(environment_removed, (*kept + 2) * sizeof(*more));

	if (!more)
		return;
	environment_removed = more;
	more[*kept] = strdup(pair);
	if (more[*kept])
		more[++*kept] = NULL;
}

void bk_options_read_environment(void)
{
	size_t kept = 0, i = 0;

	while (environment_removed && environment_removed[kept])
		kept++;
	while (environ && environ[i]) {
		size_t len = strcspn(environ[i], "=");
		char *name;

		if (!environment_is_hidden(environ[i], len)) {
			i++;
			continue;
		}
		environment_keep(environ[i], &kept);
		name = strndup(environ[i], len);
		if (!name || unsetenv(name) != 0)
			i++;
		free(name);
	}
}

const char *bk_options_environment(const char *name)
{
	size_t len = strlen(name), i;

	for (i = 0; environment_removed && environment_removed[i]; i++) {
		if (strncmp(environment_removed[i], name, len) == 0 &&
		    environment_removed[i][len] == '=')
			return environment_removed[i] + len + 1;
	}
	return getenv(name);
}

char *const *bk_options_environment_removed(void)
{
	static char *const none[] = {NULL};

	return environment_removed ? environment_removed : none;
}
