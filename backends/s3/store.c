/*
 * store.c - the store: open, make, clear, unmake.
 *
 * The one invariant: every destructive step is preceded by a look at the mark.
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
			       .bucket = store->config.at.bucket,
			       .query = {{"list-type", "2"},
					 {"max-keys", "1"},
					 {"prefix", store->config.at.space}},
			       .flags = S3_NO_RETRY};
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
			store->config.options->endpoint);
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
	st = s3_config_init(&store->config, opts, config->space, config->mark, config->durability,
			    err);
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
	limits->sessions_max = 0;
	limits->id_max = limits->path_max = limits->rel_max = limits->doc_max = 0;
	limits->key_max = s3_key_most(&store->config);
	limits->binary_max = S3_BINARY_MAX;
	return BK_OK;
}

/* The mark put once more, if it is not there: a server that takes it would take any such create. */
static bk_status sto_try_create(struct bk_store *store, struct bk_error *err)
{
	struct s3_hand hand = sto_hand(store);
	struct s3_buf key = {0}, text = {0};
	struct bk_error here = bk_error_init();
	struct s3_request r = {.what = "put",
			       .method = "PUT",
			       .bucket = store->config.at.bucket,
			       .headers = {{"if-none-match", "*"}}};
	bk_status st;

	if (!store->config.create)
		return BK_OK;
	s3_buf_putf(&key, "%s" OWN_MARK, store->config.at.space);
	s3_buf_putf(&text, "%s\ns3\n", store->config.mark);
	if (key.failed || text.failed) {
		st = bk_fail(&here, BK_NOMEM, 0, "s3: out of memory");
	} else {
		r.key = bk_slice_of(key.data, key.len);
		r.body = text.data;
		r.body_len = text.len;
		st = s3_call(hand.t, hand.link, &r, &here);
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

static bk_status sto_make_once(struct bk_store *store, struct bk_error *err)
{
	struct s3_hand hand = sto_hand(store);
	const struct own_doors doors = s3_doors(&hand);
	struct own_look look;
	bk_status st = own_look(&look, &doors, err);

	if (st == BK_OK)
		st = own_make(&doors, &look, err);
	return st == BK_OK ? sto_try_create(store, err) : st;
}

/* Another store's unmake() may take the bucket away in between. */
static bk_status sto_make(struct bk_store *store, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = BK_OK;
	int tries;

	for (tries = 0; tries < 3; tries++) {
		st = sto_make_once(store, &here);
		if (st != BK_NOT_FOUND)
			break;
	}
	if (st != BK_OK)
		s3_error_pass(err, &here);
	return st;
}

static bk_status sto_clear(struct bk_store *store, struct bk_error *err)
{
	struct s3_hand hand = sto_hand(store);
	const struct own_doors doors = s3_doors(&hand);
	struct s3_buf mark = {0};
	struct own_look look;
	bk_status st = own_look(&look, &doors, err);

	if (st != BK_OK)
		return st;
	if (look.owner == OWN_FOREIGN)
		return own_foreign(&doors, "clear", &look, err);
	if (look.owner != OWN_OURS)
		return bk_fail(err, BK_NOT_FOUND, 0,
			       "s3: clear: the store '%s' in bucket '%s' has not been made",
			       store->config.at.space, store->config.at.bucket);
	s3_buf_putf(&mark, "%s" OWN_MARK, store->config.at.space);
	st = mark.failed ? bk_fail(err, BK_NOMEM, 0, "s3: out of memory")
			 : s3_purge(hand.t, hand.link, store->config.at.bucket,
				    store->config.at.space, mark.data, err);
	s3_buf_free(&mark);
	return st;
}

/* All but the mark goes first, then the mark. */
static bk_status sto_unmake_once(struct bk_store *store, struct bk_error *err)
{
	struct s3_hand hand = sto_hand(store);
	const struct own_doors doors = s3_doors(&hand);
	struct own_look look;
	bk_status st = own_look(&look, &doors, err);

	if (st == BK_OK && look.owner == OWN_FOREIGN)
		return own_foreign(&doors, "remove", &look, err);
	if (st == BK_OK && look.owner == OWN_OURS) {
		st = sto_clear(store, err);
		if (st == BK_OK)
			st = s3_purge(hand.t, hand.link, store->config.at.bucket,
				      store->config.at.space, NULL, err);
	}
	return st == BK_OK ? own_unmake(&doors, &look, err) : st;
}

/* Somebody who was killed may have a last request on its way: CONFLICT, the bucket is not empty. */
static bk_status sto_unmake(struct bk_store *store, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = BK_OK;
	int tries;

	for (tries = 0; tries < 3; tries++) {
		st = sto_unmake_once(store, &here);
		if (st != BK_CONFLICT && st != BK_NOT_FOUND)
			break;
	}
	if (st != BK_OK)
		s3_error_pass(err, &here);
	return st;
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
