/*
 * inspect.c - what server this is, and what lies below the store's prefix.
 *
 * The one invariant: a question that a server does not answer is said to be `unsupported`, and is
 * no failure.
 */
#include "bucket.h"
#include "list.h"
#include "s3.h"
#include "xml.h"

struct ins {
	struct bk_store *store;
	const struct bk_sink *sink;
	struct s3_hand hand;
};

static void ins_str(const struct ins *i, const char *name, const char *value)
{
	i->sink->put_str(i->sink->ctx, name, value);
}

/* A question about the bucket, and one element of its answer. */
static void ins_ask(const struct ins *i, const char *name, const char *query, const char *path,
		    const char *none)
{
	struct s3_request r = {.what = "inspect",
			       .method = "GET",
			       .bucket = i->store->config.site.at.bucket,
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
			       .bucket = i->store->config.site.at.bucket,
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

	ins_product(i);
	s3_site_tell(&c->site, i->sink);
	ins_str(i, "region", c->options->region);
	ins_str(i, "payload-signing", c->sign_payload ? "yes" : "no");
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

static void ins_uploads(const struct ins *i)
{
	const struct s3_config *c = &i->store->config;
	struct bk_error ignored = bk_error_init();
	struct s3_listing list = {0};

	s3_listing_start(&list, S3_LIST_UPLOADS);
	if (s3_listing_page(&list, i->hand.t, i->hand.link, c->site.at.bucket, c->site.at.space,
			    1000, &ignored) != BK_OK)
		ins_str(i, "uploads.unfinished", "unsupported");
	else
		i->sink->put_u64(i->sink->ctx, "uploads.unfinished", list.page.count, "count",
				 list.page.more ? BK_SINK_ESTIMATE : 0);
	s3_listing_free(&list);
}

bk_status s3_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
		     struct bk_error *err)
{
	struct ins i = {store, sink, {&store->link, &store->call}};
	const struct own_doors doors = s3_doors(&i.hand);
	bool exists = false;
	bk_status st;

	s3_link_enter(&store->link);
	st = s3_bucket_exists(&exists, i.hand, store->config.site.at.bucket, err);
	if (st != BK_OK)
		return st;
	if (what & BK_INSPECT_IDENTITY)
		ins_identity(&i, exists);
	if ((what & BK_INSPECT_SIZE) && !exists)
		return bk_fail(err, BK_NOT_FOUND, 404, "s3: inspect: there is no bucket '%s'",
			       store->config.site.at.bucket);
	if (what & BK_INSPECT_SIZE)
		st = s3_sizes_tell(&doors, sink, err);
	if (st != BK_OK)
		return st;
	if (what & BK_INSPECT_SIZE)
		ins_uploads(&i);
	if (what & BK_INSPECT_COUNTERS)
		s3_pace_tell_tries(&store->link.pace, sink);
	return BK_OK;
}
