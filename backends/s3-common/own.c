/*
 * own.c - see own.h.
 */
#include "own.h"

#include <time.h>

#define OWN_MADE  "made-bucket"
#define OWN_CLAIM "-claim"

static bk_status own_no_memory(const struct own_doors *d, struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "%s: out of memory", d->backend);
}

/* "PREFIX/.bakeoff", the caller's to free. */
static char *own_key(const char *prefix)
{
	struct s3_buf key = {0};

	s3_buf_putf(&key, "%s" OWN_MARK, prefix);
	if (key.failed)
		s3_buf_free(&key);
	return key.data;
}

static bk_status own_read(const struct own_doors *d, enum own_found *found, struct s3_buf *text,
			  const char *prefix, struct bk_error *err)
{
	char *key = own_key(prefix);
	bk_status st = key ? d->read(d->ctx, found, text, key, err) : own_no_memory(d, err);

	free(key);
	return st;
}

static bk_status own_write(const struct own_doors *d, const char *prefix, const char *last_line,
			   struct bk_error *err)
{
	char *key = own_key(prefix);
	struct s3_buf text = {0};
	bk_status st;

	s3_buf_putf(&text, "%s\n%s\n%s", d->mark, d->backend, last_line);
	st = key && !text.failed ? d->write(d->ctx, key, text.data, err) : own_no_memory(d, err);
	s3_buf_free(&text);
	free(key);
	return st;
}

static bk_status own_remove(const struct own_doors *d, const char *prefix, struct bk_error *err)
{
	char *key = own_key(prefix);
	bk_status st = key ? d->remove(d->ctx, key, err) : own_no_memory(d, err);

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

bool own_judge(char why[300], const struct own_doors *d, const char *text)
{
	size_t len = strcspn(text, "\n"), kind_len;
	const char *kind = text[len] ? text + len + 1 : "";

	kind_len = strcspn(kind, "\n");
	if (len != strlen(d->mark) || memcmp(text, d->mark, len) != 0) {
		snprintf(why, 300, "it bears the mark '%.*s', not '%.80s'",
			 len > 80 ? 80 : (int)len, text, d->mark);
		return false;
	}
	/* The backends keep their keys differently. */
	if (kind_len &&
	    (kind_len != strlen(d->backend) || memcmp(kind, d->backend, kind_len) != 0)) {
		snprintf(why, 300, "its mark names the backend '%.*s'",
			 kind_len > 40 ? 40 : (int)kind_len, kind);
		return false;
	}
	return true;
}

static bk_status own_look_below(struct own_look *out, const struct own_doors *d,
				struct bk_error *err)
{
	struct s3_buf key = {0};
	size_t count = 0;
	bk_status st = d->first(d->ctx, &count, &key, d->bucket, d->space, 1, err);

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
	bk_status st = own_read(d, &found, &text, d->root, err);

	if (st != BK_OK || found == OWN_THERE || (d->is_place && d->is_place(d->ctx, d->bucket)))
		goto done;
	if (own_is_claimed(d, d->bucket)) {
		s3_buf_reset(&text);
		st = d->first(d->ctx, &count, &text, d->bucket, "", 1, err);
		out->half_made = st == BK_OK && count == 0;
		if (st != BK_OK || out->half_made)
			goto done;
	}
	out->owner = OWN_FOREIGN;
	snprintf(out->why, sizeof(out->why),
		 "the bucket exists and bakeoff has not made it; to lend it, put an object "
		 "'%.80s" OWN_MARK "' in it",
		 d->root);
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
	st = own_read(d, &found, &text, d->space, err);
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
		       d->backend, what, d->space, d->bucket, look->why);
}

/* ---- Making and unmaking ----------------------------------------------------------------------
 */

static bk_status own_adopt(const struct own_doors *d, struct bk_error *err)
{
	bk_status st = own_write(d, d->root, OWN_MADE "\n", err);

	if (st == BK_OK)
		own_unclaim(d, d->bucket);
	return st;
}

static bk_status own_make_bucket(const struct own_doors *d, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bool refused = false;
	bk_status st = own_claim(d, d->bucket, err);

	if (st != BK_OK)
		return st;
	st = d->bucket_make(d->ctx, &refused, d->bucket, &here);
	if (st == BK_OK && refused)
		st = bk_fail(&here, BK_FOREIGN, 0,
			     "%s: cannot create the bucket '%s': the name is another's, or these "
			     "keys may not create any; choose another name",
			     d->backend, d->bucket);
	if (st == BK_OK)
		return own_adopt(d, err);
	own_unclaim(d, d->bucket);
	s3_error_pass(err, &here);
	return st;
}

bk_status own_make(const struct own_doors *d, const struct own_look *look, struct bk_error *err)
{
	bk_status st = BK_OK;

	if (look->owner == OWN_FOREIGN)
		return own_foreign(d, "make", look, err);
	if (look->owner == OWN_OURS)
		return BK_OK;
	if (look->owner == OWN_ABSENT)
		st = own_make_bucket(d, err);
	else if (look->half_made)
		st = own_adopt(d, err);
	return st == BK_OK ? own_write(d, d->space, "", err) : st;
}

/* Nothing but the bucket's own mark is in it. */
static bk_status own_is_bare(bool *out, const struct own_doors *d, struct bk_error *err)
{
	char *mark = own_key(d->root);
	struct s3_buf key = {0};
	size_t count = 0;
	bk_status st = mark ? d->first(d->ctx, &count, &key, d->bucket, "", 2, err)
			    : own_no_memory(d, err);

	if (st == BK_OK)
		*out = count == 1 && strcmp(s3_buf_str(&key), mark) == 0;
	s3_buf_free(&key);
	free(mark);
	return st;
}

static bk_status own_remove_bucket(const struct own_doors *d, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = own_claim(d, d->bucket, err);

	if (st == BK_OK)
		st = own_remove(d, d->root, err);
	if (st != BK_OK)
		return st;
	if (d->bucket_remove(d->ctx, d->bucket, &here) !=
	    BK_OK) /* somebody was quicker to use it */
		st = own_write(d, d->root, OWN_MADE "\n", err);
	own_unclaim(d, d->bucket);
	return st;
}

/* Only a claim is left of a make() that was cut short.  Whoever was killed may have sent the
 * request for the bucket, and the server may still be at it: without the claim that bucket would be
 * a stranger's.  So it gets a moment, and then the bucket is made, in order to be removed. */
static bk_status own_end_claim(const struct own_doors *d, struct bk_error *err)
{
	struct timespec moment = {0, 200000000};
	bool refused = false;
	bk_status st;

	nanosleep(&moment, NULL);
	st = d->bucket_make(d->ctx, &refused, d->bucket, err);
	if (st == BK_OK && !refused)
		st = d->bucket_remove(d->ctx, d->bucket, err);
	if (st == BK_OK)
		own_unclaim(d, d->bucket);
	return st;
}

static bk_status own_end_half(const struct own_doors *d, struct bk_error *err)
{
	bk_status st = d->bucket_remove(d->ctx, d->bucket, err);

	if (st == BK_OK)
		own_unclaim(d, d->bucket);
	return st;
}

bk_status own_unmake(const struct own_doors *d, const struct own_look *look, struct bk_error *err)
{
	enum own_found found = OWN_NO_OBJECT;
	struct s3_buf text = {0};
	bool bare = false;
	bk_status st;

	if (look->owner == OWN_ABSENT)
		return own_is_claimed(d, d->bucket) ? own_end_claim(d, err) : BK_OK;
	if (look->half_made)
		return own_end_half(d, err);
	st = own_read(d, &found, &text, d->root, err);
	if (st == BK_OK && found == OWN_THERE && strstr(s3_buf_str(&text), "\n" OWN_MADE "\n")) {
		st = own_is_bare(&bare, d, err);
		if (st == BK_OK && bare)
			st = own_remove_bucket(d, err);
	}
	s3_buf_free(&text);
	return st;
}
