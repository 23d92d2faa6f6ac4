/*
 * iter.c - a range in key order: the database's entries with a transaction's own laid over them.
 *
 * Without an overlay it is LevelDB's iterator and a bound, and costs no more.
 */
#include "view.h"

#define STRIDE_MAX 8u
#define IDLE_MAX   64u /* finds between two attempts at stepping */

static bool in_bound(const struct ldb_iter *i, struct bk_slice key)
{
	return key.len >= i->bound.len && memcmp(key.data, i->bound.data, i->bound.len) == 0;
}

static void load_db(struct ldb_iter *i)
{
	i->db_valid = leveldb_iter_valid(i->it) != 0;
	if (!i->db_valid)
		return;
	i->db_key.data = leveldb_iter_key(i->it, &i->db_key.len);
	i->db_valid = in_bound(i, i->db_key);
}

static void step_db(struct ldb_iter *i)
{
	i->passed = true;
	leveldb_iter_next(i->it);
	load_db(i);
}

static void stand_on_db(struct ldb_iter *i)
{
	i->from_overlay = false;
	i->valid = true;
	i->key = i->db_key;
	i->value.data = leveldb_iter_value(i->it, &i->value.len);
}

/* Finds the smaller of the two places, past what the overlay has deleted. */
static void settle(struct ldb_iter *i)
{
	for (;;) {
		struct ldb_entry *e = i->entry;
		int c;

		if (e && !in_bound(i, e->key))
			e = NULL;
		if (!e) {
			i->valid = false;
			if (i->db_valid)
				stand_on_db(i);
			return;
		}
		c = i->db_valid ? bk_slice_cmp(i->db_key, e->key) : 1;
		if (c < 0) {
			stand_on_db(i);
			return;
		}
		if (e->state == LDB_ENTRY_PUT) {
			i->from_overlay = true;
			i->valid = true;
			i->key = e->key;
			i->value = e->value;
			return;
		}
		i->entry = e->next[0];
		if (e->state == LDB_ENTRY_DELETE && c == 0)
			step_db(i);
	}
}

void ldb_iter_init(struct ldb_iter *i, struct ldb_view view)
{
	memset(i, 0, sizeof(*i));
	i->view = view;
	i->stride = STRIDE_MAX;
}

void ldb_iter_free(struct ldb_iter *i)
{
	if (i->it)
		leveldb_iter_destroy(i->it);
	ldb_buf_free(&i->bound);
	ldb_buf_free(&i->last);
	i->it = NULL;
	i->valid = false;
}

/* Is the place where LevelDB's iterator stands still before everything at or after `key`?  After a
 * seek, for every key that is not smaller; when entries have been passed since, for every key
 * beyond the range that they lay in. */
static bool is_ahead(const struct ldb_iter *i, struct bk_slice key)
{
	if (!i->it || i->last.failed)
		return false;
	if (!i->passed)
		return bk_slice_cmp(key, ldb_buf_slice(&i->last)) >= 0;
	return !in_bound(i, key) && bk_slice_cmp(key, ldb_buf_slice(&i->bound)) > 0;
}

/* A step costs a tenth of a seek, and where a page of targets or ranges lies close together a few
 * steps reach the next one.  Where they do not, stepping is given up and tried again now and then.
 * True: it stands on the first entry at or after `key`. */
static bool step_to(struct ldb_iter *i, struct bk_slice key)
{
	struct bk_slice at;
	uint32_t n;

	if (!is_ahead(i, key))
		return false;
	if (i->stride == 0 && ++i->idle >= IDLE_MAX) {
		i->idle = 0;
		i->stride = STRIDE_MAX / 2;
	}
	for (n = 0;; n++) {
		if (!leveldb_iter_valid(i->it))
			return true; /* nothing comes any more */
		at.data = leveldb_iter_key(i->it, &at.len);
		if (bk_slice_cmp(at, key) >= 0)
			break;
		if (n >= i->stride) {
			i->stride /= 2;
			return false;
		}
		leveldb_iter_next(i->it);
	}
	if (n > 0)
		i->stride = STRIDE_MAX;
	return true;
}

void ldb_iter_seek(struct ldb_iter *i, struct bk_slice key, size_t bound)
{
	bool there = step_to(i, key);

	if (!i->it)
		i->it = leveldb_create_iterator(i->view.db, i->view.ro);
	ldb_buf_reset(&i->last);
	ldb_buf_add(&i->last, key.data, key.len);
	ldb_buf_reset(&i->bound);
	ldb_buf_add(&i->bound, key.data, bound);
	i->valid = false;
	if (i->bound.failed)
		return;
	if (!there)
		leveldb_iter_seek(i->it, key.data, key.len);
	i->passed = false;
	load_db(i);
	i->entry = i->view.overlay ? ldb_overlay_seek(i->view.overlay, key) : NULL;
	settle(i);
}

void ldb_iter_next(struct ldb_iter *i)
{
	if (i->from_overlay) {
		if (i->db_valid && bk_slice_eq(i->db_key, i->entry->key))
			step_db(i);
		i->entry = i->entry->next[0];
	} else {
		step_db(i);
	}
	settle(i);
}

bool ldb_iter_find(struct ldb_iter *i, struct bk_slice key)
{
	ldb_iter_seek(i, key, 1);
	return i->valid && bk_slice_eq(i->key, key);
}

bk_status ldb_iter_status(struct ldb_iter *i, const struct bk_store *store, struct bk_error *err)
{
	char *text = NULL;

	if (i->bound.failed)
		return ldb_nomem(err);
	if (i->it)
		leveldb_iter_get_error(i->it, &text);
	return text ? ldb_error(err, text, "read", store->db_folder) : BK_OK;
}
