/*
 * ops.c - operations that do nothing.
 *
 * The one invariant: what is read is not there, what is written is accepted and dropped.
 */
#include "null.h"

static bk_status gone(struct bk_error *err)
{
	return null_fail(err, BK_NOT_FOUND, "null: nothing is kept, so nothing is found");
}

static bk_status read_nothing(struct bk_session *s, struct bk_error *err)
{
	bk_status st = null_call(s, NULL_READ, err);

	return st ? st : gone(err);
}

/* ---- Transactions ------------------------------------------------------ */

static bk_status null_txn_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
				struct bk_error *err)
{
	if (s->in_txn)
		return null_fail(err, BK_STATE, "null: begin: a transaction is open already");
	s->in_txn = true;
	/* Nothing is kept, so nothing can be seen of anybody: any level is in force. */
	if (*isolation == 0)
		*isolation = BK_ISO_SERIALIZABLE;
	return BK_OK;
}

static bk_status null_txn_flush(struct bk_session *s, struct bk_error *err)
{
	return s->in_txn ? BK_OK : null_fail(err, BK_STATE, "null: no transaction is open");
}

static bk_status may_end(struct bk_session *s, struct bk_error *err)
{
	if (!s->in_txn)
		return null_fail(err, BK_STATE, "null: no transaction is open");
	s->in_txn = false; /* whatever the answer is */
	if (s->cursor.open || s->writer.open)
		return null_fail(err, BK_STATE, "null: a cursor or a writer is still open");
	return BK_OK;
}

static bk_status null_txn_commit(struct bk_session *s, struct bk_error *err)
{
	bk_status st = may_end(s, err);

	return st ? st : null_call(s, NULL_COMMIT, err);
}

static bk_status null_txn_rollback(struct bk_session *s, struct bk_error *err)
{
	return may_end(s, err);
}

const struct bk_txn_ops null_txn_ops = {
	.struct_size = sizeof(struct bk_txn_ops),
	.begin = null_txn_begin,
	.flush = null_txn_flush,
	.commit = null_txn_commit,
	.rollback = null_txn_rollback,
};

/* ---- Nodes ------------------------------------------------------------- */

static bk_status null_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			       uint32_t want, struct bk_error *err)
{
	return read_nothing(s, err);
}

static bk_status null_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
				    const struct bk_slice *ids, size_t n, uint32_t want,
				    struct bk_error *err)
{
	bk_status st = null_call(s, NULL_READ, err);

	if (st)
		return st;
	memset(out, 0, n * sizeof(*out));
	*done = n;
	return BK_OK;
}

static bk_status null_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
				struct bk_error *err)
{
	return read_nothing(s, err);
}

static bk_status null_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			       struct bk_error *err)
{
	return null_call(s, NULL_WRITE, err);
}

static bk_status null_node_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
				    uint32_t mode, struct bk_error *err)
{
	bk_status st = null_call(s, NULL_WRITE, err);

	if (st)
		err->item = 0;
	return st;
}

static bk_status null_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
				  const struct bk_link *links, size_t link_count,
				  struct bk_error *err)
{
	return null_call(s, NULL_WRITE, err);
}

static bk_status null_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	return null_call(s, NULL_WRITE, err);
}

static bk_status cursor_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err)
{
	bk_status st;

	if (s->cursor.open)
		return null_fail(err, BK_STATE, "null: the session has a cursor open");
	st = null_call(s, NULL_READ, err);
	if (st)
		return st;
	s->cursor.open = true;
	*out = &s->cursor;
	return BK_OK;
}

static void cursor_close(struct bk_cursor *c)
{
	c->open = false;
}

static bk_status null_node_walk_open(struct bk_cursor **out, struct bk_session *s,
				     struct bk_slice start, const struct bk_step *steps,
				     size_t n_steps, uint32_t want, struct bk_error *err)
{
	return cursor_open(out, s, err);
}

static bk_status null_node_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
				     struct bk_error *err)
{
	return BK_END;
}

const struct bk_node_ops null_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = null_node_get,
	.get_many = null_node_get_many,
	.find = null_node_find,
	.put = null_node_put,
	.put_many = null_node_put_many,
	.append = null_node_append,
	.remove = null_node_remove,
	.walk_open = null_node_walk_open,
	.walk_next = null_node_walk_next,
	.walk_close = cursor_close,
};

/* ---- Binaries ---------------------------------------------------------- */

static bk_status null_binary_write_open(struct bk_writer **out, struct bk_session *s,
					struct bk_slice key, uint64_t size_bytes, uint32_t mode,
					struct bk_error *err)
{
	struct bk_writer *w = &s->writer;
	bk_status st;

	if (w->open)
		return null_fail(err, BK_STATE, "null: the session has a writer open");
	st = null_call(s, NULL_WRITE, err);
	if (st)
		return st;
	w->session = s;
	w->declared_bytes = size_bytes;
	w->written_bytes = 0;
	w->open = true;
	*out = w;
	return BK_OK;
}

static bk_status null_binary_write(struct bk_writer *w, const void *data, size_t len,
				   struct bk_error *err)
{
	w->written_bytes += len;
	return null_call(w->session, NULL_WRITE, err);
}

static bk_status null_binary_finish(struct bk_writer *w, struct bk_binary_info *info,
				    struct bk_error *err)
{
	bk_status st = null_call(w->session, NULL_WRITE, err);

	w->open = false;
	if (st)
		return st;
	if (w->declared_bytes != BK_SIZE_UNKNOWN && w->declared_bytes != w->written_bytes)
		return null_fail(err, BK_INVALID, "null: finish: not as many bytes as declared");
	info->size_bytes = w->written_bytes;
	return BK_OK;
}

static void null_binary_abort(struct bk_writer *w)
{
	w->open = false;
}

static bk_status null_binary_read_open(struct bk_reader **out, struct bk_session *s,
				       struct bk_slice key, uint64_t offset, uint64_t len,
				       struct bk_binary_info *info, struct bk_error *err)
{
	return read_nothing(s, err);
}

static bk_status null_binary_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
				  struct bk_error *err)
{
	return BK_END;
}

static void null_binary_read_close(struct bk_reader *r)
{
}

static bk_status null_binary_stat(struct bk_session *s, struct bk_slice key,
				  struct bk_binary_info *info, struct bk_error *err)
{
	return read_nothing(s, err);
}

static bk_status null_binary_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	return null_call(s, NULL_WRITE, err);
}

static bk_status null_binary_list_next(struct bk_cursor *c, struct bk_slice *keys,
				       uint64_t *sizes_bytes, size_t cap, size_t *n,
				       struct bk_error *err)
{
	return BK_END;
}

const struct bk_binary_ops null_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = null_binary_write_open,
	.write = null_binary_write,
	.finish = null_binary_finish,
	.abort = null_binary_abort,
	.read_open = null_binary_read_open,
	.read = null_binary_read,
	.read_close = null_binary_read_close,
	.stat = null_binary_stat,
	.remove = null_binary_remove,
	.list_open = cursor_open,
	.list_next = null_binary_list_next,
	.list_close = cursor_close,
};
