/*
 * fs.h - folders and files, with errors that name the path and the cause.
 *
 * The one invariant: removing a tree never follows a symbolic link and never leaves the tree.
 */
#ifndef BK_UTIL_FS_H
#define BK_UTIL_FS_H

#include <bakeoff/backend.h>

#include <stdbool.h>

/* The status that fits an errno: ENOSPC and EDQUOT NO_SPACE, EACCES and EPERM AUTH, ENOENT
 * NOT_FOUND, ENOMEM NOMEM, else IO. */
bk_status bk_fs_status(int errnum);

/* The folder and its missing parents; fine when it is there.  The umask counts for others only. */
bk_status bk_fs_mkdirs(const char *path, uint32_t mode, struct bk_error *err);

/* The whole file, NUL-terminated, at most `max` bytes (TOO_LARGE).  *out is the caller's to free;
 * len may be NULL.  Only regular files: a pipe would wait. */
bk_status bk_fs_read(char **out, size_t *len, const char *path, size_t max, struct bk_error *err);

/* All of it to an open file; false: errno says why. */
bool bk_fs_write_all(int fd, const char *data, size_t len);

/* A file or folder and everything beneath it.  Symbolic links are removed, not followed, and a
 * mount point is refused.  Fine when nothing is there. */
bk_status bk_fs_remove_tree(const char *path, struct bk_error *err);
/* The same of what is in an open folder: no link on the way there is followed either. */
bk_status bk_fs_remove_in(int folder, const char *name, struct bk_error *err);

/* "a/b" of "a" and "b", the caller's to free; `name` alone when it is absolute.  NULL: no memory */
char *bk_fs_join(const char *folder, const char *name);

/* The folder that holds the running program, the caller's to free; NULL when it is not known. */
char *bk_fs_program_folder(void);

bool bk_fs_is_folder(const char *path);

#endif
