/*
 * binary.h - the doors between the files that move binaries.
 */
#ifndef BK_PG_BINARY_H
#define BK_PG_BINARY_H

#include "pg.h"

#define PG_BINARY_IDS  256 /* numbers that one draw from the sequence yields (schema.c) */
#define PG_READ_CHUNKS 4   /* rows that are fetched at once */

bk_status pg_binary_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			       uint64_t size_bytes, uint32_t mode, struct bk_error *err);
bk_status pg_binary_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err);
bk_status pg_binary_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err);
void pg_binary_abort(struct bk_writer *w);
bk_status pg_binary_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			      uint64_t offset, uint64_t len, struct bk_binary_info *info,
			      struct bk_error *err);
bk_status pg_binary_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
			 struct bk_error *err);
void pg_binary_read_close(struct bk_reader *r);

#endif
