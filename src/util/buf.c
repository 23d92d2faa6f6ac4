/*
 * buf.c - a string that grows: doubling, always NUL-terminated.
 */
#include "util/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool buf_reserve(struct bk_buf *buf, size_t more)
{
	size_t cap = buf->cap ? buf->cap : 64;
	char *data;

	if (buf->failed)
		return false;
	while (cap - buf->len <= more) {
		if (cap > (size_t)-1 / 2)
			goto failed;
		cap *= 2;
	}
	if (cap == buf->cap)
		return true;
	data = realloc(buf->data, cap);
	if (!data)
		goto failed;
	if (!buf->data)
		data[0] = '\0';
	buf->data = data;
	buf->cap = cap;
	return true;
failed:
	buf->failed = true;
	return false;
}

void bk_buf_put(struct bk_buf *buf, const void *data, size_t len)
{
	if (!buf_reserve(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void bk_buf_puts(struct bk_buf *buf, const char *text)
{
	bk_buf_put(buf, text, strlen(text));
}

void bk_buf_vputf(struct bk_buf *buf, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) {
		buf->failed = true;
		return;
	}
	if (!buf_reserve(buf, (size_t)n))
		return;
	vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, ap);
	buf->len += (size_t)n;
}

void bk_buf_putf(struct bk_buf *buf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	bk_buf_vputf(buf, fmt, ap);
	va_end(ap);
}

/* One line without its end, wrapped. */
static void buf_put_line(struct bk_buf *buf, const char *text, size_t len, size_t indent,
			 size_t width)
{
	size_t room = width > indent + 20 ? width - indent : 20;

	while (len > 0) {
		size_t take = len;

		if (len > room && text[0] != ' ') {
			for (take = room; take > 0 && text[take] != ' '; take--)
				;
			if (take == 0)
				for (take = room; take < len && text[take] != ' '; take++)
					;
		}
		bk_buf_putf(buf, "%*s%.*s\n", (int)indent, "", (int)take, text);
		text += take;
		len -= take;
		while (len > 0 && *text == ' ') {
			text++;
			len--;
		}
	}
}

void bk_buf_put_wrapped(struct bk_buf *buf, const char *text, size_t indent, size_t width)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len == 0)
			bk_buf_put(buf, "\n", 1);
		else
			buf_put_line(buf, text, len, indent, width);
		text += len;
		if (*text == '\n')
			text++;
	}
}

void bk_buf_reset(struct bk_buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

void bk_buf_free(struct bk_buf *buf)
{
	if (!buf)
		return;
	free(buf->data);
	*buf = (struct bk_buf)BK_BUF_INIT;
}

const char *bk_buf_str(const struct bk_buf *buf)
{
	return buf->data ? buf->data : "";
}

char *bk_buf_steal(struct bk_buf *buf)
{
	char *data;

	bk_buf_put(buf, "", 0); /* an empty string is a string */
	if (buf->failed) {
		bk_buf_free(buf);
		return NULL;
	}
	data = buf->data;
	*buf = (struct bk_buf)BK_BUF_INIT;
	return data;
}
