/*
 * bytes.h - a binary's bytes on their way between the caller and the transport, and its key.
 *
 * The one invariant: bytes go on in order and once; what comes before anybody asked for it waits in
 * the spill.
 */
#ifndef BK_S3_BYTES_H
#define BK_S3_BYTES_H

#include "site.h"

#define S3_KEY_MAX 1024u

/* What any key must be: not empty, no longer than `most`, UTF-8 without a NUL. */
bk_status s3_key_check(const struct s3_site *site, struct bk_slice key, size_t most,
		       struct bk_error *err);

/* ---- Read ---------------------------------------------------------------------------------- */

struct s3_intake {         /* starts as all zero */
	unsigned char *to; /* the caller's, during read() */
	size_t room, got;
	struct s3_buf spill; /* what came and did not fit */
	size_t spill_at;
};

void s3_intake_empty(struct s3_intake *in);
void s3_intake_aim(struct s3_intake *in, void *buf, size_t cap); /* cap 0: nowhere */
/* false, and nothing is taken: over `most` bytes would wait; or no memory (spill.failed). */
bool s3_intake_take(struct s3_intake *in, const void *data, size_t len, size_t most);
/* Of what is there for `buf`, at which it was aimed, or from the spill. */
size_t s3_intake_give(struct s3_intake *in, void *buf, size_t cap);

static inline bool s3_intake_waits(const struct s3_intake *in)
{
	return in->spill_at < in->spill.len;
}

/* ---- Written ------------------------------------------------------------------------------- */

struct s3_hold { /* starts as all zero */
	unsigned char *data;
	size_t len, cap;
};

/* `trusted`: a declared size up to it is reserved at once; `most`: it never holds more. */
bool s3_hold_put(struct s3_hold *hold, const void *data, size_t len, uint64_t declared_bytes,
		 uint64_t trusted, uint64_t most);

/* Is this an order that write_open can take? */
bk_status s3_put_check(const struct s3_site *site, bool open, uint32_t mode, uint64_t size_bytes,
		       uint64_t most, struct bk_error *err);
/* Were as many bytes written as declared? */
bk_status s3_put_whole(const struct s3_site *site, uint64_t declared_bytes, uint64_t written_bytes,
		       struct bk_error *err);

#endif
