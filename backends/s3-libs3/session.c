/*
 * session.c - one worker's request context, and what it counts.  Connections are libs3's business:
 * it does not say when it makes one.
 */
#include "l3.h"

static void ses_close(struct bk_session *s)
{
	if (!s)
		return;
	l3_link_free(&s->link);
	l3_call_free(&s->call);
	l3_call_free(&s->cursor.page);
	s3_buf_free(&s->cursor.marker);
	s3_buf_free(&s->cursor.keys);
	l3_call_free(&s->reader.call);
	s3_buf_free(&s->reader.key);
	s3_buf_free(&s->reader.spill);
	s3_buf_free(&s->writer.key);
	free(s->writer.data);
	s3_buf_free(&s->key);
	free(s);
}

static bk_status ses_check_mark(struct bk_session *s, struct bk_error *err)
{
	const struct own_doors doors = l3_doors(s->store);
	struct bk_error here = bk_error_init();
	char why[300];
	bk_status st;

	s3_buf_putf(&s->key, "%s" OWN_MARK, s->store->at.space);
	if (s->key.failed)
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
	s->call.what = "open of a session";
	s->call.key = s->key.data;
	s->call.begin = l3_begin_get;
	st = l3_call(&s->call, &here);
	if (st == BK_NOT_FOUND)
		return bk_fail(err, BK_NOT_FOUND, 404,
			       L3_NAME ": session: the store '%s' in bucket '%s' has not been made",
			       s->store->at.space, s->store->at.bucket);
	if (st != BK_OK) {
		s3_error_pass(err, &here);
		return st;
	}
	if (!own_judge(why, &doors, s3_buf_str(&s->call.text)))
		return bk_fail(err, BK_FOREIGN, 0, L3_NAME ": session: '%s' in bucket '%s': %s",
			       s->store->at.space, s->store->at.bucket, why);
	return BK_OK;
}

static bk_status ses_open(struct bk_session **out, struct bk_store *store,
			  const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s;
	bk_status st;

	if (config->durability > store->durability)
		return bk_fail(err, BK_INVALID, 0,
			       L3_NAME
			       ": a session may ask for durability '%s' at most, as the store did",
			       l3_durability_names[store->durability]);
	s = calloc(1, sizeof(*s));
	if (!s)
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
	s->store = store;
	s->reader.session = s->cursor.session = s->writer.session = s;
	s->call.link = s->reader.call.link = s->cursor.page.link = &s->link;
	st = l3_link_init(&s->link, store, config->timeout_ns, err);
	if (st == BK_OK) {
		l3_link_enter(&s->link);
		st = ses_check_mark(s, err);
	}
	if (st != BK_OK) {
		ses_close(s);
		return st;
	}
	*out = s;
	return BK_OK;
}

static void ses_cancel(struct bk_session *s)
{
	l3_link_cancel(&s->link);
}

static void ses_counters(struct bk_session *s, const struct bk_sink *sink)
{
	const struct l3_counters *c = &s->link.counters;

	sink->put_u64(sink->ctx, "requests", c->requests, "count", 0);
	sink->put_u64(sink->ctx, "retries", c->retries, "count", 0);
	sink->put_u64(sink->ctx, "bytes.sent", c->bytes_sent, "bytes", 0);
	sink->put_u64(sink->ctx, "bytes.received", c->bytes_received, "bytes", 0);
}

const struct bk_session_ops l3_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = ses_open,
	.close = ses_close,
	.cancel = ses_cancel,
	.counters = ses_counters,
};
