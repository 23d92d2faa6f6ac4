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
	s3_cursor_free(&s->cursor.list);
	l3_call_free(&s->reader.call);
	s3_buf_free(&s->reader.key);
	s3_buf_free(&s->reader.in.spill);
	s3_buf_free(&s->writer.key);
	free(s->writer.hold.data);
	s3_buf_free(&s->key);
	free(s);
}

static bk_status ses_open(struct bk_session **out, struct bk_store *store,
			  const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s;
	struct l3_hand hand;
	struct own_doors doors;
	bk_status st = s3_site_session(&store->site, config->durability, err);

	if (st != BK_OK)
		return st;
	s = calloc(1, sizeof(*s));
	if (!s)
		return s3_no_memory(&store->site, err);
	s->store = store;
	s->reader.session = s->cursor.session = s->writer.session = s;
	s->call.link = s->reader.call.link = &s->link;
	st = l3_link_init(&s->link, store, config->timeout_ns, err);
	if (st == BK_OK) {
		l3_link_enter(&s->link);
		hand = (struct l3_hand){&s->link, &s->call};
		doors = l3_doors(&hand);
		st = own_session(&doors, err);
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
	s3_pace_tell_tries(&s->link.pace, sink);
	s3_pace_tell_bytes(&s->link.pace, sink);
}

const struct bk_session_ops l3_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = ses_open,
	.close = ses_close,
	.cancel = ses_cancel,
	.counters = ses_counters,
};
