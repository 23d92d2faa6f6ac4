/*
 * requests.c - what libs3 is asked, and what it calls back.
 *
 * The one invariant: a callback copies; nothing that libs3 shows outlives it.
 */
#include "l3.h"

static S3Status req_properties(const S3ResponseProperties *properties, void *ctx)
{
	struct l3_call *c = ctx;
	const char *etag = properties->eTag ? properties->eTag : "";

	c->link->moved_ns = s3_now_ns();
	c->length = properties->contentLength;
	snprintf(c->etag, sizeof(c->etag), "%s", etag);
	c->head = true;
	return S3StatusOK;
}

static void req_complete(S3Status status, const S3ErrorDetails *details, void *ctx)
{
	struct l3_call *c = ctx;

	c->status = status;
	if (details && details->message)
		snprintf(c->message, sizeof(c->message), "%s", details->message);
	c->done = true;
}

static const S3ResponseHandler req_handler = {req_properties, req_complete};

static S3BucketContext req_bucket(const struct l3_call *c)
{
	const struct bk_store *store = c->link->store;

	return (S3BucketContext){
		.hostName = store->site.at.host,
		.bucketName = c->bucket ? c->bucket : store->site.at.bucket,
		.protocol = store->site.at.tls ? S3ProtocolHTTPS : S3ProtocolHTTP,
		.uriStyle = store->site.access->addressing == S3_VIRTUAL_HOST
				    ? S3UriStyleVirtualHost
				    : S3UriStylePath,
		.accessKeyId = store->site.access->access_key,
		.secretAccessKey = store->site.access->secret_key,
	};
}

/* ---- Objects -------------------------------------------------------------- */

void l3_begin_head(struct l3_call *c)
{
	S3BucketContext bucket = req_bucket(c);

	S3_head_object(&bucket, c->key, c->link->context, &req_handler, c);
}

void l3_begin_delete(struct l3_call *c)
{
	S3BucketContext bucket = req_bucket(c);

	S3_delete_object(&bucket, c->key, c->link->context, &req_handler, c);
}

static S3Status req_take(int size, const char *data, void *ctx)
{
	struct l3_call *c = ctx;

	c->link->moved_ns = s3_now_ns();
	c->link->pace.bytes_received += (uint64_t)size;
	if (c->reader) {
		c->failed =
			c->failed || !s3_intake_take(&c->reader->in, data, (size_t)size, SIZE_MAX);
	} else {
		s3_buf_put(&c->text, data, (size_t)size);
		c->failed = c->failed || c->text.failed;
	}
	return c->failed ? S3StatusAbortedByCallback : S3StatusOK;
}

void l3_begin_get(struct l3_call *c)
{
	static const S3GetObjectHandler handler = {{req_properties, req_complete}, req_take};
	S3BucketContext bucket = req_bucket(c);
	S3GetConditions conditions = {
		.ifModifiedSince = -1, .ifNotModifiedSince = -1, .ifMatchETag = c->if_match};

	S3_get_object(&bucket, c->key, &conditions, c->from, c->count, c->link->context, &handler,
		      c);
}

static int req_give(int size, char *to, void *ctx)
{
	struct l3_call *c = ctx;
	size_t n = c->body_len - c->body_at;

	if (n > (size_t)size)
		n = (size_t)size;
	memcpy(to, (const char *)c->body + c->body_at, n);
	c->body_at += n;
	c->link->moved_ns = s3_now_ns();
	c->link->pace.bytes_sent += n;
	return (int)n;
}

void l3_begin_put(struct l3_call *c)
{
	static const S3PutObjectHandler handler = {{req_properties, req_complete}, req_give};
	S3BucketContext bucket = req_bucket(c);

	S3_put_object(&bucket, c->key, c->body_len, NULL, c->link->context, &handler, c);
}

/* ---- Buckets -------------------------------------------------------------- */

static S3Status req_listed(int truncated, const char *next_marker, int count,
			   const S3ListBucketContent *contents, int prefix_count,
			   const char **prefixes, void *ctx)
{
	struct l3_call *c = ctx;
	int i;

	c->link->moved_ns = s3_now_ns();
	c->page->more = truncated;
	for (i = 0; i < count; i++)
		s3_page_put(c->page, contents[i].key, contents[i].size);
	c->failed = s3_page_failed(c->page);
	return c->failed ? S3StatusAbortedByCallback : S3StatusOK;
}

void l3_begin_list(struct l3_call *c)
{
	static const S3ListBucketHandler handler = {{req_properties, req_complete}, req_listed};
	S3BucketContext bucket = req_bucket(c);

	S3_list_bucket(&bucket, c->prefix, c->marker, NULL, c->most, c->link->context, &handler, c);
}

void l3_begin_test(struct l3_call *c)
{
	S3BucketContext b = req_bucket(c);

	S3_test_bucket(b.protocol, b.uriStyle, b.accessKeyId, b.secretAccessKey, b.hostName,
		       b.bucketName, 0, NULL, c->link->context, &req_handler, c);
}

void l3_begin_create(struct l3_call *c)
{
	S3BucketContext b = req_bucket(c);

	S3_create_bucket(b.protocol, b.accessKeyId, b.secretAccessKey, b.hostName, b.bucketName,
			 S3CannedAclPrivate, NULL, c->link->context, &req_handler, c);
}

void l3_begin_remove(struct l3_call *c)
{
	S3BucketContext b = req_bucket(c);

	S3_delete_bucket(b.protocol, b.uriStyle, b.accessKeyId, b.secretAccessKey, b.hostName,
			 b.bucketName, c->link->context, &req_handler, c);
}
