/*
 * own.c - see own.h.
 */
#include "own.h"
#include "list.h"

#define OWN_MADE "made-bucket"

static void own_key(struct s3_buf *out, const char *prefix)
{
	s3_buf_reset(out);
	s3_buf_puts(out, prefix);
	s3_buf_puts(out, S3_MARK);
}

/* The object's text; NOT_FOUND with answer.code "NoSuchBucket" or another. */
static bk_status own_read(struct s3_hand hand, const char *prefix, struct bk_error *err)
{
	struct s3_request r = {.what = "get", .method = "GET", .bucket = hand.link->config->bucket};
	struct s3_buf key = {0};
	bk_status st;

	own_key(&key, prefix);
	if (key.failed)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	r.key = bk_slice_of(key.data, key.len);
	st = s3_call(hand.t, hand.link, &r, err);
	s3_buf_free(&key);
	return st;
}

static bk_status own_write(struct s3_hand hand, const char *prefix, const char *last_line,
			   struct bk_error *err)
{
	struct s3_request r = {.what = "put",
			       .method = "PUT",
			       .bucket = hand.link->config->bucket,
			       .flags = S3_CHANGES};
	struct s3_buf key = {0}, text = {0};
	bk_status st;

	own_key(&key, prefix);
	s3_buf_putf(&text, "%s\ns3\n%s", hand.link->config->mark, last_line);
	if (key.failed || text.failed) {
		st = bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	} else {
		r.key = bk_slice_of(key.data, key.len);
		r.body = text.data;
		r.body_len = text.len;
		st = s3_call(hand.t, hand.link, &r, err);
	}
	s3_buf_free(&key);
	s3_buf_free(&text);
	return st;
}

static bk_status own_delete(struct s3_hand hand, const char *prefix, struct bk_error *err)
{
	struct s3_request r = {.what = "delete",
			       .method = "DELETE",
			       .bucket = hand.link->config->bucket,
			       .flags = S3_CHANGES};
	struct s3_buf key = {0};
	bk_status st;

	own_key(&key, prefix);
	if (key.failed)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	r.key = bk_slice_of(key.data, key.len);
	st = s3_call(hand.t, hand.link, &r, err);
	s3_buf_free(&key);
	return st;
}

bk_status s3_mark_write(struct s3_hand hand, struct bk_error *err)
{
	return own_write(hand, hand.link->config->space, "", err);
}

/* ---- Looking ----------------------------------------------------------------------------------
 */

static void own_judge_mark(struct s3_look *out, const struct s3_config *c, const char *text)
{
	size_t len = strcspn(text, "\n");

	out->owner = S3_OURS;
	if (len == strlen(c->mark) && memcmp(text, c->mark, len) == 0)
		return;
	out->owner = S3_FOREIGN;
	snprintf(out->why, sizeof(out->why), "it bears the mark '%.*s', not '%.80s'",
		 len > 80 ? 80 : (int)len, text, c->mark);
}

static bk_status own_look_below(struct s3_look *out, struct s3_hand hand, struct bk_error *err)
{
	const struct s3_config *c = hand.link->config;
	struct s3_listing list = {0};
	bk_status st;

	s3_listing_start(&list, S3_LIST_OBJECTS);
	st = s3_listing_page(&list, hand.t, hand.link, c->bucket, c->space, 1, err);
	out->owner = S3_FREE;
	if (st == BK_OK && list.count) {
		struct bk_slice key = s3_listing_key(&list, 0);

		out->owner = S3_FOREIGN;
		snprintf(out->why, sizeof(out->why), "it holds '%.*s' and no mark",
			 key.len > 160 ? 160 : (int)key.len, (const char *)key.data);
	}
	s3_listing_free(&list);
	return st;
}

/* May bakeoff live in this bucket?  Its mark, a place's tag or a claim says so. */
static bk_status own_look_bucket(struct s3_look *out, struct s3_hand hand, struct bk_error *err)
{
	const struct s3_config *c = hand.link->config;
	struct bk_error here = bk_error_init();
	bool empty = false;
	char mark[64];
	bk_status st = own_read(hand, c->root, &here);

	if (st == BK_OK)
		return BK_OK;
	if (st != BK_NOT_FOUND) {
		s3_pass_error(err, &here);
		return st;
	}
	if (s3_bucket_tag(mark, sizeof(mark), hand, c->bucket, S3_TAG_MARK, &here) == BK_OK)
		return BK_OK;
	if (s3_is_claimed(hand, c->bucket)) {
		st = s3_bucket_is_empty(&empty, hand, c->bucket, err);
		if (st != BK_OK)
			return st;
		out->half_made = empty;
		if (empty)
			return BK_OK;
	}
	out->owner = S3_FOREIGN;
	snprintf(
		out->why, sizeof(out->why),
		"the bucket exists and bakeoff has not made it; to lend it, put an object '%.80s" S3_MARK
		"' in it",
		c->root);
	return BK_OK;
}

bk_status s3_look(struct s3_look *out, struct s3_hand hand, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st;

	memset(out, 0, sizeof(*out));
	st = own_read(hand, hand.link->config->space, &here);
	if (st == BK_OK) {
		own_judge_mark(out, hand.link->config, s3_buf_str(&hand.t->answer.body));
		return BK_OK;
	}
	if (st != BK_NOT_FOUND) {
		s3_pass_error(err, &here);
		return st;
	}
	if (strcmp(hand.t->answer.code, "NoSuchBucket") == 0) {
		out->owner = S3_NO_BUCKET;
		return BK_OK;
	}
	st = own_look_below(out, hand, err);
	if (st == BK_OK && out->owner == S3_FREE)
		st = own_look_bucket(out, hand, err);
	return st;
}

bk_status s3_foreign(const struct s3_config *config, const char *what, const struct s3_look *look,
		     struct bk_error *err)
{
	return bk_fail(err, BK_FOREIGN, 0,
		       "s3: cannot %s '%s' in bucket '%s': it is not bakeoff's: %s; nothing was "
		       "touched",
		       what, config->space, config->bucket, look->why);
}

/* ---- The bucket -------------------------------------------------------------------------------
 */

bk_status s3_bucket_adopt(struct s3_hand hand, struct bk_error *err)
{
	const struct s3_config *c = hand.link->config;
	bk_status st = own_write(hand, c->root, OWN_MADE "\n", err);

	if (st == BK_OK)
		s3_unclaim(hand, c->bucket);
	return st;
}

bk_status s3_bucket_make(struct s3_hand hand, struct bk_error *err)
{
	const struct s3_config *c = hand.link->config;
	bk_status st = s3_claim(hand, c->bucket, err);

	if (st == BK_OK)
		st = s3_bucket_create(hand, c->bucket, err);
	return st == BK_OK ? s3_bucket_adopt(hand, err) : st;
}

/* Nothing but the bucket's own mark is in it. */
static bk_status own_is_bare(bool *out, struct s3_hand hand, struct bk_error *err)
{
	const struct s3_config *c = hand.link->config;
	struct s3_listing list = {0};
	struct s3_buf key = {0};
	bk_status st;

	own_key(&key, c->root);
	s3_listing_start(&list, S3_LIST_OBJECTS);
	st = s3_listing_page(&list, hand.t, hand.link, c->bucket, "", 2, err);
	if (st == BK_OK)
		*out = !key.failed && list.count == 1 &&
		       bk_slice_eq(s3_listing_key(&list, 0), bk_slice_of(key.data, key.len));
	s3_buf_free(&key);
	s3_listing_free(&list);
	return st;
}

bk_status s3_bucket_unmake(struct s3_hand hand, struct bk_error *err)
{
	const struct s3_config *c = hand.link->config;
	struct bk_error here = bk_error_init();
	bool bare = false;
	bk_status st = own_read(hand, c->root, &here);

	if (st != BK_OK || !strstr(s3_buf_str(&hand.t->answer.body), "\n" OWN_MADE "\n"))
		return BK_OK; /* somebody else's, or gone */
	st = own_is_bare(&bare, hand, err);
	if (st != BK_OK || !bare)
		return st;
	st = s3_claim(hand, c->bucket, err);
	if (st == BK_OK)
		st = own_delete(hand, c->root, err);
	if (st != BK_OK)
		return st;
	if (s3_bucket_delete(hand, c->bucket, &here) != BK_OK) /* somebody was quicker to use it */
		st = own_write(hand, c->root, OWN_MADE "\n", err);
	s3_unclaim(hand, c->bucket);
	return st;
}
