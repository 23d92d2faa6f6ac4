/*
 * store.c - the store: open, make, clear, unmake, inspect.  What they do is in s3-common.
 *
 * The one invariant: each call of the control thread forgets an earlier cancel first.
 */
#include "l3.h"

#include <pthread.h>

static void sto_close(struct bk_store *store)
{
	if (!store)
		return;
	l3_link_free(&store->link);
	l3_call_free(&store->call);
	s3_site_free(&store->site);
	free(store);
}

/* For the control thread's calls. */
static struct own_doors sto_doors(struct l3_hand *hand, struct bk_store *store)
{
	*hand = (struct l3_hand){&store->link, &store->call};
	l3_link_enter(&store->link);
	return l3_doors(hand);
}

static bk_status sto_configure(struct bk_store *store, const struct bk_store_config *config,
			       struct bk_error *err)
{
	bk_status st = s3_site_init(&store->site, L3_NAME, &store->options->access, config, err);

	if (st == BK_OK && store->site.at.tls && !store->options->insecure_tls)
		return bk_fail(err, BK_INVALID, 0,
			       L3_NAME ": https is refused: libs3 2.0 does not check certificates; "
				       "use the backend s3, or set insecure-tls=yes");
	return st;
}

/* Does the server answer, and to these keys?  A bucket that is not there is fine. */
static bk_status sto_reach(struct bk_store *store, struct bk_error *err)
{
	struct l3_hand hand;
	const struct own_doors doors = sto_doors(&hand, store);
	struct bk_error here = bk_error_init();
	struct s3_buf key = {0};
	size_t count = 0;
	bk_status st = own_first(&count, &key, &doors, store->site.at.bucket, store->site.at.space,
				 1, &here);

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
	s3_site_limits(limits, l3_key_most(store), L3_BINARY_MAX);
	return BK_OK;
}

static bk_status sto_make(struct bk_store *store, struct bk_error *err)
{
	struct l3_hand hand;
	const struct own_doors doors = sto_doors(&hand, store);

	return own_make(&doors, err);
}

static bk_status sto_clear(struct bk_store *store, struct bk_error *err)
{
	struct l3_hand hand;
	const struct own_doors doors = sto_doors(&hand, store);

	return own_clear(&doors, err);
}

static bk_status sto_unmake(struct bk_store *store, struct bk_error *err)
{
	struct l3_hand hand;
	const struct own_doors doors = sto_doors(&hand, store);

	return own_unmake(&doors, err);
}

static bk_status sto_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			     struct bk_error *err)
{
	struct l3_hand hand;
	const struct own_doors doors = sto_doors(&hand, store);

	if (what & BK_INSPECT_IDENTITY) {
		sink->put_str(sink->ctx, "server.product", "an S3 server, through libs3 2.0");
		sink->put_str(sink->ctx, "server.version", "unsupported");
		s3_site_tell(&store->site, sink);
		sink->put_str(sink->ctx, "signature", "version 2");
		if (store->site.at.tls)
			sink->flag(sink->ctx, "tls-unverified",
				   "libs3 2.0 does not check the server's certificate");
	}
	if (what & BK_INSPECT_COUNTERS)
		s3_pace_tell_tries(&store->link.pace, sink);
	return what & BK_INSPECT_SIZE ? s3_sizes_tell(&doors, sink, err) : BK_OK;
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
