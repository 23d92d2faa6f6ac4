/*
 * own.c - see own.h.
 */
#include "own.h"

#define OWN_CLAIM "-claim"

char *own_mark_key(const char *prefix)
{
	struct s3_buf key = {0};

	s3_buf_putf(&key, "%s" OWN_MARK, prefix);
	if (key.failed)
		s3_buf_free(&key);
	return key.data;
}

bk_status own_mark_read(const struct own_doors *d, const char *what, enum own_found *found,
			struct s3_buf *text, const char *prefix, struct bk_error *err)
{
	char *key = own_mark_key(prefix);
	bk_status st =
		key ? d->read(d->ctx, what, found, text, key, err) : s3_no_memory(d->site, err);

	free(key);
	return st;
}

/* ---- Claims -----------------------------------------------------------------------------------
 */

/* A name too long for the suffix loses its end to a hash (FNV-1a) of the whole. */
static void own_claim_name(char out[64], const char *bucket)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	const unsigned char *p;

	if (strlen(bucket) + strlen(OWN_CLAIM) <= 63) {
		snprintf(out, 64, "%s" OWN_CLAIM, bucket);
		return;
	}
	for (p = (const unsigned char *)bucket; *p; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	snprintf(out, 64, "%.40s-%012llx" OWN_CLAIM, bucket,
		 (unsigned long long)(hash & UINT64_C(0xffffffffffff)));
}

/* Whoever may make one bucket and no other works without a claim: then a make() that is cut short
 * leaves a bucket that is refused, and told so. */
bk_status own_claim(const struct own_doors *d, const char *bucket, struct bk_error *err)
{
	bool refused = false;
	char claim[64];

	own_claim_name(claim, bucket);
	return d->bucket_make(d->ctx, &refused, claim, err);
}

void own_unclaim(const struct own_doors *d, const char *bucket)
{
	struct bk_error ignored = bk_error_init();
	char claim[64];

	own_claim_name(claim, bucket);
	d->bucket_remove(d->ctx, claim, &ignored);
}

void own_unclaim_failed(const struct own_doors *d, const char *bucket, const struct bk_error *why)
{
	if (!(why->flags & BK_ERR_OUTCOME_UNKNOWN))
		own_unclaim(d, bucket);
}

bool own_is_claimed(const struct own_doors *d, const char *bucket)
{
	struct bk_error ignored = bk_error_init();
	bool there = false;
	char claim[64];

	own_claim_name(claim, bucket);
	return d->bucket_exists(d->ctx, &there, claim, &ignored) == BK_OK && there;
}

/* ---- Looking ----------------------------------------------------------------------------------
 */

static bool own_judge(char why[300], const struct own_doors *d, const char *text)
{
	size_t len = strcspn(text, "\n"), kind_len;
	const char *kind = text[len] ? text + len + 1 : "";

	kind_len = strcspn(kind, "\n");
	if (len != strlen(d->site->mark) || memcmp(text, d->site->mark, len) != 0) {
		snprintf(why, 300, "it bears the mark '%.*s', not '%.80s'",
			 len > 80 ? 80 : (int)len, text, d->site->mark);
		return false;
	}
	/* The backends keep their keys differently. */
	if (kind_len && (kind_len != strlen(d->site->backend) ||
			 memcmp(kind, d->site->backend, kind_len) != 0)) {
		snprintf(why, 300, "its mark names the backend '%.*s'",
			 kind_len > 40 ? 40 : (int)kind_len, kind);
		return false;
	}
	return true;
}

bk_status own_first(size_t *count, struct s3_buf *key, const struct own_doors *d,
		    const char *bucket, const char *prefix, unsigned most, struct bk_error *err)
{
	struct s3_page page = {.count = 0};
	bk_status st = d->page(d->ctx, &page, bucket, prefix, most, err);
	struct bk_slice first;

	if (st == BK_OK && page.count) {
		first = s3_page_key(&page, 0);
		s3_buf_put(key, first.data, first.len);
	}
	if (st == BK_OK)
		*count = page.count;
	s3_page_free(&page);
	return st;
}

static bk_status own_look_below(struct own_look *out, const struct own_doors *d,
				struct bk_error *err)
{
	struct s3_buf key = {0};
	size_t count = 0;
	bk_status st = own_first(&count, &key, d, d->site->at.bucket, d->site->at.space, 1, err);

	out->owner = OWN_FREE;
	if (st == BK_OK && count) {
		out->owner = OWN_FOREIGN;
		snprintf(out->why, sizeof(out->why), "it holds '%.160s' and no mark",
			 s3_buf_str(&key));
	}
	s3_buf_free(&key);
	return st;
}

/* May bakeoff live in this bucket?  Its mark, a place's tag or a claim says so. */
static bk_status own_look_bucket(struct own_look *out, const struct own_doors *d,
				 struct bk_error *err)
{
	enum own_found found = OWN_NO_OBJECT;
	struct s3_buf text = {0};
	size_t count = 0;
	bk_status st = own_mark_read(d, "get", &found, &text, d->site->at.root, err);

	if (st != BK_OK || found == OWN_THERE ||
	    (d->is_place && d->is_place(d->ctx, d->site->at.bucket)))
		goto done;
	if (own_is_claimed(d, d->site->at.bucket)) {
		s3_buf_reset(&text);
		st = own_first(&count, &text, d, d->site->at.bucket, "", 1, err);
		out->half_made = st == BK_OK && count == 0;
		if (st != BK_OK || out->half_made)
			goto done;
	}
	out->owner = OWN_FOREIGN;
	snprintf(out->why, sizeof(out->why),
		 "the bucket exists and bakeoff has not made it; to lend it, put an object "
		 "'%.80s" OWN_MARK "' in it",
		 d->site->at.root);
done:
	s3_buf_free(&text);
	return st;
}

bk_status own_look(struct own_look *out, const struct own_doors *d, struct bk_error *err)
{
	enum own_found found = OWN_NO_OBJECT;
	struct s3_buf text = {0};
	bk_status st;

	memset(out, 0, sizeof(*out));
	st = own_mark_read(d, "get", &found, &text, d->site->at.space, err);
	if (st == BK_OK && found == OWN_THERE) {
		out->owner = own_judge(out->why, d, s3_buf_str(&text)) ? OWN_OURS : OWN_FOREIGN;
	} else if (st == BK_OK && found == OWN_NO_BUCKET) {
		out->owner = OWN_ABSENT;
	} else if (st == BK_OK) {
		st = own_look_below(out, d, err);
		if (st == BK_OK && out->owner == OWN_FREE)
			st = own_look_bucket(out, d, err);
	}
	s3_buf_free(&text);
	return st;
}

bk_status own_foreign(const struct own_doors *d, const char *what, const struct own_look *look,
		      struct bk_error *err)
{
	return bk_fail(err, BK_FOREIGN, 0,
		       "%s: cannot %s '%s' in bucket '%s': it is not bakeoff's: %s; nothing was "
		       "touched",
		       d->site->backend, what, d->site->at.space, d->site->at.bucket, look->why);
}

bk_status own_session(const struct own_doors *d, struct bk_error *err)
{
	enum own_found found = OWN_NO_OBJECT;
	const struct s3_endpoint *at = &d->site->at;
	struct s3_buf text = {0};
	char why[300];
	bk_status st = own_mark_read(d, "open of a session", &found, &text, at->space, err);

	if (st == BK_OK && found != OWN_THERE)
		st = bk_fail(err, BK_NOT_FOUND, 404,
			     "%s: session: the store '%s' in bucket '%s' has not been made",
			     d->site->backend, at->space, at->bucket);
	else if (st == BK_OK && !own_judge(why, d, s3_buf_str(&text)))
		st = bk_fail(err, BK_FOREIGN, 0, "%s: session: '%s' in bucket '%s': %s",
			     d->site->backend, at->space, at->bucket, why);
	s3_buf_free(&text);
	return st;
}
