/*
 * mount.c - which file system a folder is on; see mount.h.
 *
 * The one invariant: what cannot be found out is answered with the more careful of two answers.
 */
#include "mount.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The mount that a path lies on: the longest mount point above it, the last of equals. */
bool file_mount_find(struct file_mount *out, const char *path)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t cap = 0, best = 0;
	bool found = false;

	while (f && getline(&line, &cap, f) > 0) {
		struct file_mount m;
		const char *dash = strstr(line, " - ");

		if (!dash || sscanf(line, "%*d %*d %*s %*s %511s %255s", m.point, m.options) != 2 ||
		    sscanf(dash, " - %63s %255s %511s", m.type, m.source, m.super) != 3)
			continue;
		size_t len = strlen(m.point);
		bool above = strncmp(path, m.point, len) == 0 &&
			     (len == 1 || path[len] == '/' || path[len] == '\0');
		if (above && len >= best) {
			best = len;
			*out = m;
			found = true;
		}
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

bool file_mount_has(const char *options, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = options; (p = strstr(p, word)); p += len) {
		if ((p == options || p[-1] == ',') && (p[len] == ',' || p[len] == '\0'))
			return true;
	}
	return false;
}

/* The kernel lists the journals in use; an ext4 without one is not among them. */
bool file_mount_lacks_journal(const struct file_mount *m)
{
	const char *base = strrchr(m->source, '/');
	DIR *dir;
	struct dirent *e;
	bool found = false;

	if (strcmp(m->type, "ext2") == 0)
		return true;
	if ((strcmp(m->type, "ext4") != 0 && strcmp(m->type, "ext3") != 0) || !base)
		return false;
	dir = opendir("/proc/fs/jbd2");
	if (!dir)
		return false;
	base++;
	while ((e = readdir(dir)))
		found |= strncmp(e->d_name, base, strlen(base)) == 0 &&
			 e->d_name[strlen(base)] == '-';
	closedir(dir);
	return !found;
}

/* ext3 and ext4: a folder's sync commits the journal up to now, or, without one, its new parents
 * too.  xfs: the log is forced up to the folder's last change, in order.  btrfs logs new ancestors;
 * f2fs writes a checkpoint.  The ext2 of old does none of it. */
bool file_mount_syncs_above(const char *folder)
{
	static const char *const types[] = {"ext3", "ext4", "xfs", "btrfs", "f2fs", NULL};
	char *real = realpath(folder, NULL);
	struct file_mount m;
	bool found = real && file_mount_find(&m, real);

	free(real);
	for (size_t i = 0; found && types[i]; i++) {
		if (strcmp(m.type, types[i]) == 0)
			return true;
	}
	return false;
}
