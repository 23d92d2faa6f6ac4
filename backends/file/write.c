/*
 * write.c - a binary written: into a temporary file, which gets its name when it is whole.
 *
 * The one invariant: a writer is closed by finish, whatever that returns, or by abort; the
 * temporary file is gone then.
 */
#include "binary.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bk_status file_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			  uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	struct bk_writer *w = &s->writer;
	bk_status status = file_key_check(key, err);

	if (status != BK_OK)
		return status;
	if (w->fd >= 0)
		return bk_fail(err, BK_STATE, 0, "the session has a writer open");
	if (mode != BK_PUT_CREATE && mode != BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "write mode %u is neither 1 nor 3", mode);
	if (size_bytes != BK_SIZE_UNKNOWN && size_bytes > INT64_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "no file can have %llu bytes",
			       (unsigned long long)size_bytes);
	status = file_key_to_name(&w->name, key, s->store->opts->binary_levels, err);
	if (status != BK_OK)
		return status;
	file_temp_name(s, w->temp, sizeof(w->temp));
	w->fd = openat(s->store->dirfd, w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	s->opens++;
	if (w->fd < 0)
		return file_fail_in(err, errno, "make", s->store, w->temp);
	w->session = s;
	w->mode = mode;
	w->size = 0;
	w->wanted = size_bytes;
	*out = w;
	return BK_OK;
}

bk_status file_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err)
{
	if (w->fd < 0)
		return bk_fail(err, BK_STATE, 0, "the writer is closed");
	if (file_write_all(w->fd, data, len) < 0)
		return file_fail_in(err, errno, "write", w->session->store, w->temp);
	w->size += len;
	w->session->written_bytes += len;
	return BK_OK;
}

void file_write_abort(struct bk_writer *w)
{
	if (!w || w->fd < 0)
		return;
	close(w->fd);
	w->fd = -1;
	unlinkat(w->session->store->dirfd, w->temp, 0);
}

/* The name may be new in its folder, and the folder in the one above. */
static bk_status write_name(struct bk_writer *w, struct bk_error *err)
{
	struct bk_session *s = w->session;
	const char *name = w->name.data;
	bk_status status;

	if (file_give_name(s, w->temp, name, w->mode == BK_PUT_CREATE) < 0) {
		if (errno == EEXIST && w->mode == BK_PUT_CREATE)
			return bk_fail(err, BK_EXISTS, EEXIST, "the binary '%.300s' exists already",
				       name);
		return file_fail_in(err, errno, "give its name to the binary", s->store, name);
	}
	if (file_sync_name(s, name) < 0) {
		status = file_fail_in(err, errno, "sync the folder of", s->store, name);
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
		return status;
	}
	return BK_OK;
}

bk_status file_write_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_session *s = w->session;
	bk_status status = BK_OK;
	int fd = w->fd;

	if (fd < 0)
		return bk_fail(err, BK_STATE, 0, "the writer is closed");
	if (w->wanted != BK_SIZE_UNKNOWN && w->wanted != w->size)
		status = bk_fail(err, BK_INVALID, 0,
				 "the binary has %llu bytes, %llu were announced",
				 (unsigned long long)w->size, (unsigned long long)w->wanted);
	else if (file_sync_file(s, fd) < 0)
		status = file_fail_in(err, errno, "sync", s->store, w->temp);
	if (close(fd) < 0 && status == BK_OK)
		status = file_fail_in(err, errno, "write", s->store, w->temp);
	w->fd = -1;
	if (status == BK_OK)
		status = write_name(w, err);
	if (status != BK_OK) {
		unlinkat(s->store->dirfd, w->temp, 0);
		return status;
	}
	if (info)
		info->size_bytes = w->size;
	return BK_OK;
}
