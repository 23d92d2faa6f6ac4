/*
 * node.c - nodes read: by id from the node's own file, by path through the index.
 *
 * The one invariant: reading a node takes no lock; its file is whole under its name from the
 * first moment on, and an append shows as a whole record or not at all.
 */
#include "node.h"

static bk_status file_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			       uint32_t want, struct bk_error *err)
{
	struct file_parsed *node = &s->node;
	bk_status status = file_check_id(id, err);

	if (status == BK_OK)
		status = file_node_load(s, node, id, want, err);
	if (status == BK_NOT_FOUND)
		return file_node_not_found(id, err);
	if (status != BK_OK)
		return status;
	memset(out, 0, sizeof(*out));
	out->id = node->id;
	out->parent = node->parent;
	out->path = node->path;
	out->doc = node->doc;
	out->links = node->link_count ? node->links : NULL;
	out->link_count = node->link_count;
	out->version = node->version;
	return BK_OK;
}

static bk_status file_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
				struct bk_error *err)
{
	struct bk_store *store = s->store;
	struct file_key key = file_key(FILE_KEY_PATH, path);
	bk_status status = BK_OK;
	struct file_entry *e;

	if (path.len == 0)
		return bk_fail(err, BK_INVALID, 0, "a path must not be empty");
	if (path.len > FILE_PATH_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "a path has %zu bytes, at most %u are allowed",
			       path.len, FILE_PATH_MAX);
	s->scratch.len = 0;
	if (!file_buf_room(&s->scratch, FILE_ID_MAX))
		return bk_fail(err, BK_NOMEM, 0, "out of memory for an id");
	pthread_rwlock_rdlock(&store->swap);
	e = file_index_find(store->index, &key, NULL);
	if (e) {
		struct bk_slice id = file_entry_id(e);

		memcpy(s->scratch.data, id.data, id.len);
		*id_out = bk_slice_of(s->scratch.data, id.len);
	} else {
		status = file_index_check(store->index, err);
	}
	pthread_rwlock_unlock(&store->swap);
	if (!e && status == BK_OK)
		status = bk_fail(err, BK_NOT_FOUND, 0, "no node has the path '%.*s'",
				 path.len > 300 ? 300 : (int)path.len, (const char *)path.data);
	return status;
}

const struct bk_node_ops file_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = file_node_get,
	.find = file_node_find,
	.put = file_node_put,
	.append = file_node_append,
	.remove = file_node_remove,
	.walk_open = file_walk_open,
	.walk_next = file_walk_next,
	.walk_close = file_walk_close,
};
