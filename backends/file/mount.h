/*
 * mount.h - which file system a folder is on, and what it promises.
 */
#ifndef BK_FILE_MOUNT_H
#define BK_FILE_MOUNT_H

#include <stdbool.h>

struct file_mount {
	char point[512], options[256], type[64], source[256], super[512];
};

/* The mount that an absolute path without links lies on. */
bool file_mount_find(struct file_mount *out, const char *path);
/* Is `word` one of a list with commas? */
bool file_mount_has(const char *options, const char *word);
bool file_mount_lacks_journal(const struct file_mount *m);

/* Does the sync of a new folder bring the folders above it to disk as well, as far as they are
 * new? */
bool file_mount_syncs_above(const char *folder);

#endif
