/*
 * buf.h - a string that grows.
 *
 * The one invariant: `data` is NUL-terminated or NULL (nothing put yet).  Running out of memory is
 * remembered in `failed`; later puts do nothing, so a writer checks once, at the end.
 */
#ifndef BK_UTIL_BUF_H
#define BK_UTIL_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct bk_buf {
	char *data;
	size_t len, cap;
	bool failed;
};

#define BK_BUF_INIT                                                                                \
	{                                                                                          \
		NULL, 0, 0, false                                                                  \
	}

void bk_buf_put(struct bk_buf *buf, const void *data, size_t len);
void bk_buf_puts(struct bk_buf *buf, const char *text);
void bk_buf_putf(struct bk_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bk_buf_vputf(struct bk_buf *buf, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Text wrapped at `width` columns, each line after `indent` spaces, line ends kept.  A paragraph
 * that starts with a space is laid out already and is only indented. */
void bk_buf_put_wrapped(struct bk_buf *buf, const char *text, size_t indent, size_t width);

void bk_buf_reset(struct bk_buf *buf); /* empty; keeps the memory */
void bk_buf_free(struct bk_buf *buf);

const char *bk_buf_str(const struct bk_buf *buf); /* never NULL */
/* The string, now the caller's to free; NULL after a failure.  The buffer is empty again. */
char *bk_buf_steal(struct bk_buf *buf);

#endif
