/*
 * store.c - the store: open, make, clear, unmake.  What the last three do is in s3-common.
 *
 * The one invariant: each call of the control thread forgets an earlier cancel first.
 */
#include "bucket.h"
#include "s3.h"

#include <pthread.h>

void s3_log(const struct bk_store *store, uint32_t level, const char *line)
{
	if (store->host && store->host->log)
		store->host->log(store->host->ctx, level, line);
}

static struct s3_hand sto_hand(struct bk_store *store)
{
	s3_link_enter(&store->link);
	return (struct s3_hand){&store->link, &store->call};
}

static void sto_curl_start(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* Whether a server minds If-None-Match cannot be asked without writing, which open may not.  AWS,
 * MinIO and Ceph do: by the form of its request ids Ceph gives itself away.  make() tries it. */
static bool sto_minds_conditions(const struct s3_answer *a)
{
	size_t hex = strspn(a->request_id + (a->request_id[0] ? 2 : 0), "0123456789abcdef");

	return strcmp(a->server, "AmazonS3") == 0 || strncmp(a->server, "MinIO", 5) == 0 ||
	       a->ceph ||
	       (strncmp(a->request_id, "tx", 2) == 0 && hex == 21 && a->request_id[23] == '-');
}

static void sto_settle_create(struct bk_store *store)
{
	uint32_t wanted = store->config.options->conditional_create;

	store->config.create =
		wanted == S3_CREATE_YES ||
		(wanted == S3_CREATE_AUTO && sto_minds_conditions(&store->call.answer));
}

/* Does the server answer, and to these keys?  A bucket that is not there is fine. */
static bk_status sto_reach(struct bk_store *store, struct bk_error *err)
{
	struct s3_request r = {.what = "open",
			       .method = "GET",
			       .bucket = store->config.site.at.bucket,
			       .query = {{"list-type", "2"},
					 {"max-keys", "1"},
					 {"prefix", store->config.site.at.space}}};
	struct s3_hand hand = sto_hand(store);
	struct bk_error here = bk_error_init();
	bk_status st = s3_call(hand.t, hand.link, &r, &here);

	if (st == BK_OK ||
	    (st == BK_NOT_FOUND && strcmp(hand.t->answer.code, "NoSuchBucket") == 0)) {
		sto_settle_create(store);
		return BK_OK;
	}
	if (st == BK_NOT_FOUND)
		return bk_fail(
			err, BK_INVALID, 404,
			"s3: open: the endpoint %s answers 404 and not as S3 does: is it the "
			"right one?",
			store->config.options->access.endpoint);
	s3_error_pass(err, &here);
	return st;
}

static void sto_close(struct bk_store *store)
{
	if (!store)
		return;
	s3_transfer_free(&store->call);
	s3_link_free(&store->link);
	s3_buf_free(&store->place_text);
	s3_config_free(&store->config);
	free(store);
}

static bk_status sto_open(struct bk_store **out, const struct bk_host *host,
			  const struct bk_store_config *config, const void *opts,
			  struct bk_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct bk_store *store;
	bk_status st;

	pthread_once(&once, sto_curl_start);
	store = calloc(1, sizeof(*store));
	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	store->host = host;
	st = s3_config_init(&store->config, opts, config, err);
	if (st == BK_OK)
		st = s3_link_init(&store->link, &store->config, 0, err);
	if (st == BK_OK)
		st = sto_reach(store, err);
	if (st != BK_OK) {
		sto_close(store);
		return st;
	}
	*out = store;
	return BK_OK;
}

static bk_status sto_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
			      struct bk_limits *limits, struct bk_error *err)
{
	*native = s3_backend.native;
	*emulated = s3_backend.emulated;
	if (!store->config.create)
		*native &= ~BK_F_BINARY_CREATE;
	s3_site_limits(limits, s3_key_most(&store->config), S3_BINARY_MAX);
	return BK_OK;
}

static bk_status sto_make(struct bk_store *store, struct bk_error *err)
{
	struct s3_hand hand = sto_hand(store);
	const struct own_doors doors = s3_doors(&hand);

	return own_make(&doors, err);
}

static bk_status sto_clear(struct bk_store *store, struct bk_error *err)
{
	struct s3_hand hand = sto_hand(store);
	const struct own_doors doors = s3_doors(&hand);

	return own_clear(&doors, err);
}

static bk_status sto_unmake(struct bk_store *store, struct bk_error *err)
{
	struct s3_hand hand = sto_hand(store);
	const struct own_doors doors = s3_doors(&hand);

	return own_unmake(&doors, err);
}

const struct bk_store_ops s3_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = sto_open,
	.close = sto_close,
	.features = sto_features,
	.make = sto_make,
	.clear = sto_clear,
	.unmake = sto_unmake,
	.inspect = s3_inspect,
};
