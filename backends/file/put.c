/*
 * put.c - a node created or replaced: its file is written under a temporary name, the change to
 * the index is written to the log, and then the file gets its name.
 *
 * The one invariant: the rename is the moment at which the put happens.  What can fail for want
 * of space comes before it.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct put {
	struct bk_session *s;
	struct bk_node node; /* with the links as a sorted set */
	uint32_t mode;
	uint64_t version;
	bool exists; /* the node is there; s->node holds it */
	bool killed;
	char name[FILE_NODE_NAME], temp[48];
	struct file_stripes stripes;
};

/* Stripes are free again. */
bk_status file_node_settle_name(struct bk_session *s, const char *name, bool killed,
				struct bk_error *err)
{
	bk_status status = BK_OK;

	if (name && file_sync_name(s, name) < 0) {
		status = file_fail_in(err, errno, "sync the folder of", s->store, name);
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	}
	if (killed)
		file_compact_maybe(s->store);
	return status;
}

void file_note_lax(struct bk_session *s)
{
	_Atomic uint32_t *lax = &s->store->control->head->lax;

	if (s->durability < BK_DURABLE_MACHINE && !atomic_load_explicit(lax, memory_order_relaxed))
		atomic_store_explicit(lax, 1, memory_order_relaxed);
}

static bk_status put_check_args(const struct bk_node *node, uint32_t mode, struct bk_error *err)
{
	bk_status status = file_check_id(node->id, err);

	if (status == BK_OK && node->parent.len)
		status = file_check_id(node->parent, err);
	if (status != BK_OK)
		return status;
	if (mode < BK_PUT_CREATE || mode > BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "put mode %u is none of 1, 2, 3", mode);
	if (node->path.len == 0 || memchr(node->path.data, 0, node->path.len))
		return bk_fail(err, BK_INVALID, 0, "a path must not be empty nor hold a NUL");
	if (node->path.len > FILE_PATH_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "a path has %zu bytes, at most %u are allowed",
			       node->path.len, FILE_PATH_MAX);
	if (node->doc.len > FILE_DOC_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "a document has %zu bytes, at most %llu are allowed", node->doc.len,
			       (unsigned long long)FILE_DOC_MAX);
	return BK_OK;
}

/* Does the index allow it?  Under the stripes, or, as a first look, under the swap lock. */
static bk_status put_check_index(const struct put *p, struct bk_error *err)
{
	struct file_index *ix = p->s->store->index;
	const struct bk_node *node = &p->node;
	struct file_key id = file_key(FILE_KEY_ID, node->id), key;
	bool exists = file_index_find(ix, &id, NULL) != NULL;

	if (exists && p->mode == BK_PUT_CREATE)
		return bk_fail(err, BK_EXISTS, 0, "the node '%.*s' exists already",
			       node->id.len > 200 ? 200 : (int)node->id.len,
			       (const char *)node->id.data);
	if (!exists && p->mode == BK_PUT_REPLACE)
		return file_node_not_found(node->id, err);
	if (exists)
		return BK_OK;
	key = file_key(FILE_KEY_PATH, node->path);
	if (file_index_find(ix, &key, NULL))
		return bk_fail(err, BK_EXISTS, 0, "another node has the path '%.*s' already",
			       node->path.len > 300 ? 300 : (int)node->path.len,
			       (const char *)node->path.data);
	key = file_key(FILE_KEY_ID, node->parent);
	if (node->parent.len && !file_index_find(ix, &key, NULL))
		return bk_fail(err, BK_NOT_FOUND, 0, "the parent '%.*s' does not exist",
			       node->parent.len > 200 ? 200 : (int)node->parent.len,
			       (const char *)node->parent.data);
	return file_index_check(ix, err);
}

static bk_status put_check_old(const struct put *p, struct bk_error *err)
{
	const struct file_parsed *old = &p->s->node;

	if (p->node.version && p->node.version != old->version)
		return bk_fail(err, BK_CONFLICT, 0,
			       "the node '%.*s' has changed: version %llu is stored, %llu was "
			       "expected",
			       p->node.id.len > 200 ? 200 : (int)p->node.id.len,
			       (const char *)p->node.id.data, (unsigned long long)old->version,
			       (unsigned long long)p->node.version);
	if (!bk_slice_eq(old->parent, p->node.parent) || !bk_slice_eq(old->path, p->node.path))
		return bk_fail(err, BK_INVALID, 0,
			       "the node '%.*s' has another %s, which never changes",
			       p->node.id.len > 200 ? 200 : (int)p->node.id.len,
			       (const char *)p->node.id.data,
			       bk_slice_eq(old->path, p->node.path) ? "parent" : "path");
	return BK_OK;
}

static bk_status put_write_temp(struct put *p, struct bk_error *err)
{
	struct bk_session *s = p->s;
	int fd, rc, saved;

	file_buf_reuse(&s->record);
	if (!file_record_encode(&s->record, &p->node, p->version))
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a node's record");
	file_temp_name(s, p->temp, sizeof(p->temp));
	fd = openat(s->store->dirfd, p->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	s->opens++;
	if (fd < 0)
		return file_fail_in(err, errno, "make", s->store, p->temp);
	rc = file_write_all(fd, s->record.data, s->record.len);
	if (rc == 0)
		rc = file_sync_file(s, fd);
	saved = errno;
	if (close(fd) < 0 && rc == 0) {
		rc = -1;
		saved = errno;
	}
	s->written_bytes += s->record.len;
	if (rc == 0)
		return BK_OK;
	unlinkat(s->store->dirfd, p->temp, 0);
	return file_fail_in(err, saved, "write", s->store, p->temp);
}

/* What the index gains and loses.  Links that stay keep their entries: a cursor that is open
 * meets each of them once. */
static void put_build_change(struct put *p)
{
	struct bk_session *s = p->s;
	struct file_index *ix = s->store->index;
	struct file_change *c = &s->change;
	const struct bk_node *node = &p->node;

	file_change_begin(c, ix, s->intent);
	if (!p->exists)
		file_change_add_node(c, node->parent, node->id, node->path);
	for (size_t i = 0; i < node->link_count; i++) {
		const struct bk_link *link = &node->links[i];
		struct file_key key = file_key_link(node->id, link->rel, link->target);

		if (!p->exists || !file_index_find(ix, &key, NULL))
			file_change_add_link(c, link->target, node->id, link->rel, node->path);
	}
	for (size_t i = 0; p->exists && i < s->node.link_count; i++) {
		const struct bk_link *link = &s->node.links[i];
		struct file_key key = file_key_link(node->id, link->rel, link->target);
		uint64_t at;

		if (!file_links_have(node->links, node->link_count, link) &&
		    file_index_find(ix, &key, &at))
			file_change_kill(c, at);
	}
	p->killed = c->kills != SIZE_MAX;
}

/* With the stripes held, and the node's old state, if any, in s->node. */
static bk_status put_commit(struct put *p, struct bk_error *err)
{
	struct bk_session *s = p->s;
	bk_status status = put_check_index(p, err);

	if (status == BK_OK && p->exists)
		status = put_check_old(p, err);
	if (status != BK_OK)
		return status;
	put_build_change(p);
	status = file_change_write(&s->change, FILE_INTENT_PUT, p->name, p->version, err);
	if (status != BK_OK)
		return status;
	if (file_give_name(s, p->temp, p->name, !p->exists) < 0) {
		status = file_fail_in(err, errno, "give its name to the node's file", s->store,
				      p->name);
		file_change_drop(&s->change);
		return status;
	}
	file_change_publish(&s->change);
	if (p->killed)
		file_change_relist(&s->change);
	return BK_OK;
}

/* Read the node as it is, into s->node. */
static bk_status put_load(struct put *p, struct bk_error *err)
{
	bk_status status =
		file_node_load(p->s, &p->s->node, p->node.id, BK_WANT_PATH | BK_WANT_LINKS, err);

	p->exists = status == BK_OK;
	return status == BK_NOT_FOUND ? BK_OK : status;
}

/* Take the stripes of all that will change.  What that is depends on the node's old state, which
 * is read before, and once more after: if it has changed in between, again. */
static bk_status put_lock(struct put *p, struct bk_error *err)
{
	struct bk_session *s = p->s;
	bk_status status = BK_OK;

	for (;;) {
		bool existed;
		uint64_t version = 0;

		memset(&p->stripes, 0, sizeof(p->stripes));
		file_stripes_add(&p->stripes, p->node.id);
		file_stripes_add(&p->stripes, p->node.path);
		if (p->node.parent.len)
			file_stripes_add(&p->stripes, p->node.parent);
		file_links_stripes(&p->stripes, p->node.links, p->node.link_count);
		if (p->mode != BK_PUT_CREATE) {
			status = put_load(p, err);
			if (status != BK_OK)
				return status;
			if (p->exists) {
				version = s->node.version;
				file_links_stripes(&p->stripes, s->node.links, s->node.link_count);
			}
		}
		existed = p->exists;
		file_stripes_lock(s->store, &p->stripes);
		if (p->mode == BK_PUT_CREATE)
			return BK_OK;
		status = put_load(p, err);
		if (status == BK_OK && p->exists == existed &&
		    (!existed || s->node.version == version))
			return BK_OK;
		file_stripes_unlock(s->store, &p->stripes);
		if (status != BK_OK)
			return status;
	}
}

bk_status file_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			struct bk_error *err)
{
	struct put p = {.s = s, .node = *node, .mode = mode};
	bk_status status = put_check_args(node, mode, err);
	bool done;

	if (status == BK_OK)
		status = file_links_take(s, node->links, node->link_count, &p.node.link_count, err);
	if (status != BK_OK)
		return status;
	p.node.links = s->links;
	p.version = file_store_version(s->store);
	file_node_name(s->store, p.name, node->id);
	/* What cannot be should not cost a file.  A node that another session is making may be seen
	 * by halves here, its path without its id: an UPSERT has to wait for the stripes. */
	if (mode != BK_PUT_UPSERT) {
		pthread_rwlock_rdlock(&s->store->swap);
		status = put_check_index(&p, err);
		pthread_rwlock_unlock(&s->store->swap);
		if (status != BK_OK)
			return status;
	}
	status = put_write_temp(&p, err);
	if (status != BK_OK)
		return status;
	file_note_lax(s);
	status = put_lock(&p, err);
	if (status == BK_OK) {
		status = put_commit(&p, err);
		file_stripes_unlock(s->store, &p.stripes);
	}
	done = status == BK_OK;
	if (!done)
		unlinkat(s->store->dirfd, p.temp, 0);
	return done ? file_node_settle_name(s, p.name, p.killed, err) : status;
}
