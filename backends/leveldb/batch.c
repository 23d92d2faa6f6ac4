/*
 * batch.c - put_many: one WriteBatch for all nodes of a call, all or none.
 *
 * What earlier nodes of the call add is known by seen.c.  A call that names one id twice is rare;
 * it goes through an overlay instead, where each node sees the one before.
 */
#include "ldb.h"

#define AHEAD 8u

/* Hashes are computed a few nodes ahead, so that the filter's memory is there when it is asked. */
static struct ldb_hashes look_ahead(struct bk_session *s, const struct bk_node *node)
{
	struct ldb_hashes hashes = ldb_hashes_of(node);

	ldb_absent_prefetch(&s->store->absent, hashes.id);
	ldb_absent_prefetch(&s->store->absent, hashes.path);
	return hashes;
}

static bk_status put_each(struct bk_session *s, const struct bk_node *nodes, size_t n,
			  uint32_t mode, bool *repeats, struct bk_error *err)
{
	struct ldb_hashes ahead[AHEAD], hashes;
	char text[LDB_NAME_TEXT];
	bk_status status = BK_OK;
	size_t i;

	for (i = 0; i < n && i < AHEAD; i++)
		ahead[i] = look_ahead(s, &nodes[i]);
	for (i = 0; i < n && status == BK_OK; i++) {
		hashes = ahead[i % AHEAD];
		if (i + AHEAD < n)
			ahead[i % AHEAD] = look_ahead(s, &nodes[i + AHEAD]);
		if (s->seen && ldb_seen_add(s->seen, i, hashes)) {
			if (mode & BK_PUT_REPLACE) {
				*repeats = true;
				return BK_OK;
			}
			status = bk_fail(err, BK_EXISTS, 0, "id '%s' is taken",
					 ldb_name(text, nodes[i].id));
		} else {
			status = ldb_apply_put(s, &nodes[i], hashes, mode, err);
		}
		if (status != BK_OK)
			err->item = i;
	}
	return status;
}

static bk_status put_through_overlay(struct bk_session *s, const struct bk_node *nodes, size_t n,
				     uint32_t mode, struct bk_error *err)
{
	struct ldb_overlay *overlay = &s->txn.overlay;
	bool repeats;
	bk_status status;

	leveldb_writebatch_clear(s->batch);
	ldb_overlay_reset(overlay);
	s->sink = overlay;
	status = put_each(s, nodes, n, mode, &repeats, err);
	if (status == BK_OK && overlay->failed)
		status = ldb_nomem(err);
	s->sink = NULL;
	if (status == BK_OK)
		ldb_overlay_to_batch(s, overlay);
	ldb_overlay_reset(overlay);
	return status;
}

bk_status ldb_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			    uint32_t mode, struct bk_error *err)
{
	struct ldb_locks locks;
	bk_status status = BK_OK;
	bool repeats = false;
	size_t i;

	if (n > UINT32_MAX / 4)
		return bk_fail(err, BK_TOO_LARGE, 0, "%zu nodes in one call", n);
	ldb_locks_init(&locks);
	locks.whole = n > LDB_HELD_MAX;
	for (i = 0; i < n; i++) {
		status = ldb_check_node(err, &nodes[i], mode);
		if (status != BK_OK) {
			err->item = i;
			return status;
		}
		if (!locks.whole)
			ldb_locks_for_put(&locks, &nodes[i], ldb_hashes_of(&nodes[i]), mode);
	}
	status = ldb_change_begin(s, &locks, err);
	if (status != BK_OK)
		return status;
	if (!s->txn.active) {
		s->seen = ldb_seen_start(s, nodes, n);
		if (!s->seen)
			status = ldb_nomem(err);
	}
	if (status == BK_OK)
		status = put_each(s, nodes, n, mode, &repeats, err);
	s->seen = NULL;
	if (status == BK_OK && repeats)
		status = put_through_overlay(s, nodes, n, mode, err);
	return ldb_change_end(s, &locks, status, err);
}
