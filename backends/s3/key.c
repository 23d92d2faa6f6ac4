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
	return S3_KEY_MAX - strlen(config->site.at.root) - (S3_SPACE_MAX + 1) - strlen(KEY_ASIDE);
}

bk_status s3_key_full(struct s3_buf *out, const struct s3_config *config, struct bk_slice key,
		      struct bk_error *err)
{
	bk_status st = s3_key_check(&config->site, key, s3_key_most(config), err);
	size_t mark = strlen(OWN_MARK);

	if (st != BK_OK)
		return st;
	s3_buf_reset(out);
	s3_buf_puts(out, config->site.at.space);
	if (key.len >= mark && memcmp(key.data, OWN_MARK, mark) == 0)
		s3_buf_puts(out, KEY_ASIDE);
	s3_buf_put(out, key.data, key.len);
	return out->failed ? s3_no_memory(&config->site, err) : BK_OK;
}

size_t s3_key_own(struct s3_buf *out, const struct s3_site *site, struct bk_slice full)
{
	size_t prefix = strlen(site->at.space), aside = strlen(KEY_ASIDE);
	const char *p = (const char *)full.data + prefix;
	size_t len = full.len > prefix ? full.len - prefix : 0;

	if (len == strlen(OWN_MARK) && memcmp(p, OWN_MARK, len) == 0)
		return 0;
	if (len > aside && memcmp(p, KEY_ASIDE, aside) == 0) {
		p += aside;
		len -= aside;
	}
	s3_buf_put(out, p, len);
	return len;
}
