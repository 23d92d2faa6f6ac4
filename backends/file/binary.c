/*
 * binary.c - binaries read, looked at and removed.
 *
 * The one invariant: a reader reads the binary that it opened, though it may be replaced or
 * removed meanwhile.
 */
#include "binary.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bk_status bin_not_found(struct bk_slice key, struct bk_error *err)
{
	return bk_fail(err, BK_NOT_FOUND, 0, "no binary '%.*s'", key.len > 300 ? 300 : (int)key.len,
		       (const char *)key.data);
}

static bk_status bin_fail(struct bk_session *s, int errnum, const char *what, struct bk_slice key,
			  const char *name, struct bk_error *err)
{
	if (errnum == ENOENT || errnum == ENOTDIR)
		return bin_not_found(key, err);
	return file_fail_in(err, errnum, what, s->store, name);
}

static bk_status bin_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			       uint64_t offset, uint64_t len, struct bk_binary_info *info,
			       struct bk_error *err)
{
	struct bk_reader *r = &s->reader;
	bk_status status = file_key_check(key, err);
	struct stat st;
	int fd;

	if (status != BK_OK)
		return status;
	if (r->fd >= 0)
		return bk_fail(err, BK_STATE, 0, "the session has a reader open");
	status = file_key_to_name(&r->name, key, s->store->opts->binary_levels, err);
	if (status != BK_OK)
		return status;
	fd = openat(s->store->dirfd, r->name.data, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	s->opens++;
	if (fd < 0)
		return bin_fail(s, errno, "open", key, r->name.data, err);
	if (fstat(fd, &st) < 0)
		status = file_fail_in(err, errno, "read", s->store, r->name.data);
	else if (offset > (uint64_t)st.st_size)
		status = bk_fail(err, BK_INVALID, 0, "offset %llu lies behind the end at %llu",
				 (unsigned long long)offset, (unsigned long long)st.st_size);
	if (status != BK_OK) {
		close(fd);
		return status;
	}
	uint64_t rest = (uint64_t)st.st_size - offset;
	r->session = s;
	r->fd = fd;
	r->at = offset;
	r->left = len < rest ? len : rest;
	if (info)
		info->size_bytes = (uint64_t)st.st_size;
	*out = r;
	return BK_OK;
}

static bk_status bin_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
			  struct bk_error *err)
{
	ssize_t got;

	if (r->fd < 0)
		return bk_fail(err, BK_STATE, 0, "the reader is closed");
	if (r->left == 0) {
		*n = 0;
		return BK_END;
	}
	if (cap > r->left)
		cap = (size_t)r->left;
	do
		got = pread(r->fd, buf, cap, (off_t)r->at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return file_fail_in(err, errno, "read", r->session->store, r->name.data);
	if (got == 0)
		return bk_fail(err, BK_CORRUPT, 0,
			       "'%s/%s' ends at byte %llu, before its size; something else cut it",
			       r->session->store->dir, r->name.data, (unsigned long long)r->at);
	r->at += (uint64_t)got;
	r->left -= (uint64_t)got;
	r->session->read_bytes += (uint64_t)got;
	*n = (size_t)got;
	return BK_OK;
}

static void bin_read_close(struct bk_reader *r)
{
	if (!r || r->fd < 0)
		return;
	close(r->fd);
	r->fd = -1;
}

static bk_status bin_stat(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
			  struct bk_error *err)
{
	bk_status status = file_key_check(key, err);
	struct stat st;

	if (status == BK_OK)
		status = file_key_to_name(&s->scratch, key, s->store->opts->binary_levels, err);
	if (status != BK_OK)
		return status;
	if (fstatat(s->store->dirfd, s->scratch.data, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return bin_fail(s, errno, "look at", key, s->scratch.data, err);
	info->size_bytes = (uint64_t)st.st_size;
	return BK_OK;
}

static bk_status bin_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	bk_status status = file_key_check(key, err);
	const char *name;

	if (status == BK_OK)
		status = file_key_to_name(&s->scratch, key, s->store->opts->binary_levels, err);
	if (status != BK_OK)
		return status;
	name = s->scratch.data;
	if (unlinkat(s->store->dirfd, name, 0) < 0)
		return bin_fail(s, errno, "remove", key, name, err);
	if (file_sync_name(s, name) < 0) {
		status = file_fail_in(err, errno, "sync the folder of", s->store, name);
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
		return status;
	}
	return BK_OK;
}

const struct bk_binary_ops file_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = file_write_open,
	.write = file_write,
	.finish = file_write_finish,
	.abort = file_write_abort,
	.read_open = bin_read_open,
	.read = bin_read,
	.read_close = bin_read_close,
	.stat = bin_stat,
	.remove = bin_remove,
	.list_open = file_list_open,
	.list_next = file_list_next,
	.list_close = file_list_close,
};
