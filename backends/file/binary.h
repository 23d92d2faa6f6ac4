/*
 * binary.h - the operations on binaries.
 *
 * The one invariant: a binary has its name only once it is whole.
 */
#ifndef BK_FILE_BINARY_H
#define BK_FILE_BINARY_H

#include "file.h"
#include "key.h"

bk_status file_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			  uint64_t size_bytes, uint32_t mode, struct bk_error *err);
bk_status file_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err);
bk_status file_write_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err);
void file_write_abort(struct bk_writer *w);

bk_status file_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err);
bk_status file_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			 size_t cap, size_t *n, struct bk_error *err);
void file_list_close(struct bk_cursor *c);

#endif
