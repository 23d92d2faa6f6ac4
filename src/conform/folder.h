/*
 * folder.h - what is in a folder: to see that it did not change, or where a store lives in it.
 *
 * The one invariant: two pictures are equal exactly when every name, type, size and content is.
 */
#ifndef BK_CONFORM_FOLDER_H
#define BK_CONFORM_FOLDER_H

#include "conform/test.h"

/* One line an entry, sorted: type, size, digest of the content, path within the folder. */
const char *bk_folder_picture(struct bk_test *t, const char *folder);
size_t bk_folder_entries(struct bk_test *t, const char *folder); /* at its top level */
/* The names at its top level, each with a '/' before and after. */
const char *bk_folder_names(struct bk_test *t, const char *folder);
/* The one folder at its top level that is not among `names`; NULL: none or several. */
const char *bk_folder_new(struct bk_test *t, const char *folder, const char *names);
void bk_file_write(struct bk_test *t, const char *path, const char *text);
/* FAILs unless the file still says `text`. */
void bk_file_same(struct bk_test *t, struct bk_at at, const char *path, const char *text);
size_t bk_open_descriptors(void);

#endif
