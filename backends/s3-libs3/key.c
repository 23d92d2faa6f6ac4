/*
 * key.c - a binary's key as a key that libs3 2.0 can carry.
 *
 * libs3 writes a blank as '+', libcurl removes "." and ".." from a path, and a listing is XML,
 * which cannot carry every byte.  So whatever is no letter, digit, '-', '_', '/', nor part of a
 * UTF-8 sequence stands as =XX, and so does a '.' at the beginning of a segment; '=' is =3D.
 *
 * The one invariant: no two keys become one, and none becomes the mark, which begins with a '.'.
 */
#include "l3.h"

size_t l3_key_most(const struct bk_store *store)
{
	return (L3_KEY_MAX - strlen(store->at.root) - (S3_SPACE_MAX + 1)) / 3;
}

static bool key_is_plain(const unsigned char *p, size_t i)
{
	unsigned char c = p[i];

	if (c == '.')
		return i > 0 && p[i - 1] != '/';
	return c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '/';
}

static bool key_is_text(const unsigned char *p, size_t len)
{
	char one[5];
	size_t n, most;

	while (len) {
		most = len < 4 ? len : 4;
		memcpy(one, p, most);
		one[most] = '\0';
		n = bk_utf8_len(one);
		if (n == 0 || n > len)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

bk_status l3_key_full(struct s3_buf *out, const struct bk_store *store, struct bk_slice key,
		      struct bk_error *err)
{
	const unsigned char *p = key.data;
	size_t i;

	if (key.len == 0)
		return bk_fail(err, BK_INVALID, 0, L3_NAME ": the key is empty");
	if (key.len > l3_key_most(store))
		return bk_fail(err, BK_TOO_LARGE, 0,
			       L3_NAME ": a key of %zu bytes; it may have %zu", key.len,
			       l3_key_most(store));
	if (!key_is_text(p, key.len))
		return bk_fail(err, BK_INVALID, 0,
			       L3_NAME ": the key is not UTF-8, or holds a NUL");
	s3_buf_reset(out);
	s3_buf_puts(out, store->at.space);
	for (i = 0; i < key.len; i++) {
		if (key_is_plain(p, i))
			s3_buf_put(out, &p[i], 1);
		else
			s3_buf_putf(out, "=%02X", p[i]);
	}
	return out->failed ? bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory") : BK_OK;
}

size_t l3_key_own(struct s3_buf *out, const struct bk_store *store, const char *full)
{
	const char *p = full + strlen(store->at.space);
	size_t before = out->len;
	unsigned code;
	char c;

	if (strlen(full) <= strlen(store->at.space) || strcmp(p, OWN_MARK) == 0)
		return 0;
	while (*p) {
		c = *p++;
		if (c == '=' && p[0] && p[1] && sscanf(p, "%2X", &code) == 1) {
			c = (char)code;
			p += 2;
		}
		s3_buf_put(out, &c, 1);
	}
	return out->len - before;
}
