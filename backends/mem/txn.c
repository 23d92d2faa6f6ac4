/*
 * txn.c - transactions: changes wait in an overlay of the session's own until commit.
 *
 * The one invariant: the overlay is empty whenever no transaction is open.
 *
 * Isolation.  As it comes (and for READ_COMMITTED): reads see what is committed, before it the
 * transaction's own changes; at commit every node that was written must still be as it was at its
 * first write (append: must still be there), else CONFLICT.  For anything stronger: SERIALIZABLE,
 * the blunt way: as soon as anybody else has committed since begin, the next call answers CONFLICT,
 * so a transaction that ends well ran as if alone.
 */
#include "mem.h"

bool mem_txn_init(struct mem_txn *t)
{
	memset(t, 0, sizeof(*t));
	t->touched_tail = &t->touched;
	t->touched_bins_tail = &t->touched_bins;
	return mem_graph_init(&t->graph) && mem_bins_init(&t->bins);
}

void mem_txn_free(struct mem_txn *t)
{
	mem_graph_free(&t->graph);
	mem_bins_free(&t->bins);
}

static void mem_txn_end(struct mem_txn *t)
{
	mem_graph_clear(&t->graph);
	mem_bins_clear(&t->bins);
	t->touched = NULL;
	t->touched_tail = &t->touched;
	t->touched_bins = NULL;
	t->touched_bins_tail = &t->touched_bins;
	t->ordinal = 0;
	t->open = false;
}

void mem_txn_touch(struct mem_txn *t, struct mem_slot *over, const struct mem_slot *base)
{
	over->seen_version = base && base->state == MEM_FULL ? base->version : 0;
	over->ordinal = t->ordinal;
	over->was_removed = false;
	over->touched_next = NULL;
	*t->touched_tail = over;
	t->touched_tail = &over->touched_next;
}

void mem_txn_touch_bin(struct mem_txn *t, struct mem_bin *over, const struct mem_bin *base)
{
	over->seen_version = base ? base->blob->version : 0;
	over->ordinal = t->ordinal;
	over->touched_next = NULL;
	*t->touched_bins_tail = over;
	t->touched_bins_tail = &over->touched_next;
}

bk_status mem_txn_check(struct bk_session *s, bool write, struct bk_error *err)
{
	struct mem_txn *t = &s->txn;

	if (!t->open)
		return BK_OK;
	if (write && t->read_only)
		return bk_fail(err, BK_STATE, 0, "mem: a write in a read-only transaction");
	if (t->serializable && t->changes != s->store->changes) {
		bk_fail(err, BK_CONFLICT, 0,
			"mem: somebody else has committed since this transaction began");
		err->flags = BK_ERR_RETRY;
		return BK_CONFLICT;
	}
	return BK_OK;
}

static bk_status mem_txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
			       struct bk_error *err)
{
	struct mem_txn *t = &s->txn;

	if (t->open)
		return bk_fail(err, BK_STATE, 0, "mem: begin: a transaction is open already");
	if (*isolation > BK_ISO_SERIALIZABLE)
		return bk_fail(err, BK_INVALID, 0, "mem: begin: no such isolation level: %u",
			       *isolation);
	t->serializable = *isolation > BK_ISO_READ_COMMITTED;
	t->read_only = flags & BK_TXN_READ_ONLY;
	*isolation = t->serializable ? BK_ISO_SERIALIZABLE : BK_ISO_READ_COMMITTED;
	pthread_rwlock_rdlock(&s->store->lock);
	t->changes = s->store->changes;
	pthread_rwlock_unlock(&s->store->lock);
	t->ordinal = 0;
	t->open = true;
	return BK_OK;
}

/* BK_TXN_DEFER is allowed and changes nothing: every write knows its outcome when it returns. */
static bk_status mem_txn_flush(struct bk_session *s, struct bk_error *err)
{
	if (!s->txn.open)
		return bk_fail(err, BK_STATE, 0, "mem: flush: no transaction is open");
	return BK_OK;
}

/* Where it may not, it ends all the same, with its changes dropped. */
static bk_status may_end(struct bk_session *s, const char *what, struct bk_error *err)
{
	const char *open = s->cursor.open   ? "cursor"
			   : s->reader.blob ? "reader"
			   : s->writer.blob ? "writer"
					    : NULL;

	if (!s->txn.open)
		return bk_fail(err, BK_STATE, 0, "mem: %s: no transaction is open", what);
	if (open)
		return bk_fail(err, BK_STATE, 0, "mem: %s: a %s is still open", what, open);
	return BK_OK;
}

static bk_status mem_txn_commit(struct bk_session *s, struct bk_error *err)
{
	bk_status st = may_end(s, "commit", err);

	if (st) {
		mem_txn_end(&s->txn);
		return st;
	}
	pthread_rwlock_wrlock(&s->store->lock);
	st = mem_txn_check(s, false, err);
	if (!st)
		st = mem_txn_apply(s, err);
	pthread_rwlock_unlock(&s->store->lock);
	mem_txn_end(&s->txn);
	return st;
}

static bk_status mem_txn_rollback(struct bk_session *s, struct bk_error *err)
{
	bk_status st = may_end(s, "rollback", err);

	mem_txn_end(&s->txn);
	return st;
}

const struct bk_txn_ops mem_txn_ops = {
	.struct_size = sizeof(struct bk_txn_ops),
	.begin = mem_txn_begin,
	.flush = mem_txn_flush,
	.commit = mem_txn_commit,
	.rollback = mem_txn_rollback,
};
