/*
 * life.c - a store's life, whatever carries the requests: made, emptied, unmade.
 *
 * The one invariant: every destructive step is preceded by a look at the mark.
 */
#include "own.h"

#include <time.h>

#define LIF_MADE "made-bucket"

static bk_status lif_write(const struct own_doors *d, const char *prefix, const char *last_line,
			   struct bk_error *err)
{
	char *key = own_mark_key(prefix);
	struct s3_buf text = {0};
	bk_status st;

	s3_buf_putf(&text, "%s\n%s\n%s", d->site->mark, d->site->backend, last_line);
	st = key && !text.failed ? d->write(d->ctx, key, text.data, err)
				 : s3_no_memory(d->site, err);
	s3_buf_free(&text);
	free(key);
	return st;
}

static bk_status lif_remove(const struct own_doors *d, const char *prefix, struct bk_error *err)
{
	char *key = own_mark_key(prefix);
	bk_status st = key ? d->remove(d->ctx, key, err) : s3_no_memory(d->site, err);

	free(key);
	return st;
}

/* ---- Making ------------------------------------------------------------------------------- */

static bk_status lif_adopt(const struct own_doors *d, struct bk_error *err)
{
	bk_status st = lif_write(d, d->site->at.root, LIF_MADE "\n", err);

	if (st == BK_OK)
		own_unclaim(d, d->site->at.bucket);
	return st;
}

static bk_status lif_make_bucket(const struct own_doors *d, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bool refused = false;
	bk_status st = own_claim(d, d->site->at.bucket, err);

	if (st != BK_OK)
		return st;
	st = d->bucket_make(d->ctx, &refused, d->site->at.bucket, &here);
	if (st == BK_OK && refused)
		st = bk_fail(&here, BK_FOREIGN, 0,
			     "%s: cannot create the bucket '%s': the name is another's, or these "
			     "keys may not create any; choose another name",
			     d->site->backend, d->site->at.bucket);
	if (st == BK_OK)
		return lif_adopt(d, err);
	own_unclaim_failed(d, d->site->at.bucket, &here);
	s3_error_pass(err, &here);
	return st;
}

static bk_status lif_make_found(const struct own_doors *d, const struct own_look *look,
				struct bk_error *err)
{
	bk_status st = BK_OK;

	if (look->owner == OWN_FOREIGN)
		return own_foreign(d, "make", look, err);
	if (look->owner == OWN_OURS)
		return BK_OK;
	if (look->owner == OWN_ABSENT)
		st = lif_make_bucket(d, err);
	else if (look->half_made)
		st = lif_adopt(d, err);
	return st == BK_OK ? lif_write(d, d->site->at.space, "", err) : st;
}

static bk_status lif_make_once(const struct own_doors *d, struct bk_error *err)
{
	struct own_look look;
	bk_status st = own_look(&look, d, err);

	if (st == BK_OK)
		st = lif_make_found(d, &look, err);
	return st == BK_OK && d->settle ? d->settle(d->ctx, err) : st;
}

/* What others did in between is looked at anew, a few times. */
static bk_status lif_again(const struct own_doors *d,
			   bk_status (*once)(const struct own_doors *d, struct bk_error *err),
			   bk_status meanwhile, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = BK_OK;
	int tries;

	for (tries = 0; tries < 3; tries++) {
		st = once(d, &here);
		if (st != BK_NOT_FOUND && st != meanwhile)
			break;
	}
	if (st != BK_OK)
		s3_error_pass(err, &here);
	return st;
}

/* Another store's unmake() may take the bucket away in between. */
bk_status own_make(const struct own_doors *d, struct bk_error *err)
{
	return lif_again(d, lif_make_once, BK_NOT_FOUND, err);
}

/* ---- Clearing and unmaking ----------------------------------------------------------------- */

bk_status own_clear(const struct own_doors *d, struct bk_error *err)
{
	const struct s3_endpoint *at = &d->site->at;
	struct own_look look;
	char *mark;
	bk_status st = own_look(&look, d, err);

	if (st != BK_OK)
		return st;
	if (look.owner == OWN_FOREIGN)
		return own_foreign(d, "clear", &look, err);
	if (look.owner != OWN_OURS)
		return bk_fail(err, BK_NOT_FOUND, 0,
			       "%s: clear: the store '%s' in bucket '%s' has not been made",
			       d->site->backend, at->space, at->bucket);
	mark = own_mark_key(at->space);
	st = mark ? d->purge(d->ctx, mark, err) : s3_no_memory(d->site, err);
	free(mark);
	return st;
}

/* Nothing but the bucket's own mark is in it. */
static bk_status lif_is_bare(bool *out, const struct own_doors *d, struct bk_error *err)
{
	char *mark = own_mark_key(d->site->at.root);
	struct s3_buf key = {0};
	size_t count = 0;
	bk_status st = mark ? own_first(&count, &key, d, d->site->at.bucket, "", 2, err)
			    : s3_no_memory(d->site, err);

	if (st == BK_OK)
		*out = count == 1 && strcmp(s3_buf_str(&key), mark) == 0;
	s3_buf_free(&key);
	free(mark);
	return st;
}

static bk_status lif_remove_bucket(const struct own_doors *d, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = own_claim(d, d->site->at.bucket, err);

	if (st == BK_OK)
		st = lif_remove(d, d->site->at.root, err);
	if (st != BK_OK)
		return st;
	if (d->bucket_remove(d->ctx, d->site->at.bucket, &here) !=
	    BK_OK) /* somebody was quicker to use it */
		st = lif_write(d, d->site->at.root, LIF_MADE "\n", err);
	own_unclaim(d, d->site->at.bucket);
	return st;
}

/* Only a claim is left of a make() that was cut short.  Whoever was killed may have sent the
 * request for the bucket, and the server may still be at it: without the claim that bucket would be
 * a stranger's.  So it gets a moment, and then the bucket is made, in order to be removed. */
static bk_status lif_end_claim(const struct own_doors *d, struct bk_error *err)
{
	struct timespec moment = {0, 200000000};
	bool refused = false;
	bk_status st;

	nanosleep(&moment, NULL);
	st = d->bucket_make(d->ctx, &refused, d->site->at.bucket, err);
	if (st == BK_OK && !refused)
		st = d->bucket_remove(d->ctx, d->site->at.bucket, err);
	if (st == BK_OK)
		own_unclaim(d, d->site->at.bucket);
	return st;
}

static bk_status lif_end_half(const struct own_doors *d, struct bk_error *err)
{
	bk_status st = d->bucket_remove(d->ctx, d->site->at.bucket, err);

	if (st == BK_OK)
		own_unclaim(d, d->site->at.bucket);
	return st;
}

static bk_status lif_unmake_found(const struct own_doors *d, const struct own_look *look,
				  struct bk_error *err)
{
	enum own_found found = OWN_NO_OBJECT;
	struct s3_buf text = {0};
	bool bare = false;
	bk_status st;

	if (look->owner == OWN_ABSENT)
		return own_is_claimed(d, d->site->at.bucket) ? lif_end_claim(d, err) : BK_OK;
	if (look->half_made)
		return lif_end_half(d, err);
	st = own_mark_read(d, "get", &found, &text, d->site->at.root, err);
	if (st == BK_OK && found == OWN_THERE && strstr(s3_buf_str(&text), "\n" LIF_MADE "\n")) {
		st = lif_is_bare(&bare, d, err);
		if (st == BK_OK && bare)
			st = lif_remove_bucket(d, err);
	}
	s3_buf_free(&text);
	return st;
}

/* All but the mark goes first, then the mark, then the bucket, if bakeoff has made it and nothing
 * but its mark is in it. */
static bk_status lif_unmake_once(const struct own_doors *d, struct bk_error *err)
{
	struct own_look look;
	bk_status st = own_look(&look, d, err);

	if (st == BK_OK && look.owner == OWN_FOREIGN)
		return own_foreign(d, "remove", &look, err);
	if (st == BK_OK && look.owner == OWN_OURS) {
		st = own_clear(d, err);
		if (st == BK_OK)
			st = d->purge(d->ctx, NULL, err);
	}
	return st == BK_OK ? lif_unmake_found(d, &look, err) : st;
}

/* Somebody who was killed may have a last request on its way: CONFLICT, the bucket is not empty. */
bk_status own_unmake(const struct own_doors *d, struct bk_error *err)
{
	return lif_again(d, lif_unmake_once, BK_CONFLICT, err);
}
