/*
 * node.c - the node operations: arguments, the lock, and copies into the session's buffers.
 *
 * The one invariant: a view that is handed out points into the session, never into the store.
 */
#include "mem.h"

/* ---- Copying ----------------------------------------------------------- */

struct room { /* what views of some nodes take */
	size_t links, bytes;
};

static bool base_links_count(struct mem_seen n)
{
	return n.base && n.base->state == MEM_FULL && !(n.over && n.over->state == MEM_FULL);
}

static void room_add(struct room *room, struct mem_seen n, uint32_t want)
{
	const struct mem_slot *face = mem_face(n);
	const struct mem_slot *more = n.over && n.over->state == MEM_MORE ? n.over : NULL;

	room->bytes += face->id_len;
	if (want & BK_WANT_PATH)
		room->bytes += face->path_len + (face->parent ? face->parent->id_len : 0);
	if (want & BK_WANT_DOC)
		room->bytes += face->doc_len + (more ? more->doc_len : 0);
	if (want & BK_WANT_LINKS) {
		room->links += face->out_count + (more ? more->out_count : 0);
		room->bytes += face->out_bytes + (more ? more->out_bytes : 0);
	}
}

static bool room_make(struct bk_session *s, const struct room *room)
{
	return mem_buf_reserve(&s->links, room->links * sizeof(struct bk_link)) &&
	       mem_buf_reserve(&s->bytes, room->bytes);
}

struct pen { /* where the next view goes */
	struct bk_link *links;
	char *bytes;
};

static struct bk_slice pen_write(struct pen *pen, const void *data, size_t len)
{
	struct bk_slice s = bk_slice_of(pen->bytes, len);

	if (len)
		memcpy(pen->bytes, data, len);
	pen->bytes += len;
	return s;
}

static void write_links(struct bk_node *out, struct pen *pen, const struct mem_view *v,
			const struct mem_slot *slot)
{
	const struct mem_edge *e;

	for (e = slot->out; e; e = e->out_next) {
		if (mem_is_repeated(v, e))
			continue;
		pen->links->rel = pen_write(pen, e->rel, e->rel_len);
		pen->links->target = pen_write(pen, e->to->id, e->to->id_len);
		pen->links++;
		out->link_count++;
	}
}

static void write_node(struct bk_node *out, struct pen *pen, const struct mem_view *v,
		       struct mem_seen n, uint32_t want)
{
	const struct mem_slot *face = mem_face(n);

	memset(out, 0, sizeof(*out));
	out->id = pen_write(pen, face->id, face->id_len);
	out->version = mem_version_seen(n);
	if (want & BK_WANT_PATH) {
		out->path = pen_write(pen, face->path, face->path_len);
		if (face->parent)
			out->parent = pen_write(pen, face->parent->id, face->parent->id_len);
	}
	if (want & BK_WANT_DOC) {
		out->doc = pen_write(pen, face->doc, face->doc_len);
		if (n.over && n.over->state == MEM_MORE)
			out->doc.len += pen_write(pen, n.over->doc, n.over->doc_len).len;
	}
	if (want & BK_WANT_LINKS) {
		out->links = pen->links;
		if (base_links_count(n))
			write_links(out, pen, v, n.base);
		if (n.over && (n.over->state == MEM_FULL || n.over->state == MEM_MORE))
			write_links(out, pen, v, n.over);
	}
}

/* ---- Reading ----------------------------------------------------------- */

static bk_status mem_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			      uint32_t want, struct bk_error *err)
{
	struct mem_view v = mem_view_of(s);
	struct room room = {0, 0};
	struct mem_seen n;
	struct pen pen;
	bk_status st = mem_check_name(err, "id", id);

	if (st)
		return st;
	pthread_rwlock_rdlock(&s->store->lock);
	st = mem_txn_check(s, false, err);
	if (st)
		goto done;
	n = mem_see(&v, id);
	if (!mem_is_there(n)) {
		st = bk_fail(err, BK_NOT_FOUND, 0, "mem: get: no node has that id");
		goto done;
	}
	room_add(&room, n, want);
	if (!room_make(s, &room)) {
		st = bk_fail(err, BK_NOMEM, 0, "mem: get: out of memory");
		goto done;
	}
	pen.links = s->links.data;
	pen.bytes = s->bytes.data;
	write_node(out, &pen, &v, n, want);
done:
	pthread_rwlock_unlock(&s->store->lock);
	return st;
}

static bk_status get_prefix(struct bk_node *out, size_t *done, struct bk_session *s,
			    const struct bk_slice *ids, size_t n, uint32_t want,
			    struct bk_error *err)
{
	struct mem_view v = mem_view_of(s);
	struct mem_seen *seen = s->seen.data;
	struct room room = {0, 0}, next;
	struct pen pen;
	size_t i;

	for (i = 0; i < n; i++) {
		seen[i] = mem_see(&v, ids[i]);
		if (!mem_is_there(seen[i]))
			continue;
		next = room;
		room_add(&next, seen[i], want);
		if (i && next.bytes + next.links * sizeof(struct bk_link) > MEM_VIEWS_MAX)
			break;
		room = next;
	}
	if (!room_make(s, &room))
		return bk_fail(err, BK_NOMEM, 0, "mem: get_many: out of memory");
	n = i;
	pen.links = s->links.data;
	pen.bytes = s->bytes.data;
	for (i = 0; i < n; i++) {
		if (mem_is_there(seen[i]))
			write_node(&out[i], &pen, &v, seen[i], want);
		else
			memset(&out[i], 0, sizeof(out[i]));
	}
	*done = n;
	return BK_OK;
}

static bk_status mem_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
				   const struct bk_slice *ids, size_t n, uint32_t want,
				   struct bk_error *err)
{
	bk_status st = BK_OK;
	size_t i;

	if (n == 0)
		return bk_fail(err, BK_INVALID, 0, "mem: get_many of no ids");
	for (i = 0; i < n && !st; i++)
		st = mem_check_name(err, "id", ids[i]);
	if (st)
		return st;
	if (!mem_buf_reserve(&s->seen, n * sizeof(struct mem_seen)))
		return bk_fail(err, BK_NOMEM, 0, "mem: get_many: out of memory");
	pthread_rwlock_rdlock(&s->store->lock);
	st = mem_txn_check(s, false, err);
	if (!st)
		st = get_prefix(out, done, s, ids, n, want, err);
	pthread_rwlock_unlock(&s->store->lock);
	return st;
}

static bk_status mem_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			       struct bk_error *err)
{
	struct mem_view v = mem_view_of(s);
	struct bk_slice id;
	bk_status st = mem_check_text(err, "path", path);

	if (st)
		return st;
	pthread_rwlock_rdlock(&s->store->lock);
	st = mem_txn_check(s, false, err);
	if (st)
		goto done;
	if (!mem_path_seen(&id, &v, path)) {
		st = bk_fail(err, BK_NOT_FOUND, 0, "mem: find: no node at '%.*s'", (int)path.len,
			     (const char *)path.data);
	} else if (!mem_buf_reserve(&s->bytes, id.len)) {
		st = bk_fail(err, BK_NOMEM, 0, "mem: find: out of memory");
	} else {
		memcpy(s->bytes.data, id.data, id.len);
		*id_out = bk_slice_of(s->bytes.data, id.len);
	}
done:
	pthread_rwlock_unlock(&s->store->lock);
	return st;
}

/* ---- Writing: inside a transaction the store is only read -------------- */

static bk_status write_begin(struct bk_session *s, struct bk_error *err)
{
	if (s->txn.open)
		pthread_rwlock_rdlock(&s->store->lock);
	else
		pthread_rwlock_wrlock(&s->store->lock);
	return mem_txn_check(s, true, err);
}

static bk_status write_end(struct bk_session *s, bk_status st)
{
	if (s->txn.open)
		s->txn.ordinal++;
	else if (!st)
		s->store->changes++;
	pthread_rwlock_unlock(&s->store->lock);
	return st;
}

static bk_status mem_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			      struct bk_error *err)
{
	struct mem_undo undo;
	bk_status st = mem_check_node(err, node, mode);

	if (st)
		return st;
	st = write_begin(s, err);
	if (!st)
		st = mem_change_put(&undo, s, node, mode, err);
	if (!st)
		mem_undo_forget(s, &undo);
	return write_end(s, st);
}

static bk_status put_all(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode,
			 struct bk_error *err)
{
	struct mem_undo *undo = s->undo.data;
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; i < n; i++) {
		st = mem_check_node(err, &nodes[i], mode);
		if (!st)
			st = mem_change_put(&undo[i], s, &nodes[i], mode, err);
		if (st)
			break;
	}
	if (st) {
		err->item = i;
		while (i-- > 0)
			mem_undo_roll_back(s, &undo[i]);
		return st;
	}
	for (i = 0; i < n; i++)
		mem_undo_forget(s, &undo[i]);
	return BK_OK;
}

static bk_status mem_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				   uint32_t mode, struct bk_error *err)
{
	bk_status st;

	if (!mem_buf_reserve(&s->undo, n * sizeof(struct mem_undo)))
		return bk_fail(err, BK_NOMEM, 0, "mem: put_many: out of memory");
	st = write_begin(s, err);
	if (!st)
		st = put_all(s, nodes, n, mode, err);
	return write_end(s, st);
}

static bk_status mem_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
				 const struct bk_link *links, size_t link_count,
				 struct bk_error *err)
{
	bk_status st = mem_check_name(err, "id", id);

	if (!st)
		st = mem_check_links(err, links, link_count);
	if (st)
		return st;
	st = write_begin(s, err);
	if (!st)
		st = mem_change_append(s, id, tail, links, link_count, err);
	return write_end(s, st);
}

static bk_status mem_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	bk_status st = mem_check_name(err, "id", id);

	if (st)
		return st;
	st = write_begin(s, err);
	if (!st)
		st = mem_change_remove(s, id, err);
	return write_end(s, st);
}

const struct bk_node_ops mem_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = mem_node_get,
	.get_many = mem_node_get_many,
	.find = mem_node_find,
	.put = mem_node_put,
	.put_many = mem_node_put_many,
	.append = mem_node_append,
	.remove = mem_node_remove,
	.walk_open = mem_walk_open,
	.walk_next = mem_walk_next,
	.walk_close = mem_cursor_close,
};
