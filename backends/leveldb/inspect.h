/*
 * inspect.h - the two halves of inspect(): the open database, and its files from outside.
 */
#ifndef LDB_INSPECT_H
#define LDB_INSPECT_H

#include "ldb.h"

/* offline.c */
void ldb_put_levels(const struct bk_sink *sink, const uint64_t *files, const uint64_t *bytes);
/* Files by kind and their bytes, from the folder. */
void ldb_put_files(const struct bk_store *store, const struct bk_sink *sink);
bk_status ldb_inspect_offline(const struct bk_store *store, uint32_t what,
			      const struct bk_sink *sink, struct bk_error *err);

#endif
