/*
 * recover.c - after a process died: finish or forget what it was doing; after a power cut, or
 * without an index: build the index anew from the nodes.
 *
 * The one invariant: only the nodes' files decide.  A change whose file was not touched never
 * happened; one whose file was touched is finished.
 */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read and parse one node's file.  NOT_FOUND leaves err alone. */
static bk_status recover_read(struct bk_store *store, struct file_parsed *node, const char *name,
			      struct bk_error *err)
{
	int fd = openat(store->dirfd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	bk_status status = BK_OK;
	struct stat st;
	ssize_t n = -1;

	if (fd < 0 && errno == ENOENT)
		return BK_NOT_FOUND;
	if (fd < 0)
		return file_fail_in(err, errno, "open", store, name);
	node->image.len = 0;
	if (fstat(fd, &st) == 0) {
		if (!file_buf_room(&node->image, (size_t)st.st_size + 1))
			status = bk_fail(err, BK_NOMEM, 0, "out of memory for '%s/%s'", store->dir,
					 name);
		else
			n = file_read_full(fd, node->image.data, (size_t)st.st_size);
	}
	if (status == BK_OK && n < 0)
		status = file_fail_in(err, errno, "read", store, name);
	close(fd);
	if (status != BK_OK)
		return status;
	node->image.len = (size_t)n;
	status = file_record_parse(node, BK_WANT_PATH | BK_WANT_LINKS);
	if (status != BK_OK)
		bk_fail(err, status, 0, "'%s/%s' does not check out", store->dir, name);
	return status;
}

/* Cut an append that was not finished. */
static bk_status recover_cut(struct bk_store *store, const struct file_parsed *node,
			     const char *name, struct bk_error *err)
{
	int fd, rc;

	if (node->valid_len == node->image.len)
		return BK_OK;
	fd = openat(store->dirfd, name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	rc = fd < 0 ? -1 : ftruncate(fd, (off_t)node->valid_len);
	int saved = errno;
	if (fd >= 0)
		close(fd);
	return rc < 0 ? file_fail_in(err, saved, "cut", store, name) : BK_OK;
}

static bk_status recover_intent(struct bk_store *store, struct file_intent *intent,
				struct file_parsed *node, struct bk_error *err)
{
	enum file_intent_op op = (enum file_intent_op)atomic_load(&intent->op);
	bool made = true;

	if (op != FILE_INTENT_RELIST) {
		bk_status status = recover_read(store, node, intent->name, err);

		if (status == BK_OK)
			status = recover_cut(store, node, intent->name, err);
		else if (status == BK_NOT_FOUND)
			node->version = 0;
		if (status != BK_OK && status != BK_NOT_FOUND)
			return status;
		made = op == FILE_INTENT_REMOVE ? status == BK_NOT_FOUND
						: node->version == intent->version;
	}
	return made ? file_change_redo(store->index, op, intent->offset, intent->len, err) : BK_OK;
}

bk_status file_recover(struct bk_store *store, struct bk_error *err)
{
	/* Whatever is behind the last whole record is what the dead process was writing. */
	struct file_parsed node = {.lenient = true};
	bk_status status = BK_OK;
	char failed[512];

	for (unsigned i = 0; i < FILE_SESSIONS && status == BK_OK; i++) {
		struct file_intent *intent = &store->control->intents[i];

		if (atomic_load(&intent->op) == FILE_INTENT_NONE)
			continue;
		status = recover_intent(store, intent, &node, err);
		if (status == BK_OK)
			file_intent_disarm(intent);
	}
	file_parsed_free(&node);
	if (status == BK_OK &&
	    file_remove_tree(store->dirfd, "tmp", false, failed, sizeof(failed)) < 0)
		status = file_fail_in(err, errno, "remove", store, failed);
	return status;
}

/* ---- The index built anew ----------------------------------------------------------- */

struct rebuild {
	struct bk_store *store;
	struct file_parsed node;
	struct file_change change;
	uint64_t nodes, lost;
	struct bk_error *err;
};

/* A file that was never complete, or not any longer: out of the way, and told. */
static bk_status rebuild_set_aside(struct rebuild *r, const char *name, const char *why)
{
	struct bk_store *store = r->store;
	const char *base = strrchr(name, '/') + 1;
	char to[80], line[512];

	snprintf(to, sizeof(to), "lost/%s", base);
	if ((mkdirat(store->dirfd, "lost", 0777) < 0 && errno != EEXIST) ||
	    renameat(store->dirfd, name, store->dirfd, to) < 0)
		return file_fail_in(r->err, errno, "move to lost/ the file", store, name);
	r->lost++;
	snprintf(line, sizeof(line), "file: '%s/%s' %s; it is now %s", store->dir, name, why, to);
	store->host->log(store->host->ctx, 1, line);
	return BK_OK;
}

static int rebuild_by_target(const void *a, const void *b)
{
	const struct bk_link *x = a, *y = b;

	return bk_slice_cmp(x->target, y->target);
}

/* Two files claim one path: after a power cut the one that was removed may be back.  The newer
 * stays. */
static bk_status rebuild_rival(struct rebuild *r, const char *name, bool *skip)
{
	struct file_key key = file_key(FILE_KEY_PATH, r->node.path);
	struct file_entry *e = file_index_find(r->store->index, &key, NULL);
	struct file_parsed other = {.lenient = true};
	char rival[FILE_NODE_NAME];
	bk_status status;

	*skip = false;
	if (!e)
		return BK_OK;
	file_node_name(r->store, rival, file_entry_id(e));
	status = recover_read(r->store, &other, rival, r->err);
	if (status == BK_OK && other.version > r->node.version) {
		*skip = true;
		status = rebuild_set_aside(r, name, "has a path that a newer node bears");
	} else if (status == BK_OK) {
		struct file_change kill = {0};

		file_change_begin(&kill, r->store->index, NULL);
		for (size_t i = 0; i < other.link_count; i++) {
			struct file_key link =
				file_key_link(other.id, other.links[i].rel, other.links[i].target);
			uint64_t at;

			if (file_index_find(r->store->index, &link, &at))
				file_change_kill(&kill, at);
		}
		uint64_t at;
		key = file_key(FILE_KEY_ID, other.id);
		if (file_index_find(r->store->index, &key, &at))
			file_change_kill(&kill, at);
		status = rebuild_set_aside(r, rival, "has a path that a newer node bears");
		if (status == BK_OK)
			status = file_change_write(&kill, FILE_INTENT_NONE, "", 0, r->err);
		if (status == BK_OK)
			file_change_publish(&kill);
		file_buf_free(&kill.buf);
	}
	file_parsed_free(&other);
	return status;
}

static bk_status rebuild_node(struct rebuild *r, const char *name)
{
	struct bk_store *store = r->store;
	char expect[FILE_NODE_NAME];
	bool skip;
	bk_status status = recover_read(store, &r->node, name, r->err);

	if (status == BK_CORRUPT)
		return rebuild_set_aside(r, name, "does not check out");
	if (status == BK_NOT_FOUND)
		return BK_OK;
	if (status == BK_OK)
		status = recover_cut(store, &r->node, name, r->err);
	if (status != BK_OK)
		return status;
	file_node_name(store, expect, r->node.id);
	if (strcmp(expect, name) != 0)
		return rebuild_set_aside(r, name, "has a name that is not its id's");
	status = rebuild_rival(r, name, &skip);
	if (status != BK_OK || skip)
		return status;
	if (r->node.link_count)
		qsort(r->node.links, r->node.link_count, sizeof(*r->node.links), rebuild_by_target);
	file_change_begin(&r->change, store->index, NULL);
	file_change_add_node(&r->change, r->node.parent, r->node.id, r->node.path);
	for (size_t i = 0; i < r->node.link_count; i++)
		file_change_add_link(&r->change, r->node.links[i].target, r->node.id,
				     r->node.links[i].rel, r->node.path);
	status = file_change_write(&r->change, FILE_INTENT_NONE, "", 0, r->err);
	if (status == BK_OK)
		file_change_publish(&r->change);
	r->nodes++;
	return status;
}

static bk_status rebuild_folder(struct rebuild *r, const char *path, uint64_t levels)
{
	struct bk_store *store = r->store;
	int fd = openat(store->dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bk_status status = BK_OK;
	struct dirent *e;

	if (!dir) {
		status = file_fail_in(r->err, errno, "list", store, path);
		if (fd >= 0)
			close(fd);
		return status;
	}
	while (status == BK_OK && (errno = 0, e = readdir(dir))) {
		char name[512];

		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (levels)
			status = rebuild_folder(r, name, levels - 1);
		else
			status = rebuild_node(r, name);
	}
	if (status == BK_OK && errno)
		status = file_fail_in(r->err, errno, "list", store, path);
	closedir(dir);
	return status;
}

bk_status file_rebuild(struct bk_store *store, struct bk_error *err)
{
	struct rebuild r = {.store = store, .node.lenient = true, .err = err};
	struct file_control_head *head = store->control->head;
	uint64_t generation = atomic_load(&head->generation) + 1;
	char failed[512], line[256];
	bk_status status;

	file_control_enter(store->control, FILE_STATE_REBUILD);
	for (unsigned i = 0; i < FILE_SESSIONS; i++)
		file_intent_disarm(&store->control->intents[i]);
	file_index_sweep(store->dirfd, UINT64_MAX);
	status = file_index_open(&store->index, store->dirfd, store->dir, generation, true, err);
	if (status != BK_OK)
		return status;
	status = rebuild_folder(&r, "nodes", store->opts->node_levels);
	if (status == BK_OK &&
	    file_remove_tree(store->dirfd, "tmp", false, failed, sizeof(failed)) < 0)
		status = file_fail_in(err, errno, "remove", store, failed);
	if (status == BK_OK) {
		atomic_store(&head->generation, generation);
		if (r.nodes) {
			snprintf(line, sizeof(line),
				 "file: built the index of '%.100s' anew from %llu nodes, %llu "
				 "files set aside",
				 store->dir, (unsigned long long)r.nodes,
				 (unsigned long long)r.lost);
			store->host->log(store->host->ctx, 1, line);
		}
	} else {
		file_index_close(store->index);
		store->index = NULL;
	}
	file_parsed_free(&r.node);
	file_buf_free(&r.change.buf);
	return status;
}
