/*
 * view.c - single lookups: in a transaction's own writes, in the filter, in the database.
 */
#include "ldb.h"

void ldb_value_free(struct ldb_value *v)
{
	if (v->owned)
		leveldb_free(v->owned);
	memset(v, 0, sizeof(*v));
}

struct ldb_view ldb_session_view(const struct bk_session *s)
{
	struct ldb_view view;

	view.db = s->store->db;
	view.ro = s->txn.active ? s->txn.ro : s->ro;
	view.overlay = s->sink;
	return view;
}

/* Does the overlay know the key?  1 there, 0 deleted, -1 it does not know. */
static int look_overlay(const struct bk_session *s, struct ldb_value *out,
			const struct ldb_buf *key)
{
	const struct ldb_entry *e;

	if (!s->sink)
		return -1;
	e = ldb_overlay_find(s->sink, ldb_buf_slice(key));
	if (!e || e->state == LDB_ENTRY_NONE)
		return -1;
	if (e->state == LDB_ENTRY_DELETE)
		return 0;
	out->bytes = e->value;
	out->owned = NULL;
	return 1;
}

static int look_db(struct bk_session *s, struct ldb_value *out, const struct ldb_buf *key,
		   struct bk_error *err)
{
	char *text = NULL;

	s->requests++;
	out->owned = leveldb_get(s->store->db, s->txn.active ? s->txn.ro : s->ro, key->data,
				 key->len, &out->bytes.len, &text);
	out->bytes.data = out->owned;
	if (text)
		return ldb_error(err, text, "read", s->store->db_folder);
	return out->owned ? 1 : 0;
}

int ldb_look(struct bk_session *s, struct ldb_value *out, const struct ldb_buf *key,
	     struct bk_error *err)
{
	int known;

	if (key->failed)
		return ldb_nomem(err);
	known = look_overlay(s, out, key);
	return known >= 0 ? known : look_db(s, out, key, err);
}

static int look_rarely(struct bk_session *s, struct ldb_value *out, char tag, struct bk_slice name,
		       uint64_t hash, struct bk_error *err)
{
	int known;

	ldb_key_plain(&s->key, tag, name);
	if (s->key.failed)
		return ldb_nomem(err);
	known = look_overlay(s, out, &s->key);
	if (known >= 0)
		return known;
	if (ldb_absent_claim(&s->store->absent, hash))
		return 0;
	return look_db(s, out, &s->key, err);
}

int ldb_look_node(struct bk_session *s, struct ldb_value *out, struct bk_slice id, uint64_t hash,
		  struct bk_error *err)
{
	return look_rarely(s, out, LDB_KEY_NODE, id, hash, err);
}

int ldb_look_path(struct bk_session *s, struct ldb_value *out, struct bk_slice path, uint64_t hash,
		  struct bk_error *err)
{
	return look_rarely(s, out, LDB_KEY_PATH, path, hash, err);
}

int ldb_look_parent(struct bk_session *s, struct bk_slice parent, struct bk_error *err)
{
	const uint64_t serial = s->txn.active ? s->txn.serial : 0;
	const uint64_t removals = atomic_load(&s->store->removals);
	struct ldb_value v = {0};
	uint64_t hash;
	int found;

	ldb_key_plain(&s->key, LDB_KEY_NODE, parent);
	if (s->key.failed)
		return ldb_nomem(err);
	found = look_overlay(s, &v, &s->key);
	if (found >= 0)
		return found;
	if (s->parent.len && bk_slice_eq(ldb_buf_slice(&s->parent), parent) &&
	    s->parent_txn == serial && (serial || s->parent_removals == removals))
		return 1;
	hash = ldb_hash(LDB_KEY_NODE, parent);
	if (s->seen && ldb_seen_before(s->seen, parent, hash))
		return 1; /* not to be remembered before it is written */
	found = ldb_absent_surely(&s->store->absent, hash) ? 0 : look_db(s, &v, &s->key, err);
	ldb_value_free(&v);
	if (found != 1)
		return found;
	ldb_buf_reset(&s->parent);
	ldb_buf_add(&s->parent, parent.data, parent.len);
	if (s->parent.failed)
		ldb_buf_reset(&s->parent);
	s->parent_removals = removals;
	s->parent_txn = serial;
	return 1;
}

bk_status ldb_has_children(struct bk_session *s, bool *out, struct bk_slice id,
			   struct bk_error *err)
{
	struct ldb_iter it;
	bk_status status = BK_OK;

	ldb_iter_init(&it, ldb_session_view(s));
	ldb_key_prefix(&s->key, LDB_KEY_CHILD, id);
	if (s->key.failed) {
		status = ldb_nomem(err);
	} else {
		s->requests++;
		ldb_iter_seek(&it, ldb_buf_slice(&s->key), s->key.len);
		*out = it.valid;
		if (!it.valid)
			status = ldb_iter_status(&it, s->store, err);
	}
	ldb_iter_free(&it);
	return status;
}

bk_status ldb_scan_links(struct bk_session *s, struct ldb_iter *it, struct ldb_links *out,
			 struct ldb_arena *arena, struct bk_slice id, struct bk_error *err)
{
	struct bk_slice rest;
	struct bk_link link;

	ldb_key_prefix(&s->key, LDB_KEY_OUT, id);
	if (s->key.failed)
		return ldb_nomem(err);
	s->requests++;
	for (ldb_iter_seek(it, ldb_buf_slice(&s->key), s->key.len); it->valid; ldb_iter_next(it)) {
		if (!ldb_arena_copy(arena, &rest,
				    bk_slice_of((const char *)it->key.data + it->bound.len,
						it->key.len - it->bound.len)))
			return ldb_nomem(err);
		if (!ldb_key_take(&rest, &link.rel))
			return ldb_head_corrupt(err, id);
		link.target = rest;
		if (!ldb_links_add(out, &link, 1))
			return ldb_nomem(err);
	}
	return ldb_iter_status(it, s->store, err);
}
