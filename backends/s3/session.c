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
	s3_cursor_free(&s->cursor.list);
	s3_transfer_free(&s->call);
	s3_link_free(&s->link);
	s3_buf_free(&s->key);
	free(s);
}

static bk_status ses_open(struct bk_session **out, struct bk_store *store,
			  const struct bk_session_config *config, struct bk_error *err)
{
	bk_status st = s3_site_session(&store->config.site, config->durability, err);
	struct bk_session *s;
	struct s3_hand hand;
	struct own_doors doors;

	if (st != BK_OK)
		return st;
	s = calloc(1, sizeof(*s));
	if (!s)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	s->store = store;
	s->reader.session = s->cursor.session = s;
	st = s3_link_init(&s->link, &store->config, config->timeout_ns, err);
	if (st == BK_OK && !s3_writer_init(&s->writer, s))
		st = bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	s3_link_enter(&s->link);
	hand = (struct s3_hand){&s->link, &s->call};
	doors = s3_doors(&hand);
	if (st == BK_OK)
		st = own_session(&doors, err);
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

	s3_pace_tell_tries(&s->link.pace, sink);
	sink->put_u64(sink->ctx, "reconnects", c->reconnects, "count", 0);
	s3_pace_tell_bytes(&s->link.pace, sink);
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
