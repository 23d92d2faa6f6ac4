/*
 * txn.c - transactions: a copy of the arrays, and the changes as the log will have them.
 *
 * The one invariant: a commit is refused when anybody else has committed since begin, so that
 * whatever ends well ran as if alone.
 */
#include "sound.h"

#include <stdlib.h>

const struct snd_state *snd_seen(const struct bk_session *s)
{
	return s->in_txn ? &s->state : &s->store->state;
}

void snd_views_lapse(struct bk_session *s)
{
	size_t i;

	for (i = 0; i < s->held_count; i++)
		snd_record_drop(s->held[i]);
	s->held_count = 0;
	s->requests++;
}

static void start(struct bk_session *s)
{
	s->in_txn = true;
	s->commits_at_begin = s->store->commits;
	s->changes.len = 0;
	snd_state_copy(&s->state, &s->store->state);
}

static void end(struct bk_session *s)
{
	s->in_txn = s->read_only = false;
	s->changes.len = 0;
	snd_state_free(&s->state);
}

static bk_status commit(struct bk_session *s, struct bk_error *err)
{
	struct bk_store *store = s->store;
	struct snd_state old;
	bk_status st;

	if (s->changes.len && s->commits_at_begin != store->commits) {
		bk_fail(err, BK_CONFLICT, 0, "somebody else has committed since");
		err->flags = BK_ERR_RETRY;
		return BK_CONFLICT;
	}
	if (s->changes.len == 0)
		return BK_OK;
	st = snd_log(store, &s->changes, s->durability, err);
	if (st != BK_OK)
		return st;
	store->commits++;
	old = store->state;
	store->state = s->state;
	s->state = old;
	return BK_OK;
}

/* ---- Around every write -------------------------------------------------------------------------
 */

/* `read_only` doubles as "begun by this call" while no transaction of the caller's is open. */
bk_status snd_write_begin(struct bk_session *s, struct bk_error *err)
{
	snd_views_lapse(s);
	if (s->in_txn && s->read_only)
		return bk_fail(err, BK_STATE, 0, "a write in a read-only transaction");
	if (!s->in_txn) {
		start(s);
		s->read_only = true;
	}
	return BK_OK;
}

bk_status snd_write_end(struct bk_session *s, bk_status st, struct bk_error *err)
{
	if (!s->read_only) /* the caller's transaction goes on */
		return st;
	if (st == BK_OK)
		st = commit(s, err);
	end(s);
	return st;
}

static void log_slice(struct snd_buf *buf, struct bk_slice slice)
{
	uint64_t len = slice.len;

	snd_buf_put(buf, &len, sizeof(len));
	snd_buf_put(buf, slice.data, slice.len);
}

void snd_change_set(struct bk_session *s, const struct bk_node *node, bool is_binary)
{
	struct snd_record *r = snd_record_new(node, is_binary, ++s->store->version);
	uint64_t n = r->node.link_count;
	size_t i;

	log_slice(&s->changes, bk_slice_str(is_binary ? "S" : "s"));
	log_slice(&s->changes, r->node.id);
	log_slice(&s->changes, r->node.parent);
	log_slice(&s->changes, r->node.path);
	log_slice(&s->changes, r->node.doc);
	log_slice(&s->changes, bk_slice_of(&n, sizeof(n)));
	for (i = 0; i < n; i++) {
		log_slice(&s->changes, r->node.links[i].rel);
		log_slice(&s->changes, r->node.links[i].target);
	}
	snd_set(&s->state, r);
}

void snd_change_unset(struct bk_session *s, struct bk_slice id, bool is_binary)
{
	log_slice(&s->changes, bk_slice_str(is_binary ? "R" : "r"));
	log_slice(&s->changes, id);
	snd_unset(&s->state, id, is_binary);
}

/* ---- Operations
 * ------------------------------------------------------------------------------------ */

bk_status snd_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags, struct bk_error *err)
{
	if (s->in_txn)
		return bk_fail(err, BK_STATE, 0, "a transaction is open");
	if (*isolation > BK_ISO_SERIALIZABLE)
		return bk_fail(err, BK_INVALID, 0, "no such isolation: %u", *isolation);
	snd_views_lapse(s);
	start(s);
	s->read_only = flags & BK_TXN_READ_ONLY;
	*isolation = BK_ISO_SERIALIZABLE;
	return BK_OK;
}

bk_status snd_flush(struct bk_session *s, struct bk_error *err)
{
	return s->in_txn ? BK_OK : bk_fail(err, BK_STATE, 0, "no transaction is open");
}

static bk_status may_end(struct bk_session *s, struct bk_error *err)
{
	snd_views_lapse(s);
	if (!s->in_txn)
		return bk_fail(err, BK_STATE, 0, "no transaction is open");
	if (s->cursor.open || s->writer.open || s->reader.r)
		return bk_fail(err, BK_STATE, 0, "a cursor, writer or reader is open");
	return BK_OK;
}

bk_status snd_commit(struct bk_session *s, struct bk_error *err)
{
	bk_status st = may_end(s, err);

	if (st == BK_OK)
		st = commit(s, err);
	end(s);
	return st;
}

bk_status snd_rollback(struct bk_session *s, struct bk_error *err)
{
	bk_status st = may_end(s, err);

	end(s);
	return st;
}
