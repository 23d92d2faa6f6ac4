/*
 * io.h - system calls as this backend wants them: whole transfers, error texts that name the
 * path and the remedy, folders made, synced and removed.
 *
 * The one invariant: nothing here follows a symbolic link below the store's folder.
 */
#ifndef BK_FILE_IO_H
#define BK_FILE_IO_H

#include <bakeoff/backend_util.h>

#include <stdbool.h>
#include <sys/types.h>

/* Fill *err from an errno: "cannot WHAT 'FOLDER/NAME': reason; remedy".  `name` may be NULL.
 * Returns the status that the errno stands for. */
bk_status file_fail(struct bk_error *err, int errnum, const char *what, const char *folder,
		    const char *name);

/* All of it or an errno: 0 or -1. */
int file_write_all(int fd, const void *data, size_t len);
int file_pwrite_all(int fd, const void *data, size_t len, uint64_t offset);
/* Up to cap bytes; less only at the end of the file.  -1: errno. */
ssize_t file_read_full(int fd, void *buf, size_t cap);

/* Make every folder above the last part of `path`, which lies below dirfd.  *made: how many are
 * new.  0 or -1. */
int file_make_parents(int dirfd, const char *path, unsigned *made);
int file_sync_folder(int dirfd, const char *path);

/* The first entry of a folder that `known` does not accept, in name (NULL known: any entry).
 * 1 found, 0 none, -1 errno. */
int file_first_entry(int dirfd, const char *path, bool (*known)(const char *name), char *name,
		     size_t cap);

/* Remove what is in folder `path` and, when `self`, the folder too.  An absent folder is fine.
 * 0, or -1 with the path that resisted in `failed`. */
int file_remove_tree(int dirfd, const char *path, bool self, char *failed, size_t cap);

/* rename(2) that never replaces: EEXIST. */
int file_rename_new(int dirfd, const char *from, const char *to);

#endif
