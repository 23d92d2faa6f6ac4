/*
 * walk.c - one step from a node: its children, its links, the links to it.
 *
 * Children and in-links come from the list log, from the newest to the oldest, as borrowed views
 * into its mapping.  Out-links come from the node's file; the index tells which targets exist.
 *
 * The one invariant: the cursor keeps where its list began and the log that it is in, so what is
 * added, moved or compacted meanwhile changes nothing about what it meets.
 */
#include "node.h"

#define WALK_VIEWS ((size_t)256 << 10) /* paths of one page of out-links */

static bk_status walk_check(struct bk_session *s, const struct bk_step *steps, size_t n_steps,
			    struct bk_error *err)
{
	if (s->cursor.open)
		return bk_fail(err, BK_STATE, 0, "the session has a cursor open");
	if (n_steps != 1)
		return bk_fail(err, n_steps ? BK_UNSUPPORTED : BK_INVALID, 0,
			       "a walk has %zu steps; this backend walks one at a time", n_steps);
	if (steps->dir < BK_CHILDREN || steps->dir > BK_IN)
		return bk_fail(err, BK_INVALID, 0, "direction %u is none of 1, 2, 3", steps->dir);
	return BK_OK;
}

/* Where the list begins, and the log that it is in. */
static bk_status walk_open_list(struct bk_cursor *c, struct bk_store *store, struct bk_slice start,
				enum file_key_kind kind, struct bk_error *err)
{
	struct file_key id = file_key(FILE_KEY_ID, start), list = file_key(kind, start);
	bk_status status;

	c->kind = FILE_CURSOR_LIST;
	c->at = 0;
	pthread_rwlock_rdlock(&store->swap);
	if (file_index_find(store->index, &id, NULL))
		file_index_find(store->index, &list, &c->at);
	status = file_index_check(store->index, err);
	if (status == BK_OK)
		c->log = file_log_ref(store->index->log);
	pthread_rwlock_unlock(&store->swap);
	return status;
}

static bk_status walk_open_out(struct bk_cursor *c, struct bk_session *s, struct bk_slice start,
			       struct bk_error *err)
{
	bk_status status = file_node_load(s, &c->node, start, BK_WANT_LINKS, err);

	c->kind = FILE_CURSOR_OUT;
	c->next = 0;
	if (status == BK_NOT_FOUND) {
		c->node.link_count = 0;
		status = BK_OK;
	}
	if (status == BK_OK && !file_buf_room(&c->views, WALK_VIEWS - c->views.len))
		status = bk_fail(err, BK_NOMEM, 0, "out of memory for a cursor");
	return status;
}

bk_status file_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			 const struct bk_step *steps, size_t n_steps, uint32_t want,
			 struct bk_error *err)
{
	struct bk_cursor *c = &s->cursor;
	bk_status status = walk_check(s, steps, n_steps, err);

	if (status == BK_OK)
		status = file_check_id(start, err);
	if (status != BK_OK)
		return status;
	c->session = s;
	c->want = want;
	c->log = NULL;
	c->any_rel = steps->dir == BK_CHILDREN || steps->rel.len == 0;
	c->with_rel = steps->dir != BK_CHILDREN;
	c->rel.len = c->views.len = 0;
	if (!c->any_rel) {
		if (!file_buf_room(&c->rel, steps->rel.len))
			return bk_fail(err, BK_NOMEM, 0, "out of memory for a cursor");
		memcpy(c->rel.data, steps->rel.data, steps->rel.len);
		c->rel.len = steps->rel.len;
	}
	if (steps->dir == BK_OUT)
		status = walk_open_out(c, s, start, err);
	else
		status = walk_open_list(c, s->store, start,
					steps->dir == BK_CHILDREN ? FILE_KEY_CHILDREN : FILE_KEY_IN,
					err);
	if (status != BK_OK)
		return status;
	c->open = 1;
	*out = c;
	return BK_OK;
}

static bool walk_wants(const struct bk_cursor *c, struct bk_slice rel)
{
	return c->any_rel || bk_slice_eq(bk_slice_of(c->rel.data, c->rel.len), rel);
}

static bk_status walk_next_list(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
				struct bk_error *err)
{
	size_t got = 0;

	while (got < cap && c->at) {
		const struct file_entry *e = file_log_entry(c->log, c->at);

		if (!e)
			return bk_fail(err, BK_CORRUPT, 0,
				       "the list log '%s/%s' is damaged at byte %llu; close the "
				       "store and remove the folder '%s/index': it is built anew",
				       c->log->folder, c->log->name, (unsigned long long)c->at,
				       c->log->folder);
		c->at = e->prev;
		if (atomic_load_explicit(&e->dead, memory_order_acquire) ||
		    !walk_wants(c, file_entry_rel(e)))
			continue;
		out[got].id = file_entry_id(e);
		out[got].path = c->want & BK_WANT_PATH ? file_entry_path(e) : bk_slice_of(NULL, 0);
		out[got].rel = c->with_rel ? file_entry_rel(e) : bk_slice_of(NULL, 0);
		got++;
	}
	*n = got;
	return got ? BK_OK : BK_END;
}

/* Does the target exist?  Its path goes into the views.  false: the page is full. */
static bool walk_target(struct bk_cursor *c, struct bk_slice target, bool *exists,
			struct bk_slice *path)
{
	struct bk_store *store = c->session->store;
	struct file_key key = file_key(FILE_KEY_ID, target);
	const struct file_entry *e;
	bool room = true;

	pthread_rwlock_rdlock(&store->swap);
	e = file_index_find(store->index, &key, NULL);
	*exists = e != NULL;
	*path = bk_slice_of(NULL, 0);
	if (e && (c->want & BK_WANT_PATH)) {
		struct bk_slice stored = file_entry_path(e);

		room = stored.len <= c->views.cap - c->views.len;
		if (room) {
			memcpy(c->views.data + c->views.len, stored.data, stored.len);
			*path = bk_slice_of(c->views.data + c->views.len, stored.len);
			c->views.len += stored.len;
		}
	}
	pthread_rwlock_unlock(&store->swap);
	return room;
}

static bk_status walk_next_out(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n)
{
	size_t got = 0;

	c->views.len = 0;
	while (got < cap && c->next < c->node.link_count) {
		const struct bk_link *link = &c->node.links[c->next];
		bool exists = false;
		struct bk_slice path;

		if (walk_wants(c, link->rel) && !walk_target(c, link->target, &exists, &path))
			break;
		c->next++;
		if (!exists)
			continue;
		out[got].id = link->target;
		out[got].path = path;
		out[got].rel = link->rel;
		got++;
	}
	*n = got;
	return got ? BK_OK : BK_END;
}

bk_status file_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			 struct bk_error *err)
{
	if (cap == 0)
		return bk_fail(err, BK_INVALID, 0, "no room for a hit");
	return c->kind == FILE_CURSOR_OUT ? walk_next_out(c, out, cap, n)
					  : walk_next_list(c, out, cap, n, err);
}

void file_walk_close(struct bk_cursor *c)
{
	if (!c || !c->open)
		return;
	file_log_unref(c->log);
	c->log = NULL;
	c->open = 0;
}
