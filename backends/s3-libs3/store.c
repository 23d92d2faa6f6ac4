/*
 * store.c - the store: open, make, clear, unmake, inspect.
 *
 * The one invariant: every destructive step is preceded by a look at the mark.
 */
#include "l3.h"

#include <pthread.h>

static void sto_close(struct bk_store *store)
{
	if (!store)
		return;
	l3_link_free(&store->link);
	l3_call_free(&store->call);
	s3_endpoint_free(&store->at);
	free(store->mark);
	free(store);
}

static bk_status sto_configure(struct bk_store *store, const struct bk_store_config *config,
			       struct bk_error *err)
{
	const struct l3_options *o = store->options;
	bk_status st;

	if (config->durability > o->durability)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       L3_NAME
			       ": durability '%s' is asked for and '%s' declared; S3 cannot "
			       "be asked what it promises: when the server's documentation "
			       "says so, set durability=%s",
			       l3_durability_names[config->durability & 3],
			       l3_durability_names[o->durability],
			       l3_durability_names[config->durability & 3]);
	st = s3_endpoint_parse(&store->at, L3_NAME, o->endpoint, o->bucket, o->prefix,
			       config->space, err);
	if (st != BK_OK)
		return st;
	if (store->at.tls && !o->insecure_tls)
		return bk_fail(err, BK_INVALID, 0,
			       L3_NAME ": https is refused: libs3 2.0 does not check certificates; "
				       "use the backend s3, or set insecure-tls=yes");
	if (!o->access_key || !o->access_key[0] || !o->secret_key || !o->secret_key[0])
		return bk_fail(err, BK_INVALID, 0,
			       L3_NAME ": no keys; set access-key and secret-key, or the variables "
				       "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
	store->mark = strdup(config->mark);
	return store->mark ? BK_OK : bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
}

/* Does the server answer, and to these keys?  A bucket that is not there is fine. */
static bk_status sto_reach(struct bk_store *store, struct bk_error *err)
{
	const struct own_doors doors = l3_doors(store);
	struct bk_error here = bk_error_init();
	struct s3_buf key = {0};
	size_t count = 0;
	bk_status st =
		doors.first(store, &count, &key, store->at.bucket, store->at.space, 1, &here);

	s3_buf_free(&key);
	if (st == BK_OK || store->call.status == S3StatusErrorNoSuchBucket)
		return BK_OK;
	s3_error_pass(err, &here);
	return st;
}

static void sto_libs3_start(void)
{
	S3_initialize("bakeoff", S3_INIT_ALL, NULL);
}

static bk_status sto_open(struct bk_store **out, const struct bk_host *host,
			  const struct bk_store_config *config, const void *opts,
			  struct bk_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct bk_store *store;
	bk_status st;

	pthread_once(&once, sto_libs3_start);
	store = calloc(1, sizeof(*store));
	if (!store)
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
	store->options = opts;
	store->durability = config->durability;
	st = sto_configure(store, config, err);
	if (st == BK_OK)
		st = l3_link_init(&store->link, store, 0, err);
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
	*native = l3_backend.native;
	*emulated = l3_backend.emulated;
	limits->sessions_max = 0;
	limits->id_max = limits->path_max = limits->rel_max = limits->doc_max = 0;
	limits->key_max = l3_key_most(store);
	limits->binary_max = L3_BINARY_MAX;
	return BK_OK;
}

static bk_status sto_make(struct bk_store *store, struct bk_error *err)
{
	const struct own_doors doors = l3_doors(store);
	struct bk_error here = bk_error_init();
	struct own_look look;
	bk_status st = BK_OK;
	int tries;

	l3_link_enter(&store->link);
	/* Another store's unmake() may take the bucket away in between. */
	for (tries = 0; tries < 3; tries++) {
		st = own_look(&look, &doors, &here);
		if (st == BK_OK)
			st = own_make(&doors, &look, &here);
		if (st != BK_NOT_FOUND)
			break;
	}
	if (st != BK_OK)
		s3_error_pass(err, &here);
	return st;
}

/* ---- Emptying ------------------------------------------------------------- */

/* The keys of one page; libs3 2.0 deletes one object a request. */
static bk_status sto_delete_page(struct bk_store *store, const char *keys, size_t n,
				 const char *keep, struct bk_error *err)
{
	const struct own_doors doors = l3_doors(store);
	size_t prefix = strlen(store->at.space), i;
	bk_status st = BK_OK;

	for (i = 0; st == BK_OK && i < n; i++, keys += strlen(keys) + 1) {
		if (strncmp(keys, store->at.space, prefix) != 0 ||
		    (keep && strcmp(keys, keep) == 0))
			continue;
		st = doors.remove(store, keys, err);
	}
	return st;
}

static bk_status sto_purge(struct bk_store *store, const char *keep, struct bk_error *err)
{
	struct l3_call *c = &store->call;
	struct s3_buf keys = {0}, marker = {0};
	const char *last;
	bool more = true;
	bk_status st = BK_OK;
	size_t n, i;

	while (st == BK_OK && more) {
		*c = (struct l3_call){.link = &store->link,
				      .what = "list",
				      .begin = l3_begin_list,
				      .prefix = store->at.space,
				      .marker = marker.len ? marker.data : NULL,
				      .most = L3_PAGE,
				      .text = c->text,
				      .sizes = c->sizes,
				      .sizes_cap = c->sizes_cap};
		st = l3_call(c, err);
		if (st != BK_OK)
			break;
		n = c->listed;
		more = c->more && n;
		s3_buf_reset(&keys); /* the call is used again to delete */
		s3_buf_put(&keys, s3_buf_str(&c->text), c->text.len);
		for (last = keys.data, i = 1; i < n; i++)
			last += strlen(last) + 1;
		s3_buf_reset(&marker);
		if (n)
			s3_buf_puts(&marker, last);
		st = keys.failed || marker.failed
			     ? bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory")
			     : sto_delete_page(store, keys.data, n, keep, err);
	}
	s3_buf_free(&keys);
	s3_buf_free(&marker);
	return st;
}

static bk_status sto_clear(struct bk_store *store, struct bk_error *err)
{
	const struct own_doors doors = l3_doors(store);
	struct s3_buf mark = {0};
	struct own_look look;
	bk_status st;

	l3_link_enter(&store->link);
	st = own_look(&look, &doors, err);
	if (st != BK_OK)
		return st;
	if (look.owner == OWN_FOREIGN)
		return own_foreign(&doors, "clear", &look, err);
	if (look.owner != OWN_OURS)
		return bk_fail(err, BK_NOT_FOUND, 0,
			       L3_NAME ": clear: the store '%s' in bucket '%s' has not been made",
			       store->at.space, store->at.bucket);
	s3_buf_putf(&mark, "%s" OWN_MARK, store->at.space);
	st = mark.failed ? bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory")
			 : sto_purge(store, mark.data, err);
	s3_buf_free(&mark);
	return st;
}

static bk_status sto_unmake_once(struct bk_store *store, struct bk_error *err)
{
	const struct own_doors doors = l3_doors(store);
	struct own_look look;
	bk_status st = own_look(&look, &doors, err);

	if (st == BK_OK && look.owner == OWN_FOREIGN)
		return own_foreign(&doors, "remove", &look, err);
	if (st == BK_OK && look.owner == OWN_OURS) {
		st = sto_clear(store, err);
		if (st == BK_OK)
			st = sto_purge(store, NULL, err);
	}
	return st == BK_OK ? own_unmake(&doors, &look, err) : st;
}

/* Somebody who was killed may have a last request on its way: CONFLICT, the bucket is not empty. */
static bk_status sto_unmake(struct bk_store *store, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	bk_status st = BK_OK;
	int tries;

	l3_link_enter(&store->link);
	for (tries = 0; tries < 3; tries++) {
		st = sto_unmake_once(store, &here);
		if (st != BK_CONFLICT && st != BK_NOT_FOUND)
			break;
	}
	if (st != BK_OK)
		s3_error_pass(err, &here);
	return st;
}

/* ---- Inspecting ----------------------------------------------------------- */

static bk_status sto_sizes(struct bk_store *store, const struct bk_sink *sink, struct bk_error *err)
{
	struct l3_call c = {.link = &store->link,
			    .what = "list",
			    .begin = l3_begin_list,
			    .prefix = store->at.space,
			    .most = L3_PAGE};
	struct s3_buf marker = {0}, own = {0};
	uint64_t count = 0, bytes = 0;
	const char *key;
	bk_status st;
	size_t i;

	do {
		st = l3_call(&c, err);
		key = s3_buf_str(&c.text);
		for (i = 0; st == BK_OK && i < c.listed; i++, key += strlen(key) + 1) {
			s3_buf_reset(&marker);
			s3_buf_puts(&marker, key);
			s3_buf_reset(&own);
			if (l3_key_own(&own, store, key)) {
				count++;
				bytes += c.sizes[i];
			}
		}
		c.marker = s3_buf_str(&marker);
	} while (st == BK_OK && c.more && c.listed);
	if (st == BK_OK) {
		sink->put_u64(sink->ctx, "binaries.count", count, "count", 0);
		sink->put_u64(sink->ctx, "storage.bytes", bytes, "bytes", 0);
	}
	l3_call_free(&c);
	s3_buf_free(&marker);
	s3_buf_free(&own);
	return st;
}

static bk_status sto_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			     struct bk_error *err)
{
	l3_link_enter(&store->link);
	if (what & BK_INSPECT_IDENTITY) {
		sink->put_str(sink->ctx, "server.product", "an S3 server, through libs3 2.0");
		sink->put_str(sink->ctx, "server.version", "unsupported");
		sink->put_str(sink->ctx, "server.endpoint", store->options->endpoint);
		sink->put_str(sink->ctx, "bucket.name", store->at.bucket);
		sink->put_str(sink->ctx, "bucket.prefix", store->at.space);
		sink->put_str(sink->ctx, "transport", store->at.tls ? "https" : "http");
		sink->put_str(sink->ctx, "signature", "version 2");
		sink->put_str(sink->ctx, "durability.declared",
			      l3_durability_names[store->options->durability]);
		sink->flag(sink->ctx, "durability-declared",
			   "S3 cannot be asked what it promises: the durability is what you "
			   "declared");
		if (store->at.tls)
			sink->flag(sink->ctx, "tls-unverified",
				   "libs3 2.0 does not check the server's certificate");
	}
	if (what & BK_INSPECT_COUNTERS) {
		sink->put_u64(sink->ctx, "requests", store->link.counters.requests, "count", 0);
		sink->put_u64(sink->ctx, "retries", store->link.counters.retries, "count", 0);
	}
	return what & BK_INSPECT_SIZE ? sto_sizes(store, sink, err) : BK_OK;
}

const struct bk_store_ops l3_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = sto_open,
	.close = sto_close,
	.features = sto_features,
	.make = sto_make,
	.clear = sto_clear,
	.unmake = sto_unmake,
	.inspect = sto_inspect,
};
