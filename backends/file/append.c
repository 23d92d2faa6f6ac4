/*
 * append.c - a node appended to, and removed.
 *
 * The one invariant: an append is one record at the end of the node's file; a file that does not
 * end with a whole record is cut before anything is added.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Append -------------------------------------------------------------------------- */

/* The end of the last whole record, where the next one goes. */
static bk_status append_end(struct bk_session *s, int fd, struct bk_slice id, const char *name,
			    uint64_t *end, struct bk_error *err)
{
	char tail[FILE_RECORD_TRAILER];
	uint64_t size, check;
	bk_status status;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return file_fail_in(err, errno, "read", s->store, name);
	*end = (uint64_t)st.st_size;
	if (*end >= sizeof(tail) &&
	    pread(fd, tail, sizeof(tail), st.st_size - (off_t)sizeof(tail)) ==
		    (ssize_t)sizeof(tail) &&
	    file_record_trailer(tail, &size, &check) && size <= *end)
		return BK_OK;
	status = file_node_load(s, &s->node, id, 0, err);
	if (status != BK_OK)
		return status;
	*end = s->node.valid_len;
	if (ftruncate(fd, (off_t)*end) < 0)
		return file_fail_in(err, errno, "cut", s->store, name);
	return BK_OK;
}

/* Drop from s->links what the node has already; *n are left. */
static void append_new_links(struct bk_session *s, struct bk_slice id, size_t *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		struct file_key key = file_key_link(id, s->links[i].rel, s->links[i].target);

		if (!file_index_find(s->store->index, &key, NULL))
			s->links[kept++] = s->links[i];
	}
	*n = kept;
}

static bk_status append_write(struct bk_session *s, int fd, const char *name, uint64_t end,
			      uint64_t version, struct bk_error *err)
{
	bk_status status = file_change_write(&s->change, FILE_INTENT_PUT, name, version, err);

	if (status != BK_OK)
		return status;
	if (file_pwrite_all(fd, s->record.data, s->record.len, end) < 0) {
		status = file_fail_in(err, errno, "append to", s->store, name);
		/* Cutting needs no space; should it fail, the next append cuts. */
		if (ftruncate(fd, (off_t)end) < 0)
			err->flags |= BK_ERR_OUTCOME_UNKNOWN;
		file_change_drop(&s->change);
		return status;
	}
	s->written_bytes += s->record.len;
	file_change_publish(&s->change);
	return BK_OK;
}

/* With the stripes of the id and of the targets held; s->links holds n links. */
static bk_status append_locked(struct bk_session *s, int fd, const char *name, struct bk_slice id,
			       struct bk_slice tail, size_t n, struct bk_error *err)
{
	struct file_index *ix = s->store->index;
	struct file_key key = file_key(FILE_KEY_ID, id);
	struct file_entry *e = file_index_find(ix, &key, NULL);
	uint64_t version = file_store_version(s->store), end = 0;
	struct bk_node node = {.doc = tail};
	bk_status status;

	if (!e) {
		status = file_index_check(ix, err);
		return status == BK_OK ? file_node_not_found(id, err) : status;
	}
	append_new_links(s, id, &n);
	status = append_end(s, fd, id, name, &end, err);
	if (status != BK_OK)
		return status;
	if (end + tail.len > FILE_DOC_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "'%s/%s' would grow above %llu bytes, the most a node may have",
			       s->store->dir, name, (unsigned long long)FILE_DOC_MAX);
	if (tail.len == 0 && n == 0)
		return BK_OK;
	node.links = s->links;
	node.link_count = n;
	file_buf_reuse(&s->record);
	if (!file_record_encode(&s->record, &node, version))
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a record");
	file_change_begin(&s->change, ix, s->intent);
	for (size_t i = 0; i < n; i++)
		file_change_add_link(&s->change, s->links[i].target, id, s->links[i].rel,
				     file_entry_path(e));
	return append_write(s, fd, name, end, version, err);
}

bk_status file_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			   const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	struct bk_store *store = s->store;
	struct file_stripes stripes = {{0}};
	char name[FILE_NODE_NAME];
	bk_status status = file_check_id(id, err);
	size_t n = 0;
	int fd;

	if (status == BK_OK)
		status = file_links_take(s, links, link_count, &n, err);
	if (status != BK_OK)
		return status;
	if (tail.len > FILE_DOC_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "%zu bytes are too many to append", tail.len);
	file_node_name(store, name, id);
	file_stripes_add(&stripes, id);
	file_links_stripes(&stripes, s->links, n);
	/* The lock comes before the file: a replace in between would leave us with the old one. */
	file_stripes_lock(store, &stripes);
	fd = openat(store->dirfd, name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	s->opens++;
	if (fd < 0)
		status = errno == ENOENT ? file_node_not_found(id, err)
					 : file_fail_in(err, errno, "open", store, name);
	else
		status = append_locked(s, fd, name, id, tail, n, err);
	file_stripes_unlock(store, &stripes);
	if (status == BK_OK && file_sync_file(s, fd) < 0) {
		status = file_fail_in(err, errno, "sync", store, name);
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	}
	if (fd >= 0)
		close(fd);
	/* The file may have got its name from a session that asked for less. */
	if (status == BK_OK &&
	    atomic_load_explicit(&store->control->head->lax, memory_order_relaxed))
		status = file_node_settle_name(s, name, false, err);
	return status;
}

/* ---- Remove ---------------------------------------------------------------------------- */

static void remove_stripes(struct file_stripes *set, const struct file_parsed *node)
{
	memset(set, 0, sizeof(*set));
	file_stripes_add(set, node->id);
	file_stripes_add(set, node->path);
	if (node->parent.len)
		file_stripes_add(set, node->parent);
	file_links_stripes(set, node->links, node->link_count);
}

/* With the stripes held and the node in s->node. */
static bk_status remove_locked(struct bk_session *s, const char *name, struct bk_error *err)
{
	struct file_index *ix = s->store->index;
	const struct file_parsed *node = &s->node;
	struct file_key key = file_key(FILE_KEY_CHILDREN, node->id);
	struct file_entry *head = file_index_find(ix, &key, NULL);
	bk_status status = file_index_check(ix, err);
	uint64_t at;

	if (status != BK_OK)
		return status;
	if (head)
		return bk_fail(err, BK_IN_USE, 0, "the node '%.*s' still has %u children",
			       node->id.len > 200 ? 200 : (int)node->id.len,
			       (const char *)node->id.data,
			       (unsigned)atomic_load_explicit(&head->live, memory_order_relaxed));
	file_change_begin(&s->change, ix, s->intent);
	for (size_t i = 0; i < node->link_count; i++) {
		key = file_key_link(node->id, node->links[i].rel, node->links[i].target);
		if (file_index_find(ix, &key, &at))
			file_change_kill(&s->change, at);
	}
	key = file_key(FILE_KEY_ID, node->id);
	if (file_index_find(ix, &key, &at))
		file_change_kill(&s->change, at);
	status = file_change_write(&s->change, FILE_INTENT_REMOVE, name, 0, err);
	if (status != BK_OK)
		return status;
	if (unlinkat(s->store->dirfd, name, 0) < 0) {
		status = file_fail_in(err, errno, "remove", s->store, name);
		file_change_drop(&s->change);
		return status;
	}
	file_change_publish(&s->change);
	file_change_relist(&s->change);
	return BK_OK;
}

bk_status file_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	const uint32_t want = BK_WANT_PATH | BK_WANT_LINKS;
	struct file_stripes stripes;
	char name[FILE_NODE_NAME];
	bk_status status = file_check_id(id, err);
	uint64_t version;

	if (status != BK_OK)
		return status;
	file_node_name(s->store, name, id);
	file_note_lax(s);
	do { /* what is to be locked is known from the node, and must be so still once locked */
		status = file_node_load(s, &s->node, id, want, err);
		if (status != BK_OK)
			break;
		version = s->node.version;
		remove_stripes(&stripes, &s->node);
		file_stripes_lock(s->store, &stripes);
		status = file_node_load(s, &s->node, id, want, err);
		if (status == BK_OK && s->node.version == version) {
			status = remove_locked(s, name, err);
			version = 0;
		}
		file_stripes_unlock(s->store, &stripes);
	} while (status == BK_OK && version);
	if (status == BK_NOT_FOUND)
		return file_node_not_found(id, err);
	if (status != BK_OK)
		return status;
	return file_node_settle_name(s, name, true, err);
}
