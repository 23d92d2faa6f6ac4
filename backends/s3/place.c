/*
 * place.c - places: empty buckets for other people's tests.
 *
 * Whose a place is stands in the bucket's tags, so nothing of ours is in it.  S3 knows no way of
 * making users: a place is reached with the keys that made it.
 *
 * The one invariant: a bucket whose tag does not say the mark is not dropped; one that has no tag
 * yet is ours only while a claim says so and nothing is in it.
 */
#include "bucket.h"
#include "list.h"
#include "s3.h"
#include "xml.h"

#include <time.h>

/* A place's name may have '_', a bucket's may not. */
static bk_status plc_bucket(char out[64], struct bk_slice name, struct bk_error *err)
{
	size_t i;

	if (name.len < 3 || name.len > 63)
		return bk_fail(
			err, BK_INVALID, 0,
			"s3: the place '%.*s' cannot be a bucket: its name must have 3 to 63 "
			"characters",
			name.len > 80 ? 80 : (int)name.len, (const char *)name.data);
	for (i = 0; i < name.len; i++) {
		char c = ((const char *)name.data)[i];

		if (c == '_')
			c = '-';
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
		      (c == '-' && i > 0 && i + 1 < name.len)))
			return bk_fail(err, BK_INVALID, 0,
				       "s3: the place '%.*s' cannot be a bucket: a name is made of "
				       "[a-z0-9_.-] and begins and ends with [a-z0-9]",
				       (int)name.len, (const char *)name.data);
		out[i] = c;
	}
	out[name.len] = '\0';
	return BK_OK;
}

/* What a tag may hold on every server. */
static bk_status plc_check_mark(struct bk_slice mark, struct bk_error *err)
{
	size_t i;

	for (i = 0; i < mark.len; i++) {
		unsigned char c = ((const unsigned char *)mark.data)[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c && strchr(" +-=._:/@", c))))
			break;
	}
	if (i < mark.len || mark.len == 0 || mark.len > 250)
		return bk_fail(err, BK_INVALID, 0,
			       "s3: the mark '%.*s' cannot be a tag: that is 1 to 250 letters, "
			       "digits, blanks and + - = . _ : / @",
			       mark.len > 80 ? 80 : (int)mark.len, (const char *)mark.data);
	return BK_OK;
}

static void plc_put_tag(struct s3_buf *out, const char *key, struct bk_slice value)
{
	s3_buf_putf(out, "<Tag><Key>%s</Key><Value>", key);
	s3_buf_put_xml(out, value);
	s3_buf_puts(out, "</Value></Tag>");
}

static bk_status plc_tag(struct s3_hand hand, const char *bucket, struct bk_slice name,
			 struct bk_slice mark, struct bk_error *err)
{
	struct s3_request r = {.what = "tag",
			       .method = "PUT",
			       .bucket = bucket,
			       .query = {{"tagging", NULL}},
			       .flags = S3_CHANGES};
	struct s3_buf body = {0};
	unsigned char md5[16], text[32];
	char now[24];
	bk_status st;

	snprintf(now, sizeof(now), "%lld", (long long)time(NULL));
	s3_buf_puts(&body, "<Tagging><TagSet>");
	plc_put_tag(&body, S3_TAG_MARK, mark);
	plc_put_tag(&body, S3_TAG_PLACE, name);
	plc_put_tag(&body, S3_TAG_CREATED, bk_slice_str(now));
	s3_buf_puts(&body, "</TagSet></Tagging>");
	if (body.failed)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	s3_md5(md5, &hand.link->signer, body.data, body.len);
	EVP_EncodeBlock(text, md5, sizeof(md5));
	r.headers[0] = (struct s3_param){"content-md5", (const char *)text};
	r.body = body.data;
	r.body_len = body.len;
	st = s3_call(hand.t, hand.link, &r, err);
	s3_buf_free(&body);
	return st;
}

static struct s3_hand plc_hand(struct bk_store *admin)
{
	s3_link_enter(&admin->link);
	return (struct s3_hand){&admin->link, &admin->call};
}

/* Somebody has the name: somebody's bucket, or what a create() of ours left half made. */
static bk_status plc_taken(struct s3_hand hand, const char *bucket, bool *half_made,
			   struct bk_error *err)
{
	const struct own_doors doors = s3_doors(&hand);
	struct bk_error here = bk_error_init();
	struct s3_buf first = {0};
	char mark[260];
	size_t count = 0;
	bk_status st = BK_OK;

	*half_made = false;
	if (s3_bucket_tag(mark, sizeof(mark), hand, bucket, S3_TAG_MARK, &here) == BK_OK ||
	    !own_is_claimed(&doors, bucket))
		return BK_OK;
	st = own_first(&count, &first, &doors, bucket, "", 1, err);
	*half_made = st == BK_OK && count == 0;
	s3_buf_free(&first);
	return st;
}

static bk_status plc_create(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			    struct bk_slice user, struct bk_slice password, struct bk_slice from,
			    struct bk_error *err)
{
	struct s3_hand hand = plc_hand(admin);
	const struct own_doors doors = s3_doors(&hand);
	struct bk_error ignored = bk_error_init();
	bool exists = false, half_made = false;
	char bucket[64];
	bk_status st = plc_bucket(bucket, name, err);

	if (st == BK_OK)
		st = plc_check_mark(mark, err);
	if (st == BK_OK && from.len)
		st = bk_fail(err, BK_UNSUPPORTED, 0,
			     "s3: a bucket cannot be cloned; load its objects instead");
	if (st == BK_OK)
		st = s3_bucket_exists(&exists, hand, bucket, err);
	if (st == BK_OK && exists)
		st = plc_taken(hand, bucket, &half_made, err);
	if (st != BK_OK)
		return st;
	if (exists && !half_made)
		return bk_fail(err, BK_EXISTS, 0, "s3: the bucket '%s' is there already", bucket);
	st = own_claim(&doors, bucket, err);
	if (st != BK_OK)
		return st;
	if (!exists)
		st = s3_bucket_create(hand, bucket, err);
	if (st != BK_OK) {
		own_unclaim_failed(&doors, bucket, err);
		return st;
	}
	st = plc_tag(hand, bucket, name, mark, err);
	if (st != BK_OK) /* never ours without the tag; and nothing is in it */
		s3_bucket_delete(hand, bucket, &ignored);
	own_unclaim(&doors, bucket);
	return st;
}

/* Does it bear the mark?  NOT_FOUND: there is no such bucket. */
static bk_status plc_check(struct s3_hand hand, const char *bucket, struct bk_slice mark,
			   struct bk_error *err)
{
	const struct own_doors doors = s3_doors(&hand);
	struct bk_error here = bk_error_init();
	bool half_made = false;
	char found[260];
	bk_status st = s3_bucket_tag(found, sizeof(found), hand, bucket, S3_TAG_MARK, &here);

	if (st == BK_NOT_FOUND && strcmp(hand.t->answer.code, "NoSuchBucket") == 0) {
		if (own_is_claimed(&doors, bucket))
			own_unclaim(&doors, bucket);
		return bk_fail(err, BK_NOT_FOUND, 404, "s3: there is no bucket '%s'", bucket);
	}
	if (st == BK_OK && bk_slice_eq(bk_slice_str(found), mark))
		return BK_OK;
	if (st == BK_OK)
		return bk_fail(err, BK_FOREIGN, 0,
			       "s3: the bucket '%s' bears the mark '%s', not '%.*s'", bucket, found,
			       mark.len > 80 ? 80 : (int)mark.len, (const char *)mark.data);
	if (st != BK_NOT_FOUND) {
		s3_error_pass(err, &here);
		return st;
	}
	st = plc_taken(hand, bucket, &half_made, err);
	if (st != BK_OK || half_made)
		return st;
	return bk_fail(err, BK_FOREIGN, 0, "s3: the bucket '%s' bears no mark of bakeoff", bucket);
}

static bk_status plc_drop(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			  struct bk_error *err)
{
	struct s3_hand hand = plc_hand(admin);
	const struct own_doors doors = s3_doors(&hand);
	char bucket[64];
	bk_status st = plc_bucket(bucket, name, err);

	if (st == BK_OK)
		st = plc_check(hand, bucket, mark, err);
	if (st == BK_OK)
		st = s3_purge(hand.t, hand.link, bucket, "", NULL, err);
	if (st == BK_OK)
		st = s3_bucket_delete(hand, bucket, err);
	if (st == BK_OK && own_is_claimed(&doors, bucket))
		own_unclaim(&doors, bucket);
	return st;
}

/* ---- Listing ----------------------------------------------------------------------------------
 */

struct plc_names {
	struct s3_buf text; /* names, each NUL-terminated */
	size_t count;
};

static void plc_name(void *ctx, const char *path, struct bk_slice text)
{
	struct plc_names *names = ctx;

	if (strcmp(path, "/ListAllMyBucketsResult/Buckets/Bucket/Name") != 0)
		return;
	s3_buf_put(&names->text, text.data, text.len);
	s3_buf_put(&names->text, "", 1);
	names->count++;
}

static bk_status plc_buckets(struct plc_names *names, struct s3_hand hand, struct bk_error *err)
{
	struct s3_request r = {.what = "list of the buckets", .method = "GET"};
	bk_status st = s3_call(hand.t, hand.link, &r, err);

	if (st != BK_OK)
		return st;
	if (!s3_xml_parse(bk_slice_of(s3_buf_str(&hand.t->answer.body), hand.t->answer.body.len),
			  plc_name, names))
		return bk_fail(err, BK_CORRUPT, 0,
			       "s3: list of the buckets: the answer is not well-formed XML");
	return names->text.failed ? bk_fail(err, BK_NOMEM, 0, "s3: out of memory") : BK_OK;
}

static uint64_t plc_created(struct s3_hand hand, const char *bucket)
{
	struct bk_error ignored = bk_error_init();
	char text[24];

	if (s3_bucket_tag(text, sizeof(text), hand, bucket, S3_TAG_CREATED, &ignored) != BK_OK)
		return 0;
	return strtoull(text, NULL, 10);
}

/* Text may move while more is put: places first get offsets, and pointers at the end. */
static bk_status plc_list(struct bk_store *admin, struct bk_place *out, size_t cap, size_t *n,
			  struct bk_error *err)
{
	struct s3_hand hand = plc_hand(admin);
	struct s3_buf *text = &admin->place_text;
	struct bk_error ignored = bk_error_init();
	struct plc_names names = {{0}, 0};
	char mark[260], name[260];
	const char *bucket, *p;
	size_t found = 0, i;
	bk_status st = plc_buckets(&names, hand, err);

	s3_buf_reset(text);
	bucket = names.text.data;
	for (i = 0; st == BK_OK && i < names.count && found < cap;
	     i++, bucket += strlen(bucket) + 1) {
		if (s3_bucket_tag(mark, sizeof(mark), hand, bucket, S3_TAG_MARK, &ignored) !=
			    BK_OK ||
		    s3_bucket_tag(name, sizeof(name), hand, bucket, S3_TAG_PLACE, &ignored) !=
			    BK_OK)
			continue;
		out[found].created_unix_s = plc_created(hand, bucket);
		s3_buf_put(text, name, strlen(name) + 1);
		s3_buf_put(text, mark, strlen(mark) + 1);
		found++;
	}
	if (st == BK_OK && text->failed)
		st = bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	for (i = 0, p = text->data; st == BK_OK && i < found; i++) {
		out[i].name = bk_slice_str(p);
		p += strlen(p) + 1;
		out[i].mark = bk_slice_str(p);
		p += strlen(p) + 1;
	}
	s3_buf_free(&names.text);
	if (st == BK_OK)
		*n = found;
	return st;
}

const struct bk_place_ops s3_place_ops = {
	.struct_size = sizeof(struct bk_place_ops),
	.create = plc_create,
	.drop = plc_drop,
	.list = plc_list,
};
