/*
 * buf.h - bytes that grow: URLs, requests, answers.
 *
 * The one invariant: `data` is NUL-terminated once anything was put.  Running out of memory is
 * remembered in `failed`; whoever builds something asks once, at the end.
 */
#ifndef BK_S3_BUF_H
#define BK_S3_BUF_H

#include <bakeoff/backend_util.h>

#include <stdbool.h>
#include <stdlib.h>

struct s3_buf { /* starts as all zero */
	char *data;
	size_t len, cap;
	bool failed;
};

bool s3_buf_reserve(struct s3_buf *buf, size_t more);
void s3_buf_put(struct s3_buf *buf, const void *data, size_t len);
void s3_buf_puts(struct s3_buf *buf, const char *text);
BK_PRINTF(2, 3) void s3_buf_putf(struct s3_buf *buf, const char *fmt, ...);

/* Percent-encoded, upper-case: everything but A-Z a-z 0-9 - _ . ~ and, where `slash`, the '/'. */
void s3_buf_put_encoded(struct s3_buf *buf, struct bk_slice text, bool slash);
/* As the text of an XML element.  false: it has a byte that XML 1.0 cannot carry. */
bool s3_buf_put_xml(struct s3_buf *buf, struct bk_slice text);

static inline const char *s3_buf_str(const struct s3_buf *buf)
{
	return buf->data ? buf->data : "";
}

static inline void s3_buf_reset(struct s3_buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

static inline void s3_buf_free(struct s3_buf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}

/* An error met on the way becomes the call's: *err stays as it is until one is final. */
static inline void s3_error_pass(struct bk_error *err, const struct bk_error *from)
{
	uint32_t size = err->struct_size;

	*err = *from;
	err->struct_size = size;
}

#endif
