/*
 * bucket.c - buckets made, removed, asked for their tags; and the doors by which own.c gets at
 * them.
 *
 * The one invariant: DELETE of a bucket is left to the server to refuse where anything is in it.
 */
#include "bucket.h"
#include "s3.h"
#include "xml.h"

bk_status s3_bucket_exists(bool *out, struct s3_hand hand, const char *name, struct bk_error *err)
{
	struct s3_request r = {.what = "look", .method = "HEAD", .bucket = name};
	struct bk_error here = bk_error_init();
	bk_status st = s3_call(hand.t, hand.link, &r, &here);

	if (st != BK_OK && hand.t->answer.status != 404) {
		s3_error_pass(err, &here);
		return st;
	}
	*out = st == BK_OK;
	return BK_OK;
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
		s3_error_pass(err, &here);
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
	s3_error_pass(err, &here);
	return st;
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

/* ---- Doors ------------------------------------------------------------------------------------
 */

static struct s3_request bkt_object(const struct s3_hand *hand, const char *what,
				    const char *method, const char *key)
{
	return (struct s3_request){.what = what,
				   .method = method,
				   .bucket = hand->link->config->site.at.bucket,
				   .key = bk_slice_str(key)};
}

static bk_status bkt_read(void *ctx, const char *what, enum own_found *found, struct s3_buf *text,
			  const char *key, struct bk_error *err)
{
	struct s3_hand *hand = ctx;
	struct s3_request r = bkt_object(hand, what, "GET", key);
	struct bk_error here = bk_error_init();
	struct s3_answer *a = &hand->t->answer;
	bk_status st = s3_call(hand->t, hand->link, &r, &here);

	if (st == BK_NOT_FOUND) {
		*found = strcmp(a->code, "NoSuchBucket") == 0 ? OWN_NO_BUCKET : OWN_NO_OBJECT;
		return BK_OK;
	}
	if (st != BK_OK) {
		s3_error_pass(err, &here);
		return st;
	}
	*found = OWN_THERE;
	s3_buf_put(text, s3_buf_str(&a->body), a->body.len);
	return text->failed ? bk_fail(err, BK_NOMEM, 0, "s3: out of memory") : BK_OK;
}

static bk_status bkt_write(void *ctx, const char *key, const char *text, struct bk_error *err)
{
	struct s3_hand *hand = ctx;
	struct s3_request r = bkt_object(hand, "put", "PUT", key);

	r.body = text;
	r.body_len = strlen(text);
	r.flags = S3_CHANGES;
	return s3_call(hand->t, hand->link, &r, err);
}

static bk_status bkt_remove(void *ctx, const char *key, struct bk_error *err)
{
	struct s3_hand *hand = ctx;
	struct s3_request r = bkt_object(hand, "delete", "DELETE", key);

	r.flags = S3_CHANGES;
	return s3_call(hand->t, hand->link, &r, err);
}

static bk_status bkt_page(void *ctx, struct s3_page *page, const char *bucket, const char *prefix,
			  unsigned most, struct bk_error *err)
{
	struct s3_hand *hand = ctx;

	return s3_page_next(page, hand->t, hand->link, bucket, prefix, most, err);
}

static bk_status bkt_purge(void *ctx, const char *keep, struct bk_error *err)
{
	struct s3_hand *hand = ctx;
	const struct s3_endpoint *at = &hand->link->config->site.at;

	return s3_purge(hand->t, hand->link, at->bucket, at->space, keep, err);
}

/* Most regions of AWS answer 409 where the bucket is ours already: made by another session, or by a
 * try whose answer was lost. */
static bk_status bkt_make_door(void *ctx, bool *refused, const char *name, struct bk_error *err)
{
	struct s3_hand *hand = ctx;
	struct bk_error here = bk_error_init();
	bk_status st = s3_bucket_create(*hand, name, &here);

	*refused = st == BK_FOREIGN || (st == BK_AUTH && hand->t->answer.status == 403);
	if (st == BK_OK || *refused)
		return BK_OK;
	if (strcmp(hand->t->answer.code, "BucketAlreadyOwnedByYou") == 0)
		return BK_OK;
	s3_error_pass(err, &here);
	return st;
}

static bk_status bkt_remove_door(void *ctx, const char *name, struct bk_error *err)
{
	return s3_bucket_delete(*(struct s3_hand *)ctx, name, err);
}

static bk_status bkt_exists_door(void *ctx, bool *out, const char *name, struct bk_error *err)
{
	return s3_bucket_exists(out, *(struct s3_hand *)ctx, name, err);
}

static bool bkt_is_place(void *ctx, const char *bucket)
{
	struct bk_error ignored = bk_error_init();
	char mark[260];

	return s3_bucket_tag(mark, sizeof(mark), *(struct s3_hand *)ctx, bucket, S3_TAG_MARK,
			     &ignored) == BK_OK;
}

/* The mark put once more, if it is not there: a server that takes it would take any such create. */
static bk_status bkt_settle(void *ctx, struct bk_error *err)
{
	struct s3_hand *hand = ctx;
	const struct s3_config *config = hand->link->config;
	struct s3_buf key = {0}, text = {0};
	struct bk_error here = bk_error_init();
	struct s3_request r = {.what = "put",
			       .method = "PUT",
			       .bucket = config->site.at.bucket,
			       .headers = {{"if-none-match", "*"}}};
	bk_status st;

	if (!config->create)
		return BK_OK;
	s3_buf_putf(&key, "%s" OWN_MARK, config->site.at.space);
	s3_buf_putf(&text, "%s\ns3\n", config->site.mark);
	if (key.failed || text.failed) {
		st = bk_fail(&here, BK_NOMEM, 0, "s3: out of memory");
	} else {
		r.key = bk_slice_of(key.data, key.len);
		r.body = text.data;
		r.body_len = text.len;
		st = s3_call(hand->t, hand->link, &r, &here);
	}
	s3_buf_free(&key);
	s3_buf_free(&text);
	if (st == BK_EXISTS)
		return BK_OK;
	if (st == BK_OK || st == BK_UNSUPPORTED)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "s3: make: the server ignores If-None-Match, so nothing can be "
			       "created only if it is absent; set conditional-create=no");
	s3_error_pass(err, &here);
	return st;
}

struct own_doors s3_doors(struct s3_hand *hand)
{
	return (struct own_doors){
		.ctx = hand,
		.site = &hand->link->config->site,
		.read = bkt_read,
		.write = bkt_write,
		.remove = bkt_remove,
		.page = bkt_page,
		.purge = bkt_purge,
		.bucket_make = bkt_make_door,
		.bucket_remove = bkt_remove_door,
		.bucket_exists = bkt_exists_door,
		.is_place = bkt_is_place,
		.settle = bkt_settle,
		.own_key = s3_key_own,
	};
}
