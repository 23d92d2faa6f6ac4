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
	return (S3_KEY_MAX - strlen(store->site.at.root) - (S3_SPACE_MAX + 1)) / 3;
}

static bool key_is_plain(const unsigned char *p, size_t i)
{
	unsigned char c = p[i];

	if (c == '.')
		return i > 0 && p[i - 1] != '/';
	return c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '/';
}

bk_status l3_key_full(struct s3_buf *out, const struct bk_store *store, struct bk_slice key,
		      struct bk_error *err)
{
	bk_status st = s3_key_check(&store->site, key, l3_key_most(store), err);
	const unsigned char *p = key.data;
	size_t i;

	if (st != BK_OK)
		return st;
	s3_buf_reset(out);
	s3_buf_puts(out, store->site.at.space);
	for (i = 0; i < key.len; i++) {
		if (key_is_plain(p, i))
			s3_buf_put(out, &p[i], 1);
		else
			s3_buf_putf(out, "=%02X", p[i]);
	}
	return out->failed ? s3_no_memory(&store->site, err) : BK_OK;
}

size_t l3_key_own(struct s3_buf *out, const struct s3_site *site, struct bk_slice full)
{
	size_t prefix = strlen(site->at.space), before = out->len, i;
	const char *p = full.data;
	unsigned code;
	char c;

	if (full.len <= prefix ||
	    bk_slice_eq(bk_slice_of(p + prefix, full.len - prefix), bk_slice_str(OWN_MARK)))
		return 0;
	for (i = prefix; i < full.len; i++) {
		c = p[i];
		if (c == '=' && full.len - i > 2 && sscanf(p + i + 1, "%2X", &code) == 1) {
			c = (char)code;
			i += 2;
		}
		s3_buf_put(out, &c, 1);
	}
	return out->len - before;
}
