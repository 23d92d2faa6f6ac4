/*
 * inspect.c - what server this is, and what lies below the store's prefix.
 *
 * The one invariant: a question that a server does not answer is said to be `unsupported`, and is
 * no failure.  Listing stops after so many pages, and then says so.
 */
#include "bucket.h"
#include "s3.h"
#include "xml.h"

#define INS_PAGES   100
#define INS_BUCKETS 11 /* of the histogram: below 1 KiB, 4 KiB, ... 256 MiB, 1 GiB; above */

struct ins {
	struct bk_store *store;
	const struct bk_sink *sink;
	struct s3_hand hand;
};

static void ins_str(const struct ins *i, const char *name, const char *value)
{
	i->sink->put_str(i->sink->ctx, name, value);
}

static void ins_u64(const struct ins *i, const char *name, uint64_t value, const char *unit,
		    bool estimate)
{
	i->sink->put_u64(i->sink->ctx, name, value, unit, estimate ? BK_SINK_ESTIMATE : 0);
}

/* A question about the bucket, and one element of its answer. */
static void ins_ask(const struct ins *i, const char *name, const char *query, const char *path,
		    const char *none)
{
	struct s3_request r = {.what = "inspect",
			       .method = "GET",
			       .bucket = i->store->config.at.bucket,
			       .query = {{query, NULL}},
			       .flags = S3_NO_RETRY};
	struct bk_error ignored = bk_error_init();
	char text[128] = "";

	if (s3_call(i->hand.t, i->hand.link, &r, &ignored) != BK_OK) {
		ins_str(i, name, "unsupported");
		return;
	}
	s3_xml_text(bk_slice_of(s3_buf_str(&i->hand.t->answer.body), i->hand.t->answer.body.len),
		    path, text, sizeof(text));
	ins_str(i, name, text[0] ? text : none);
}

static void ins_product(const struct ins *i)
{
	const struct s3_answer *a = &i->hand.t->answer;
	struct s3_request r = {.what = "inspect",
			       .method = "HEAD",
			       .bucket = i->store->config.at.bucket,
			       .flags = S3_NO_RETRY};
	struct bk_error ignored = bk_error_init();

	s3_call(i->hand.t, i->hand.link, &r, &ignored);
	if (a->server[0])
		ins_str(i, "server.product", a->server);
	else
		ins_str(i, "server.product", a->ceph ? "Ceph radosgw" : "an S3 server");
	ins_str(i, "server.version", "unsupported");
}

static void ins_identity(const struct ins *i, bool exists)
{
	const struct s3_config *c = &i->store->config;
	const struct s3_options *o = c->options;

	ins_product(i);
	ins_str(i, "server.endpoint", o->endpoint);
	ins_str(i, "bucket.name", c->at.bucket);
	ins_str(i, "bucket.prefix", c->at.space);
	ins_str(i, "region", o->region);
	ins_str(i, "transport", c->at.tls ? "https" : "http");
	ins_str(i, "payload-signing", c->sign_payload ? "yes" : "no");
	ins_str(i, "durability.declared", s3_durability_names[o->durability]);
	i->sink->flag(i->sink->ctx, "durability-declared",
		      "S3 cannot be asked what it promises: the durability is what you declared");
	if (c->create)
		i->sink->flag(
			i->sink->ctx, "create-of-parts",
			"some servers (Ceph 16) mind If-None-Match only for what is put in one "
			"request: in parts, create is a look and then a completion");
	if (!exists)
		return;
	ins_ask(i, "bucket.location", "location", "/LocationConstraint", "us-east-1");
	ins_ask(i, "bucket.versioning", "versioning", "/VersioningConfiguration/Status", "off");
}

/* ---- Sizes ------------------------------------------------------------------------------------
 */

struct ins_sizes {
	uint64_t count, bytes, by_size[INS_BUCKETS];
	bool cut;
};

static void ins_count(struct ins_sizes *s, uint64_t size_bytes)
{
	uint64_t limit = 1024;
	size_t i;

	for (i = 0; i < INS_BUCKETS - 1 && size_bytes >= limit; i++)
		limit *= 4;
	s->by_size[i]++;
	s->count++;
	s->bytes += size_bytes;
}

static bk_status ins_walk(struct ins_sizes *s, const struct ins *i, struct bk_error *err)
{
	const struct s3_config *c = &i->store->config;
	struct s3_listing list = {0};
	bk_status st;
	size_t k, page;

	s3_listing_start(&list, S3_LIST_OBJECTS);
	for (page = 0;; page++) {
		if (page == INS_PAGES) {
			s->cut = true;
			st = BK_OK;
			break;
		}
		st = s3_listing_page(&list, i->hand.t, i->hand.link, c->at.bucket, c->at.space,
				     1000, err);
		for (k = 0; st == BK_OK && k < list.count; k++) {
			if (s3_key_own(c, s3_listing_key(&list, k)).len)
				ins_count(s, list.items[k].size_bytes);
		}
		if (st != BK_OK || !list.more)
			break;
	}
	s3_listing_free(&list);
	return st;
}

static void ins_uploads(const struct ins *i)
{
	const struct s3_config *c = &i->store->config;
	struct bk_error ignored = bk_error_init();
	struct s3_listing list = {0};

	s3_listing_start(&list, S3_LIST_UPLOADS);
	if (s3_listing_page(&list, i->hand.t, i->hand.link, c->at.bucket, c->at.space, 1000,
			    &ignored) != BK_OK)
		ins_str(i, "uploads.unfinished", "unsupported");
	else
		ins_u64(i, "uploads.unfinished", list.count, "count", list.more);
	s3_listing_free(&list);
}

static bk_status ins_size(const struct ins *i, struct bk_error *err)
{
	struct ins_sizes s = {.count = 0};
	uint64_t limit = 1024;
	bk_status st = ins_walk(&s, i, err);
	char name[48];
	size_t k;

	if (st != BK_OK)
		return st;
	ins_u64(i, "binaries.count", s.count, "count", s.cut);
	ins_u64(i, "storage.bytes", s.bytes, "bytes", s.cut);
	i->sink->begin(i->sink->ctx, "histogram", "sizes");
	for (k = 0; k < INS_BUCKETS; k++, limit *= 4) {
		if (k < INS_BUCKETS - 1)
			snprintf(name, sizeof(name), "below.%llu", (unsigned long long)limit);
		else
			snprintf(name, sizeof(name), "larger");
		if (s.by_size[k])
			ins_u64(i, name, s.by_size[k], "count", s.cut);
	}
	i->sink->end(i->sink->ctx);
	if (s.cut)
		i->sink->flag(i->sink->ctx, "listing-cut",
			      "there is more than was listed: counts and sizes are lower bounds");
	ins_uploads(i);
	return BK_OK;
}

bk_status s3_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
		     struct bk_error *err)
{
	struct ins i = {store, sink, {&store->link, &store->call}};
	bool exists = false;
	bk_status st;

	s3_link_enter(&store->link);
	st = s3_bucket_exists(&exists, i.hand, store->config.at.bucket, err);
	if (st != BK_OK)
		return st;
	if (what & BK_INSPECT_IDENTITY)
		ins_identity(&i, exists);
	if ((what & BK_INSPECT_SIZE) && !exists)
		return bk_fail(err, BK_NOT_FOUND, 404, "s3: inspect: there is no bucket '%s'",
			       store->config.at.bucket);
	if (what & BK_INSPECT_SIZE)
		st = ins_size(&i, err);
	if (st == BK_OK && (what & BK_INSPECT_COUNTERS)) {
		sink->put_u64(sink->ctx, "requests", store->link.counters.requests, "count", 0);
		sink->put_u64(sink->ctx, "retries", store->link.counters.retries, "count", 0);
	}
	return st;
}
