/*
 * session.c - one worker's connections, and what it counts.
 *
 * The one invariant: a session opens only on a store that is made, and its first request has been
 * answered: connecting and the TLS handshake are behind it, and known.
 */
#include "bucket.h"
#include "s3.h"

static void ses_close(struct bk_session *s)
{
	if (!s)
		return;
	s3_orphans_end(s);
	s3_reader_free(&s->reader);
	s3_writer_free(&s->writer);
	s3_listing_free(&s->cursor.page);
	s3_buf_free(&s->cursor.keys);
	s3_transfer_free(&s->call);
	s3_link_free(&s->link);
	s3_buf_free(&s->key);
	free(s);
}

static bk_status ses_check_mark(struct bk_session *s, struct bk_error *err)
{
	const struct s3_config *c = &s->store->config;
	struct s3_request r = {
		.what = "open of a session", .method = "GET", .bucket = c->at.bucket};
	struct bk_error here = bk_error_init();
	struct s3_hand hand = {&s->link, &s->call};
	const struct own_doors doors = s3_doors(&hand);
	char why[300];
	bk_status st;

	s3_buf_putf(&s->key, "%s" OWN_MARK, c->at.space);
	if (s->key.failed)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	r.key = bk_slice_of(s->key.data, s->key.len);
	st = s3_call(&s->call, &s->link, &r, &here);
	if (st == BK_NOT_FOUND)
		return bk_fail(err, BK_NOT_FOUND, 404,
			       "s3: session: the store '%s' in bucket '%s' has not been made",
			       c->at.space, c->at.bucket);
	if (st != BK_OK) {
		s3_error_pass(err, &here);
		return st;
	}
	if (!own_judge(why, &doors, s3_buf_str(&s->call.answer.body)))
		return bk_fail(err, BK_FOREIGN, 0, "s3: session: '%s' in bucket '%s': %s",
			       c->at.space, c->at.bucket, why);
	return BK_OK;
}

static bk_status ses_open(struct bk_session **out, struct bk_store *store,
			  const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s;
	bk_status st;

	if (config->durability > store->config.durability)
		return bk_fail(
			err, BK_INVALID, 0,
			"s3: a session may ask for durability '%s' at most, as the store did",
			s3_durability_names[store->config.durability]);
	s = calloc(1, sizeof(*s));
	if (!s)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	s->store = store;
	s->reader.session = s->cursor.session = s;
	st = s3_link_init(&s->link, &store->config, config->timeout_ns, err);
	if (st == BK_OK && !s3_writer_init(&s->writer, s))
		st = bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	s3_link_enter(&s->link);
	if (st == BK_OK)
		st = ses_check_mark(s, err);
	if (st != BK_OK) {
		ses_close(s);
		return st;
	}
	*out = s;
	return BK_OK;
}

static void ses_cancel(struct bk_session *s)
{
	s3_link_cancel(&s->link);
}

static void ses_counters(struct bk_session *s, const struct bk_sink *sink)
{
	const struct s3_counters *c = &s->link.counters;

	sink->put_u64(sink->ctx, "requests", c->requests, "count", 0);
	sink->put_u64(sink->ctx, "retries", c->retries, "count", 0);
	sink->put_u64(sink->ctx, "reconnects", c->reconnects, "count", 0);
	sink->put_u64(sink->ctx, "bytes.sent", c->bytes_sent, "bytes", 0);
	sink->put_u64(sink->ctx, "bytes.received", c->bytes_received, "bytes", 0);
	sink->put_u64(sink->ctx, "connect.ns", c->connect_ns, "ns", 0);
	sink->put_u64(sink->ctx, "tls.ns", c->tls_ns, "ns", 0);
}

const struct bk_session_ops s3_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = ses_open,
	.close = ses_close,
	.cancel = ses_cancel,
	.counters = ses_counters,
};
