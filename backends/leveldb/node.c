/*
 * node.c - put, append and remove: arguments, locks, changes, one write.
 */
#include "ldb.h"

#define BATCH_KEEP (4u << 20) /* a batch that grew past this is made anew */

static bk_status check_links(struct bk_error *err, const struct bk_link *links, size_t n)
{
	bk_status status = BK_OK;
	size_t i;

	for (i = 0; i < n && status == BK_OK; i++) {
		status = ldb_check_name(err, links[i].rel, "a link's relation");
		if (status == BK_OK)
			status = ldb_check_name(err, links[i].target, "a link's target");
	}
	return status;
}

static bk_status check_doc(struct bk_error *err, struct bk_slice doc)
{
	if (doc.len > LDB_DOC_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "the document has %zu bytes; the limit is %u",
			       doc.len, LDB_DOC_MAX);
	return BK_OK;
}

bk_status ldb_check_node(struct bk_error *err, const struct bk_node *node, uint32_t mode)
{
	bk_status status;

	if (mode == 0 || (mode & ~BK_PUT_UPSERT))
		return bk_fail(err, BK_INVALID, 0, "put mode %u is unknown", mode);
	status = ldb_check_name(err, node->id, "the id");
	if (status == BK_OK)
		status = ldb_check_path(err, node->path);
	if (status == BK_OK && node->parent.len)
		status = ldb_check_name(err, node->parent, "the parent's id");
	if (status == BK_OK)
		status = check_doc(err, node->doc);
	if (status == BK_OK)
		status = check_links(err, node->links, node->link_count);
	return status;
}

struct ldb_hashes ldb_hashes_of(const struct bk_node *node)
{
	struct ldb_hashes h;

	h.id = ldb_hash(LDB_KEY_NODE, node->id);
	h.path = ldb_hash(LDB_KEY_PATH, node->path);
	return h;
}

void ldb_locks_for_put(struct ldb_locks *locks, const struct bk_node *node,
		       struct ldb_hashes hashes, uint32_t mode)
{
	ldb_locks_add(locks, hashes.id, true);
	if (!(mode & BK_PUT_CREATE))
		return;
	ldb_locks_add(locks, hashes.path, true);
	if (node->parent.len)
		ldb_locks_add(locks, ldb_hash(LDB_KEY_NODE, node->parent), false);
}

static bk_status refuse_after_failure(struct bk_store *store, struct bk_error *err)
{
	bk_status status;

	pthread_mutex_lock(&store->mutex);
	status = store->failure.status;
	bk_fail(err, status, store->failure.vendor_code,
		"no more writes until the store is closed and opened again, since one failed: %s",
		store->failure.message);
	pthread_mutex_unlock(&store->mutex);
	return status;
}

/* After a write that failed half-way LevelDB goes on behind the torn record of its log, where
 * recovery no longer finds what it acknowledges.  So the first failure is the last write. */
static void fail_store(struct bk_store *store, const struct bk_error *err)
{
	pthread_mutex_lock(&store->mutex);
	if (!atomic_load(&store->failed))
		store->failure = *err;
	atomic_store(&store->failed, true);
	pthread_mutex_unlock(&store->mutex);
}

bk_status ldb_write(struct bk_session *s, struct bk_error *err)
{
	char *text = NULL;
	bk_status status;

	if (atomic_load_explicit(&s->store->failed, memory_order_relaxed))
		return refuse_after_failure(s->store, err);
	s->requests++;
	leveldb_write(s->store->db, s->wo, s->batch, &text);
	if (!text)
		return BK_OK;
	status = ldb_error(err, text, "write to", s->store->db_folder);
	err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	fail_store(s->store, err);
	return status;
}

void ldb_empty_batch(struct bk_session *s)
{
	if (s->batch_bytes > BATCH_KEEP) {
		leveldb_writebatch_destroy(s->batch);
		s->batch = leveldb_writebatch_create();
	} else if (s->batch_bytes) {
		leveldb_writebatch_clear(s->batch);
	}
	s->batch_bytes = 0;
}

bk_status ldb_change_begin(struct bk_session *s, struct ldb_locks *locks, struct bk_error *err)
{
	s->oom = false;
	ldb_arena_reset(&s->arena);
	if (s->txn.active && s->txn.read_only)
		return bk_fail(err, BK_STATE, 0, "the transaction was begun read-only");
	if (s->txn.active)
		ldb_overlay_mark(s->sink);
	else
		ldb_locks_take(s->store, locks);
	return BK_OK;
}

bk_status ldb_change_end(struct bk_session *s, struct ldb_locks *locks, bk_status status,
			 struct bk_error *err)
{
	if (status == BK_OK && (s->oom || (s->sink && s->sink->failed)))
		status = ldb_nomem(err);
	if (s->txn.active) {
		if (status == BK_OK)
			s->sink->ordinal++;
		else
			ldb_overlay_back(s->sink);
		return status;
	}
	if (status == BK_OK)
		status = ldb_write(s, err);
	ldb_empty_batch(s);
	ldb_locks_drop(s->store, locks, status == BK_OK);
	return status;
}

bk_status ldb_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		       struct bk_error *err)
{
	const struct ldb_hashes hashes = ldb_hashes_of(node);
	struct ldb_locks locks;
	bk_status status;

	/* While the arguments are checked, the filter's memory is on its way. */
	ldb_absent_prefetch(&s->store->absent, hashes.id);
	ldb_absent_prefetch(&s->store->absent, hashes.path);
	status = ldb_check_node(err, node, mode);
	if (status != BK_OK)
		return status;
	ldb_locks_init(&locks);
	if (!s->txn.active)
		ldb_locks_for_put(&locks, node, hashes, mode);
	status = ldb_change_begin(s, &locks, err);
	if (status != BK_OK)
		return status;
	return ldb_change_end(s, &locks, ldb_apply_put(s, node, hashes, mode, err), err);
}

/* A change under the name of one node. */
static bk_status begin_one(struct bk_session *s, struct ldb_locks *locks, struct bk_slice id,
			   struct bk_error *err)
{
	ldb_locks_init(locks);
	ldb_locks_add(locks, ldb_hash(LDB_KEY_NODE, id), true);
	return ldb_change_begin(s, locks, err);
}

bk_status ldb_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			  const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	struct ldb_locks locks;
	bk_status status = ldb_check_name(err, id, "the id");

	if (status == BK_OK)
		status = check_doc(err, tail);
	if (status == BK_OK)
		status = check_links(err, links, link_count);
	if (status != BK_OK)
		return status;
	status = begin_one(s, &locks, id, err);
	if (status != BK_OK)
		return status;
	return ldb_change_end(s, &locks, ldb_apply_append(s, id, tail, links, link_count, err),
			      err);
}

bk_status ldb_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	struct ldb_locks locks;
	bk_status status = ldb_check_name(err, id, "the id");

	if (status != BK_OK)
		return status;
	status = begin_one(s, &locks, id, err);
	if (status != BK_OK)
		return status;
	status = ldb_apply_remove(s, id, err);
	/* Before the write, so that nobody trusts in this parent after it is gone. */
	if (status == BK_OK && !s->txn.active)
		atomic_fetch_add(&s->store->removals, 1);
	return ldb_change_end(s, &locks, status, err);
}
