/*
 * key.c - a binary's key and the key of its object.
 *
 * The one invariant: a key stands in the bucket as it is, behind the store's prefix.  Only those
 * that begin as the mark does are moved aside, behind ".bakeoff/", so that none of them is the
 * mark.
 */
#include "s3.h"

#define KEY_ASIDE OWN_MARK "/"

/* The same for every space of a bucket. */
size_t s3_key_most(const struct s3_config *config)
{
	return S3_KEY_MAX - strlen(config->at.root) - (S3_SPACE_MAX + 1) - strlen(KEY_ASIDE);
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

bk_status s3_key_check(const struct s3_config *config, struct bk_slice key, struct bk_error *err)
{
	if (key.len == 0)
		return bk_fail(err, BK_INVALID, 0, "s3: the key is empty");
	if (key.len > s3_key_most(config))
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "s3: a key of %zu bytes; with its prefix it may have %zu", key.len,
			       s3_key_most(config));
	if (!key_is_text(key.data, key.len))
		return bk_fail(err, BK_INVALID, 0, "s3: the key is not UTF-8, or holds a NUL");
	return BK_OK;
}

bk_status s3_key_full(struct s3_buf *out, const struct s3_config *config, struct bk_slice key,
		      struct bk_error *err)
{
	bk_status st = s3_key_check(config, key, err);
	size_t mark = strlen(OWN_MARK);

	if (st != BK_OK)
		return st;
	s3_buf_reset(out);
	s3_buf_puts(out, config->at.space);
	if (key.len >= mark && memcmp(key.data, OWN_MARK, mark) == 0)
		s3_buf_puts(out, KEY_ASIDE);
	s3_buf_put(out, key.data, key.len);
	return out->failed ? bk_fail(err, BK_NOMEM, 0, "s3: out of memory") : BK_OK;
}

struct bk_slice s3_key_own(const struct s3_config *config, struct bk_slice full)
{
	size_t prefix = strlen(config->at.space), aside = strlen(KEY_ASIDE);
	const char *p = (const char *)full.data + prefix;
	size_t len = full.len > prefix ? full.len - prefix : 0;

	if (len == strlen(OWN_MARK) && memcmp(p, OWN_MARK, len) == 0)
		return bk_slice_of(NULL, 0);
	if (len > aside && memcmp(p, KEY_ASIDE, aside) == 0)
		return bk_slice_of(p + aside, len - aside);
	return bk_slice_of(p, len);
}
