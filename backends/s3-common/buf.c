/*
 * buf.c - see buf.h.
 */
#include "buf.h"

bool s3_buf_reserve(struct s3_buf *buf, size_t more)
{
	size_t cap = buf->cap ? buf->cap : 256;
	char *bigger;

	if (buf->failed)
		return false;
	if (more < buf->cap - buf->len)
		return true;
	while (cap <= buf->len + more)
		cap *= 2;
	bigger = realloc(buf->data, cap);
	if (!bigger) {
		buf->failed = true;
		return false;
	}
	buf->data = bigger;
	buf->cap = cap;
	return true;
}

void s3_buf_put(struct s3_buf *buf, const void *data, size_t len)
{
	if (!s3_buf_reserve(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void s3_buf_puts(struct s3_buf *buf, const char *text)
{
	s3_buf_put(buf, text, strlen(text));
}

void s3_buf_putf(struct s3_buf *buf, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0 && s3_buf_reserve(buf, (size_t)n)) {
		vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, again);
		buf->len += (size_t)n;
	}
	va_end(again);
}

static bool buf_is_plain(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.' || c == '~';
}

void s3_buf_put_encoded(struct s3_buf *buf, struct bk_slice text, bool slash)
{
	static const char hex[] = "0123456789ABCDEF";
	const unsigned char *p = text.data;
	size_t i;
	char *to;

	if (!s3_buf_reserve(buf, text.len * 3))
		return;
	to = buf->data + buf->len;
	for (i = 0; i < text.len; i++) {
		if (buf_is_plain(p[i]) || (slash && p[i] == '/')) {
			*to++ = (char)p[i];
			continue;
		}
		*to++ = '%';
		*to++ = hex[p[i] >> 4];
		*to++ = hex[p[i] & 15];
	}
	*to = '\0';
	buf->len = (size_t)(to - buf->data);
}

bool s3_buf_put_xml(struct s3_buf *buf, struct bk_slice text)
{
	const unsigned char *p = text.data;
	bool fits = true;
	size_t i;

	for (i = 0; i < text.len; i++) {
		switch (p[i]) {
		case '&':
			s3_buf_puts(buf, "&amp;");
			break;
		case '<':
			s3_buf_puts(buf, "&lt;");
			break;
		case '>':
			s3_buf_puts(buf, "&gt;");
			break;
		case '\t':
		case '\n':
		case '\r': /* as they stand, they would be made blanks */
			s3_buf_putf(buf, "&#%d;", p[i]);
			break;
		default:
			fits = fits && p[i] >= 0x20;
			s3_buf_put(buf, &p[i], 1);
		}
	}
	/* U+FFFE and U+FFFF */
	for (i = 0; fits && i + 2 < text.len; i++)
		fits = !(p[i] == 0xef && p[i + 1] == 0xbf && p[i + 2] >= 0xbe);
	return fits;
}
