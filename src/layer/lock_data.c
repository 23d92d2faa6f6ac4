/*
 * lock_data.c - nodes and binaries, one call at a time.
 */
#include "layer/lock.h"

/* ---- Nodes ------------------------------------------------------------- */

static bk_status lock_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			       uint32_t want, struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->node.get(out, s->pass.s, id, want, err));
}

static bk_status lock_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
				    const struct bk_slice *ids, size_t n, uint32_t want,
				    struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock,
			     s->pass.next->node.get_many(out, done, s->pass.s, ids, n, want, err));
}

static bk_status lock_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
				struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->node.find(id_out, s->pass.s, path, err));
}

static bk_status lock_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			       struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->node.put(s->pass.s, node, mode, err));
}

static bk_status lock_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				    uint32_t mode, struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->node.put_many(s->pass.s, nodes, n, mode, err));
}

static bk_status lock_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
				  const struct bk_link *links, size_t link_count,
				  struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(
		s->lock, s->pass.next->node.append(s->pass.s, id, tail, links, link_count, err));
}

static bk_status lock_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->node.remove(s->pass.s, id, err));
}

static bk_status lock_cursor(struct bk_cursor **out, struct bk_session *s, struct bk_cursor *inner,
			     bk_status st)
{
	if (st)
		return st;
	s->cursor.session = s;
	s->cursor.c = inner;
	*out = &s->cursor;
	return BK_OK;
}

static bk_status lock_node_walk_open(struct bk_cursor **out, struct bk_session *s,
				     struct bk_slice start, const struct bk_step *steps,
				     size_t n_steps, uint32_t want, struct bk_error *err)
{
	struct bk_pass_session *p = &s->pass;
	struct bk_cursor *c = NULL;
	bk_status st;

	bk_lock_enter(s->lock);
	st = bk_lock_leave(s->lock,
			   p->next->node.walk_open(&c, p->s, start, steps, n_steps, want, err));
	return lock_cursor(out, s, c, st);
}

static bk_status lock_node_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
				     struct bk_error *err)
{
	struct bk_session *s = c->session;

	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->node.walk_next(c->c, out, cap, n, err));
}

static void lock_node_walk_close(struct bk_cursor *c)
{
	struct bk_session *s = c->session;

	bk_lock_enter(s->lock);
	s->pass.next->node.walk_close(c->c);
	bk_lock_leave(s->lock, BK_OK);
}

/* ---- Binaries ---------------------------------------------------------- */

static bk_status lock_binary_write_open(struct bk_writer **out, struct bk_session *s,
					struct bk_slice key, uint64_t size_bytes, uint32_t mode,
					struct bk_error *err)
{
	struct bk_pass_session *p = &s->pass;
	bk_status st;

	bk_lock_enter(s->lock);
	st = bk_lock_leave(s->lock, p->next->binary.write_open(&s->writer.w, p->s, key, size_bytes,
							       mode, err));
	if (st)
		return st;
	s->writer.session = s;
	*out = &s->writer;
	return BK_OK;
}

static bk_status lock_binary_write(struct bk_writer *w, const void *data, size_t len,
				   struct bk_error *err)
{
	struct bk_session *s = w->session;

	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->binary.write(w->w, data, len, err));
}

static bk_status lock_binary_finish(struct bk_writer *w, struct bk_binary_info *info,
				    struct bk_error *err)
{
	struct bk_session *s = w->session;

	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->binary.finish(w->w, info, err));
}

static void lock_binary_abort(struct bk_writer *w)
{
	struct bk_session *s = w->session;

	bk_lock_enter(s->lock);
	s->pass.next->binary.abort(w->w);
	bk_lock_leave(s->lock, BK_OK);
}

static bk_status lock_binary_read_open(struct bk_reader **out, struct bk_session *s,
				       struct bk_slice key, uint64_t offset, uint64_t len,
				       struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_pass_session *p = &s->pass;
	bk_status st;

	bk_lock_enter(s->lock);
	st = bk_lock_leave(s->lock, p->next->binary.read_open(&s->reader.r, p->s, key, offset, len,
							      info, err));
	if (st)
		return st;
	s->reader.session = s;
	*out = &s->reader;
	return BK_OK;
}

static bk_status lock_binary_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
				  struct bk_error *err)
{
	struct bk_session *s = r->session;

	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->binary.read(r->r, buf, cap, n, err));
}

static void lock_binary_read_close(struct bk_reader *r)
{
	struct bk_session *s = r->session;

	bk_lock_enter(s->lock);
	s->pass.next->binary.read_close(r->r);
	bk_lock_leave(s->lock, BK_OK);
}

static bk_status lock_binary_stat(struct bk_session *s, struct bk_slice key,
				  struct bk_binary_info *info, struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->binary.stat(s->pass.s, key, info, err));
}

static bk_status lock_binary_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock, s->pass.next->binary.remove(s->pass.s, key, err));
}

static bk_status lock_binary_list_open(struct bk_cursor **out, struct bk_session *s,
				       struct bk_error *err)
{
	struct bk_cursor *c = NULL;
	bk_status st;

	bk_lock_enter(s->lock);
	st = bk_lock_leave(s->lock, s->pass.next->binary.list_open(&c, s->pass.s, err));
	return lock_cursor(out, s, c, st);
}

static bk_status lock_binary_list_next(struct bk_cursor *c, struct bk_slice *keys,
				       uint64_t *sizes_bytes, size_t cap, size_t *n,
				       struct bk_error *err)
{
	struct bk_session *s = c->session;

	bk_lock_enter(s->lock);
	return bk_lock_leave(s->lock,
			     s->pass.next->binary.list_next(c->c, keys, sizes_bytes, cap, n, err));
}

static void lock_binary_list_close(struct bk_cursor *c)
{
	struct bk_session *s = c->session;

	bk_lock_enter(s->lock);
	s->pass.next->binary.list_close(c->c);
	bk_lock_leave(s->lock, BK_OK);
}

const struct bk_node_ops bk_lock_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = lock_node_get,
	.get_many = lock_node_get_many,
	.find = lock_node_find,
	.put = lock_node_put,
	.put_many = lock_node_put_many,
	.append = lock_node_append,
	.remove = lock_node_remove,
	.walk_open = lock_node_walk_open,
	.walk_next = lock_node_walk_next,
	.walk_close = lock_node_walk_close,
};

const struct bk_binary_ops bk_lock_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = lock_binary_write_open,
	.write = lock_binary_write,
	.finish = lock_binary_finish,
	.abort = lock_binary_abort,
	.read_open = lock_binary_read_open,
	.read = lock_binary_read,
	.read_close = lock_binary_read_close,
	.stat = lock_binary_stat,
	.remove = lock_binary_remove,
	.list_open = lock_binary_list_open,
	.list_next = lock_binary_list_next,
	.list_close = lock_binary_list_close,
};
