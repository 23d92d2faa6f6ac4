/*
 * bucket.c - buckets made, removed, claimed, asked for their tags.
 *
 * The one invariant: DELETE of a bucket is left to the server to refuse where anything is in it.
 */
#include "list.h"
#include "own.h"
#include "xml.h"

bk_status s3_bucket_exists(bool *out, struct s3_hand hand, const char *name, struct bk_error *err)
{
	struct s3_request r = {.what = "look", .method = "HEAD", .bucket = name};
	struct bk_error here = bk_error_init();
	bk_status st = s3_call(hand.t, hand.link, &r, &here);

	if (st != BK_OK && hand.t->answer.status != 404) {
		s3_pass_error(err, &here);
		return st;
	}
	*out = st == BK_OK;
	return BK_OK;
}

bk_status s3_bucket_is_empty(bool *out, struct s3_hand hand, const char *name, struct bk_error *err)
{
	struct s3_listing list = {0};
	bk_status st;

	s3_listing_start(&list, S3_LIST_OBJECTS);
	st = s3_listing_page(&list, hand.t, hand.link, name, "", 1, err);
	if (st == BK_OK)
		*out = list.count == 0;
	s3_listing_free(&list);
	return st;
}

static bk_status bkt_create(struct s3_hand hand, const char *name, const char *region,
			    struct bk_error *err)
{
	struct s3_request r = {
		.what = "create", .method = "PUT", .bucket = name, .flags = S3_CHANGES};
	struct s3_buf body = {0};
	bk_status st;

	if (region) {
		s3_buf_puts(&body, "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/"
				   "2006-03-01/\"><LocationConstraint>");
		s3_buf_put_xml(&body, bk_slice_str(region));
		s3_buf_puts(&body, "</LocationConstraint></CreateBucketConfiguration>");
		if (body.failed)
			return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
		r.body = body.data;
		r.body_len = body.len;
	}
	st = s3_call(hand.t, hand.link, &r, err);
	s3_buf_free(&body);
	return st;
}

/* us-east-1 must not be named, every other region of AWS must; servers that know of no regions
 * refuse any name. */
bk_status s3_bucket_create(struct s3_hand hand, const char *name, struct bk_error *err)
{
	const char *region = hand.link->config->options->region;
	struct bk_error here = bk_error_init();
	bk_status st;

	if (strcmp(region, "us-east-1") == 0)
		region = NULL;
	st = bkt_create(hand, name, region, &here);
	if (region && strstr(hand.t->answer.code, "LocationConstraint"))
		st = bkt_create(hand, name, NULL, &here);
	if (st != BK_OK)
		s3_pass_error(err, &here);
	return st;
}

bk_status s3_bucket_delete(struct s3_hand hand, const char *name, struct bk_error *err)
{
	struct s3_request r = {
		.what = "remove", .method = "DELETE", .bucket = name, .flags = S3_CHANGES};
	struct bk_error here = bk_error_init();
	bk_status st = s3_call(hand.t, hand.link, &r, &here);

	if (st == BK_OK || hand.t->answer.status == 404)
		return BK_OK;
	s3_pass_error(err, &here);
	return st;
}

/* ---- Claims -----------------------------------------------------------------------------------
 */

static void bkt_claim_name(char out[64], struct s3_hand hand, const char *name)
{
	char hash[S3_HASH_HEX];

	if (strlen(name) + 6 <= 63) {
		snprintf(out, 64, "%s-claim", name);
		return;
	}
	s3_sha256_hex(hash, &hand.link->signer, name, strlen(name));
	snprintf(out, 64, "%.40s-%.12s-claim", name, hash);
}

/* Whoever may make one bucket and no other works without a claim: then a make() that is cut short
 * leaves a bucket that is refused, and told so. */
bk_status s3_claim(struct s3_hand hand, const char *name, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	char claim[64];
	bk_status st;

	bkt_claim_name(claim, hand, name);
	st = s3_bucket_create(hand, claim, &here);
	if (st == BK_OK || hand.t->answer.status == 403 || hand.t->answer.status == 409)
		return BK_OK;
	s3_pass_error(err, &here);
	return st;
}

void s3_unclaim(struct s3_hand hand, const char *name)
{
	struct bk_error ignored = bk_error_init();
	char claim[64];

	bkt_claim_name(claim, hand, name);
	s3_bucket_delete(hand, claim, &ignored);
}

bool s3_is_claimed(struct s3_hand hand, const char *name)
{
	struct bk_error ignored = bk_error_init();
	bool there = false;
	char claim[64];

	bkt_claim_name(claim, hand, name);
	return s3_bucket_exists(&there, hand, claim, &ignored) == BK_OK && there;
}

/* ---- Tags -------------------------------------------------------------------------------------
 */

struct bkt_tag {
	const char *name;
	char key[128], value[260];
	char *out;
	size_t cap;
	bool found;
};

static void bkt_element(void *ctx, const char *path, struct bk_slice text)
{
	struct bkt_tag *tag = ctx;

	if (strcmp(path, "/Tagging/TagSet/Tag/Key") == 0) {
		snprintf(tag->key, sizeof(tag->key), "%.*s", (int)text.len,
			 (const char *)text.data);
	} else if (strcmp(path, "/Tagging/TagSet/Tag/Value") == 0) {
		snprintf(tag->value, sizeof(tag->value), "%.*s", (int)text.len,
			 (const char *)text.data);
	} else if (strcmp(path, "/Tagging/TagSet/Tag") == 0 && strcmp(tag->key, tag->name) == 0) {
		snprintf(tag->out, tag->cap, "%s", tag->value);
		tag->found = true;
	}
}

bk_status s3_bucket_tag(char *out, size_t cap, struct s3_hand hand, const char *name,
			const char *tag, struct bk_error *err)
{
	struct s3_request r = {.what = "get of the tags",
			       .method = "GET",
			       .bucket = name,
			       .query = {{"tagging", NULL}}};
	struct bkt_tag want = {.name = tag, .out = out, .cap = cap};
	bk_status st = s3_call(hand.t, hand.link, &r, err);

	if (st != BK_OK)
		return st;
	s3_xml_parse(bk_slice_of(s3_buf_str(&hand.t->answer.body), hand.t->answer.body.len),
		     bkt_element, &want);
	if (!want.found)
		return bk_fail(err, BK_NOT_FOUND, 0, "s3: bucket '%s' has no tag '%s'", name, tag);
	return BK_OK;
}
