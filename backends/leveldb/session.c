/*
 * session.c - one worker's connection: its options and scratch memory.
 */
#include "ldb.h"

#include <stdlib.h>

static bk_status ldb_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	const uint8_t verify = store->opts->verify_checksums;
	struct bk_session *s;
	bk_status status;

	if (config->durability > BK_DURABLE_MACHINE)
		return bk_fail(err, BK_INVALID, 0, "durability %u is unknown", config->durability);
	status = ldb_db_open(store, false, err);
	if (status != BK_OK)
		return status;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ldb_nomem(err);
	s->store = store;
	ldb_locks_session(store, 1);
	s->lent = &s->lents[0];
	s->sync = config->durability == BK_DURABLE_MACHINE;
	s->ro = leveldb_readoptions_create();
	s->wo = leveldb_writeoptions_create();
	s->batch = leveldb_writebatch_create();
	s->txn.ro = leveldb_readoptions_create();
	ldb_overlay_init(&s->txn.overlay);
	leveldb_readoptions_set_verify_checksums(s->ro, verify);
	leveldb_readoptions_set_verify_checksums(s->txn.ro, verify);
	leveldb_writeoptions_set_sync(s->wo, s->sync);
	*out = s;
	return BK_OK;
}

static void ldb_session_close(struct bk_session *s)
{
	if (!s)
		return;
	ldb_txn_end(s);
	ldb_locks_session(s->store, -1);
	ldb_cursor_free(s->cursor);
	ldb_overlay_free(&s->txn.overlay);
	ldb_lent_free(s);
	ldb_buf_free(&s->key);
	ldb_buf_free(&s->val);
	ldb_buf_free(&s->enc);
	ldb_buf_free(&s->grown);
	ldb_buf_free(&s->parent);
	ldb_links_free(&s->links);
	ldb_links_free(&s->old_links);
	ldb_arena_free(&s->arena);
	ldb_many_free(s->many);
	ldb_seen_free(s->seen_kept);
	leveldb_readoptions_destroy(s->ro);
	leveldb_readoptions_destroy(s->txn.ro);
	leveldb_writeoptions_destroy(s->wo);
	leveldb_writebatch_destroy(s->batch);
	free(s);
}

static void ldb_session_counters(struct bk_session *s, const struct bk_sink *sink)
{
	sink->put_u64(sink->ctx, "requests", s->requests, "count", 0);
}

const struct bk_session_ops ldb_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = ldb_session_open,
	.close = ldb_session_close,
	.counters = ldb_session_counters,
};
