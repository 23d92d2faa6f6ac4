/*
 * txn.c - transactions: a snapshot to read from and an overlay to write to.
 *
 * Isolation is snapshot: everything read is one moment of the store plus the transaction's own
 * writes; at commit the first one to have changed a node wins and the other gets CONFLICT
 * (txn_commit.c).  DEFER is not made use of: every write answers for itself at once.
 */
#include "ldb.h"

static bk_status ldb_txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
			       struct bk_error *err)
{
	if (s->txn.active)
		return bk_fail(err, BK_STATE, 0, "a transaction is open already");
	if (*isolation > BK_ISO_SERIALIZABLE)
		return bk_fail(err, BK_INVALID, 0, "isolation %u is unknown", *isolation);
	if (*isolation > BK_ISO_SNAPSHOT)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "transactions here are isolated by snapshot, not serializable");
	/* In this order: what the snapshot lacks is noted in the stripes with a later clock. */
	atomic_fetch_add(&s->store->txns, 1);
	s->txn.clock = atomic_load(&s->store->clock);
	s->txn.snapshot = leveldb_create_snapshot(s->store->db);
	leveldb_readoptions_set_snapshot(s->txn.ro, s->txn.snapshot);
	s->txn.active = true;
	s->txn.read_only = (flags & BK_TXN_READ_ONLY) != 0;
	s->txn.serial++;
	s->sink = s->txn.read_only ? NULL : &s->txn.overlay;
	atomic_fetch_add(&s->store->pinned, 1);
	*isolation = BK_ISO_SNAPSHOT;
	return BK_OK;
}

void ldb_txn_end(struct bk_session *s)
{
	if (!s->txn.active)
		return;
	ldb_cursor_cut(s);
	leveldb_readoptions_set_snapshot(s->txn.ro, NULL);
	leveldb_release_snapshot(s->store->db, s->txn.snapshot);
	s->txn.snapshot = NULL;
	s->txn.active = false;
	s->sink = NULL;
	ldb_overlay_reset(&s->txn.overlay);
	atomic_fetch_sub(&s->store->txns, 1);
	atomic_fetch_sub(&s->store->pinned, 1);
}

/* With a cursor open the transaction ends too, without its changes. */
static bk_status ending(struct bk_session *s, struct bk_error *err)
{
	if (!s->txn.active)
		return bk_fail(err, BK_STATE, 0, "no transaction is open");
	if (ldb_cursor_is_open(s)) {
		ldb_txn_end(s);
		return bk_fail(err, BK_STATE, 0,
			       "a cursor is still open; the transaction is rolled back");
	}
	return BK_OK;
}

static bk_status ldb_txn_flush(struct bk_session *s, struct bk_error *err)
{
	return s->txn.active ? BK_OK : bk_fail(err, BK_STATE, 0, "no transaction is open");
}

static bk_status ldb_txn_commit(struct bk_session *s, struct bk_error *err)
{
	bk_status status = ending(s, err);

	if (status != BK_OK)
		return status;
	if (s->sink && ldb_overlay_first(s->sink))
		status = ldb_commit_overlay(s, err);
	ldb_txn_end(s);
	return status;
}

static bk_status ldb_txn_rollback(struct bk_session *s, struct bk_error *err)
{
	bk_status status = ending(s, err);

	if (status == BK_OK)
		ldb_txn_end(s);
	return status;
}

const struct bk_txn_ops ldb_txn_ops = {
	.struct_size = sizeof(struct bk_txn_ops),
	.begin = ldb_txn_begin,
	.flush = ldb_txn_flush,
	.commit = ldb_txn_commit,
	.rollback = ldb_txn_rollback,
};
