/*
 * load.c - a node's file: its name, and all of it read.
 */
#include "file.h"

#include "hash.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define LOAD_FIRST_READ ((size_t)16 << 10)

void file_node_name(const struct bk_store *store, char out[FILE_NODE_NAME], struct bk_slice id)
{
	char digits[FILE_NAME_LEN + 1];
	char *p = out + 6;

	file_hash_name(digits, id);
	memcpy(out, "nodes/", 6);
	for (uint64_t i = 0; i < store->opts->node_levels; i++) {
		*p++ = digits[2 * i];
		*p++ = digits[2 * i + 1];
		*p++ = '/';
	}
	memcpy(p, digits, sizeof(digits));
}

bk_status file_check_id(struct bk_slice id, struct bk_error *err)
{
	if (id.len == 0)
		return bk_fail(err, BK_INVALID, 0, "an id must not be empty");
	if (id.len > FILE_ID_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "an id has %zu bytes, at most %u are allowed",
			       id.len, FILE_ID_MAX);
	return BK_OK;
}

bk_status file_node_not_found(struct bk_slice id, struct bk_error *err)
{
	return bk_fail(err, BK_NOT_FOUND, 0, "no node '%.*s'", id.len > 200 ? 200 : (int)id.len,
		       id.len ? (const char *)id.data : "");
}

/* All of an open file into the image.  One read call when it is small. */
static int load_image(int fd, struct file_buf *image)
{
	size_t room = LOAD_FIRST_READ;

	file_buf_reuse(image);
	for (;;) {
		ssize_t n;

		if (!file_buf_room(image, room)) {
			errno = ENOMEM;
			return -1;
		}
		room = image->cap - image->len;
		n = read(fd, image->data + image->len, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		image->len += (size_t)n;
		if ((size_t)n < room)
			return 0;
		room = image->len;
	}
}

bk_status file_node_load(struct bk_session *s, struct file_parsed *into, struct bk_slice id,
			 uint32_t want, struct bk_error *err)
{
	struct bk_store *store = s->store;
	char name[FILE_NODE_NAME];
	bk_status status;
	int fd, rc, saved;

	file_node_name(store, name, id);
	fd = openat(store->dirfd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	s->opens++;
	if (fd < 0 && errno == ENOENT)
		return BK_NOT_FOUND;
	if (fd < 0)
		return file_fail_in(err, errno, "open", store, name);
	rc = load_image(fd, &into->image);
	saved = errno;
	close(fd);
	if (rc < 0)
		return file_fail_in(err, saved, "read", store, name);
	s->read_bytes += into->image.len;
	status = file_record_parse(into, want);
	if (status == BK_NOMEM)
		return bk_fail(err, status, 0, "out of memory for '%s/%s'", store->dir, name);
	if (status != BK_OK)
		return bk_fail(err, status, 0,
			       "'%s/%s' does not check out: record %zu, from byte %zu, is damaged",
			       store->dir, name, into->records + 1, into->valid_len);
	if (!bk_slice_eq(into->id, id))
		return bk_fail(err, BK_CORRUPT, 0, "'%s/%s' holds another node than its name says",
			       store->dir, name);
	return BK_OK;
}
