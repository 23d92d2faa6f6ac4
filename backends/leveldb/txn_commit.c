/*
 * txn_commit.c - may what a transaction saw still be relied on?  Then its writes become one batch.
 *
 * Under the locks of all it touches, and only where a stripe says that something has been written
 * since the snapshot:
 *   a node or path that it writes   must stand as it did in the snapshot; first committer wins
 *   a parent that it gives children must still exist
 *   a node that it removes          must not have got children
 * The last two go beyond snapshot isolation; without them a child could lose its parent.
 */
#include "ldb.h"

/* What the entry's key is about, and whether commit has to look at it. */
static bool names(const struct ldb_entry *e, char *tag, struct bk_slice *name)
{
	const char *key = e->key.data;
	struct bk_slice rest = bk_slice_of(key + 1, e->key.len - 1);

	*tag = key[0];
	if (e->state == LDB_ENTRY_NONE)
		return false;
	if (*tag == LDB_KEY_CHILD)
		return e->state == LDB_ENTRY_PUT && ldb_key_take(&rest, name);
	*name = rest;
	return *tag == LDB_KEY_NODE || *tag == LDB_KEY_PATH;
}

static void collect_locks(struct ldb_locks *locks, const struct ldb_overlay *overlay)
{
	const struct ldb_entry *e;
	struct bk_slice name;
	char tag;

	for (e = ldb_overlay_first(overlay); e; e = e->next[0]) {
		if (!names(e, &tag, &name))
			continue;
		ldb_locks_add(locks,
			      ldb_hash(tag == LDB_KEY_CHILD ? (char)LDB_KEY_NODE : tag, name),
			      tag != LDB_KEY_CHILD);
	}
}

static int look(struct bk_session *s, struct ldb_value *out, struct bk_slice key,
		const leveldb_readoptions_t *ro, struct bk_error *err)
{
	char *text = NULL;

	s->requests++;
	out->owned = leveldb_get(s->store->db, ro, key.data, key.len, &out->bytes.len, &text);
	out->bytes.data = out->owned;
	if (text)
		return ldb_error(err, text, "read", s->store->db_folder);
	return out->owned ? 1 : 0;
}

static bk_status unchanged(struct bk_session *s, bool *holds, struct bk_slice key,
			   struct bk_error *err)
{
	struct ldb_value then = {0}, now = {0};
	int a = look(s, &then, key, s->txn.ro, err);
	int b = a < 0 ? a : look(s, &now, key, s->ro, err);

	if (b >= 0)
		*holds = a == b && (!a || bk_slice_eq(then.bytes, now.bytes));
	ldb_value_free(&then);
	ldb_value_free(&now);
	return b < 0 ? (bk_status)b : BK_OK;
}

static bk_status parent_exists(struct bk_session *s, bool *holds, struct bk_slice parent,
			       struct bk_error *err)
{
	const struct ldb_entry *own;
	struct ldb_value v = {0};
	int found;

	ldb_key_plain(&s->key, LDB_KEY_NODE, parent);
	if (s->key.failed)
		return ldb_nomem(err);
	own = ldb_overlay_find(&s->txn.overlay, ldb_buf_slice(&s->key));
	if (own && own->state == LDB_ENTRY_PUT) {
		*holds = true; /* its own entry is looked at as well */
		return BK_OK;
	}
	found = look(s, &v, ldb_buf_slice(&s->key), s->ro, err);
	ldb_value_free(&v);
	*holds = found == 1;
	return found < 0 ? (bk_status)found : BK_OK;
}

/* In the database as it is now, with the transaction's own removals laid over it. */
static bk_status childless(struct bk_session *s, bool *holds, struct bk_slice id,
			   struct bk_error *err)
{
	const struct ldb_view view = {s->store->db, s->ro, &s->txn.overlay};
	struct ldb_iter it;
	bk_status status;

	ldb_key_prefix(&s->key, LDB_KEY_CHILD, id);
	if (s->key.failed)
		return ldb_nomem(err);
	ldb_iter_init(&it, view);
	ldb_iter_seek(&it, ldb_buf_slice(&s->key), s->key.len);
	*holds = !it.valid;
	status = it.valid ? BK_OK : ldb_iter_status(&it, s->store, err);
	ldb_iter_free(&it);
	return status;
}

static bk_status conflict(const struct ldb_entry *e, struct bk_slice name, char tag,
			  struct bk_error *err)
{
	char text[LDB_NAME_TEXT];
	const char *what = tag == LDB_KEY_PATH ? "path" : tag == LDB_KEY_CHILD ? "parent" : "node";

	bk_fail(err, BK_CONFLICT, 0, "%s '%s' was changed since the transaction began", what,
		ldb_name(text, name));
	err->item = e->ordinal;
	return BK_CONFLICT;
}

static bk_status validate(struct bk_session *s, struct bk_error *err)
{
	const struct ldb_entry *e;
	struct bk_slice name, last_parent = {0};
	bk_status status = BK_OK;
	char tag;

	for (e = ldb_overlay_first(&s->txn.overlay); e && status == BK_OK; e = e->next[0]) {
		bool holds = true;

		if (!names(e, &tag, &name) ||
		    !ldb_changed_since(
			    s->store,
			    ldb_hash(tag == LDB_KEY_CHILD ? (char)LDB_KEY_NODE : tag, name),
			    s->txn.clock))
			continue;
		if (tag == LDB_KEY_CHILD) {
			if (last_parent.len && bk_slice_eq(name, last_parent))
				continue;
			last_parent = name;
			status = parent_exists(s, &holds, name, err);
		} else {
			status = unchanged(s, &holds, e->key, err);
			if (status == BK_OK && holds && tag == LDB_KEY_NODE &&
			    e->state == LDB_ENTRY_DELETE)
				status = childless(s, &holds, name, err);
		}
		if (status == BK_OK && !holds)
			status = conflict(e, name, tag, err);
	}
	return status;
}

void ldb_overlay_to_batch(struct bk_session *s, const struct ldb_overlay *overlay)
{
	const struct ldb_entry *e;

	for (e = ldb_overlay_first(overlay); e; e = e->next[0]) {
		if (e->state == LDB_ENTRY_NONE)
			continue;
		if (e->state == LDB_ENTRY_DELETE) {
			leveldb_writebatch_delete(s->batch, e->key.data, e->key.len);
			s->batch_bytes += e->key.len;
			if (*(const char *)e->key.data == LDB_KEY_NODE)
				atomic_fetch_add(&s->store->removals, 1);
			continue;
		}
		leveldb_writebatch_put(s->batch, e->key.data, e->key.len, e->value.data,
				       e->value.len);
		s->batch_bytes += e->key.len + e->value.len;
	}
}

bk_status ldb_commit_overlay(struct bk_session *s, struct bk_error *err)
{
	struct ldb_locks locks;
	bk_status status;

	ldb_locks_init(&locks);
	collect_locks(&locks, &s->txn.overlay);
	ldb_locks_take(s->store, &locks);
	status = validate(s, err);
	if (status == BK_OK) {
		ldb_overlay_to_batch(s, &s->txn.overlay);
		status = ldb_write(s, err);
		ldb_empty_batch(s);
	}
	ldb_locks_drop(s->store, &locks, status == BK_OK);
	return status;
}
