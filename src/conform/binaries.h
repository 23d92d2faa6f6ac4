/*
 * binaries.h - binaries as the cases write, read and compare them.
 *
 * The one invariant: as in nodes.h, a failing call that wrote to an out-parameter fails the case.
 */
#ifndef BK_CONFORM_BINARIES_H
#define BK_CONFORM_BINARIES_H

#include "conform/test.h"

/* Contents are `len` bytes that depend on `label` only. */
struct bk_content {
	uint64_t label;
	uint64_t len;
};

struct bk_writer *bk_t_write_open(struct bk_box *b, struct bk_at at, struct bk_slice key,
				  uint64_t size_bytes, uint32_t mode);
/* `len` bytes of the content from `from`, in chunks of at most `chunk`. */
void bk_t_write(struct bk_box *b, struct bk_at at, struct bk_writer *w, uint64_t label,
		uint64_t from, uint64_t len, size_t chunk);
/* finish(), which must answer `want`; closes the writer either way. */
void bk_t_finish(struct bk_box *b, struct bk_at at, struct bk_writer *w, bk_status want,
		 uint64_t size_bytes);
/* The whole of it. */
void bk_t_store(struct bk_box *b, struct bk_at at, struct bk_slice key, uint64_t label,
		uint64_t len, uint64_t declared, uint32_t mode, bk_status want);
/* Reads [offset, offset + len) with buffers of `cap` and compares; `total` is the whole size. */
void bk_t_read(struct bk_box *b, struct bk_at at, struct bk_slice key, uint64_t label,
	       uint64_t total, uint64_t offset, uint64_t len, size_t cap);
/* The store has exactly this: by stat and by reading. */
void bk_t_binary(struct bk_box *b, struct bk_at at, struct bk_slice key, uint64_t label,
		 uint64_t len);
void bk_t_no_binary(struct bk_box *b, struct bk_at at, struct bk_slice key);
void bk_t_binary_remove(struct bk_box *b, struct bk_at at, struct bk_slice key, bk_status want);
/* Every key and size exactly once, in pages of `cap`. */
void bk_t_list(struct bk_box *b, struct bk_at at, const struct bk_slice *keys,
	       const uint64_t *sizes, size_t n, size_t cap);
/* Bytes [from, from + len) of the content `label`, into `out`. */
void bk_content_fill(void *out, uint64_t label, uint64_t from, size_t len);

#define WRITE_OPEN(b, key, size, mode) bk_t_write_open(b, AT, key, size, mode)
#define WRITE(b, w, label, from, len)  bk_t_write(b, AT, w, label, from, len, 8191)
#define FINISH(b, w, want, size)       bk_t_finish(b, AT, w, want, size)
#define STORE(b, key, label, len)      bk_t_store(b, AT, key, label, len, len, BK_PUT_UPSERT, BK_OK)
#define BINARY(b, key, label, len)     bk_t_binary(b, AT, key, label, len)
#define NO_BINARY(b, key)              bk_t_no_binary(b, AT, key)

#endif
