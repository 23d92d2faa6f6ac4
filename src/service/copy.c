/*
 * copy.c - copying a template's folder: one pass, by descriptors, with the kernel doing the bytes.
 *
 * Most of the files of a database's empty folder are small; what counts is the number of calls
 * a file.  Between two file systems copy_file_range() may not work, then a buffer does.
 */
#include "service/copy.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CP_BUFFER ((size_t)256 << 10)
#define CP_BLOCK  ((size_t)4096)

struct cp_state {
	struct bk_copy *copy;
	char *buffer;
	bool no_range; /* copy_file_range() does not work here */
	struct bk_error *err;
};

static bk_status cp_fail(struct cp_state *s, const char *what, const char *name)
{
	int e = errno;

	return bk_fail(s->err, bk_fs_status(e), e, "cannot %s %s: %s", what, name, strerror(e));
}

static bool cp_is_zero(const char *data, size_t len)
{
	return len == 0 || (data[0] == 0 && memcmp(data, data + 1, len - 1) == 0);
}

static bk_status cp_write(struct cp_state *s, int fd, const char *data, size_t len, off_t at,
			  const char *name)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, data, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cp_fail(s, "write", name);
		data += n;
		at += n;
		len -= (size_t)n;
	}
	return BK_OK;
}

/* One block after the other, those of zeros left out if asked. */
static bk_status cp_put(struct cp_state *s, int fd, const char *data, size_t len, off_t at,
			const char *name)
{
	bk_status st = BK_OK;
	size_t from = 0, to;

	if (!(s->copy->flags & BK_COPY_HOLES))
		return cp_write(s, fd, data, len, at, name);
	while (st == BK_OK && from < len) {
		for (to = from; to < len; to += CP_BLOCK) {
			if (cp_is_zero(data + to, len - to < CP_BLOCK ? len - to : CP_BLOCK))
				break;
		}
		to = to < len ? to : len;
		st = cp_write(s, fd, data + from, to - from, at + (off_t)from, name);
		while (to < len && cp_is_zero(data + to, len - to < CP_BLOCK ? len - to : CP_BLOCK))
			to += CP_BLOCK;
		from = to;
	}
	return st;
}

static bk_status cp_bytes(struct cp_state *s, int in, int out, off_t at, off_t end,
			  const char *name)
{
	bk_status st = BK_OK;

	while (st == BK_OK && at < end) {
		size_t want = (size_t)(end - at);
		ssize_t n;

		if (!s->no_range && !(s->copy->flags & BK_COPY_HOLES)) {
			off_t from = at, to = at;

			n = copy_file_range(in, &from, out, &to, want, 0);
			if (n > 0) {
				at += n;
				continue;
			}
			if (n == 0)
				break;
			if (errno == ENOSPC || errno == EDQUOT || errno == EIO)
				return cp_fail(s, "write", name);
			s->no_range = true;
		}
		n = pread(in, s->buffer, want < CP_BUFFER ? want : CP_BUFFER, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cp_fail(s, "read", name);
		if (n == 0)
			break;
		st = cp_put(s, out, s->buffer, (size_t)n, at, name);
		at += n;
	}
	return st;
}

static bk_status cp_contents(struct cp_state *s, int in, int out, const struct stat *sb,
			     const char *name)
{
	off_t at = 0, data, hole;
	bool sparse = (off_t)sb->st_blocks * 512 < sb->st_size;
	bk_status st = BK_OK;

	if (sb->st_size == 0)
		return BK_OK;
	if (!sparse && !(s->copy->flags & BK_COPY_HOLES))
		return cp_bytes(s, in, out, 0, sb->st_size, name);
	while (st == BK_OK && at < sb->st_size) {
		data = lseek(in, at, SEEK_DATA);
		if (data < 0)
			break; /* the rest is a hole */
		hole = lseek(in, data, SEEK_HOLE);
		if (hole < 0)
			hole = sb->st_size;
		st = cp_bytes(s, in, out, data, hole, name);
		at = hole;
	}
	if (st == BK_OK && ftruncate(out, sb->st_size) != 0)
		st = cp_fail(s, "write", name);
	return st;
}

static bk_status cp_own(struct cp_state *s, int fd, const char *name)
{
	if (s->copy->uid != (uid_t)-1 && fchown(fd, s->copy->uid, s->copy->gid) != 0)
		return cp_fail(s, "give away", name);
	return BK_OK;
}

static bk_status cp_file(struct cp_state *s, int from, int to, const char *name)
{
	struct stat sb;
	bk_status st;
	int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), out;

	if (in < 0)
		return cp_fail(s, "open", name);
	if (fstat(in, &sb) != 0 || !S_ISREG(sb.st_mode)) {
		close(in);
		return bk_fail(s->err, BK_INVALID, 0, "%s is not a regular file", name);
	}
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, sb.st_mode & 07777);
	if (out < 0) {
		st = cp_fail(s, "make", name);
		close(in);
		return st;
	}
	st = cp_own(s, out, name);
	if (st == BK_OK)
		st = cp_contents(s, in, out, &sb, name);
	close(in);
	if (close(out) != 0 && st == BK_OK)
		st = cp_fail(s, "write", name);
	s->copy->files++;
	s->copy->bytes += (uint64_t)sb.st_size;
	return st;
}

static bk_status cp_link(struct cp_state *s, int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n < 0)
		return cp_fail(s, "read link", name);
	target[n] = '\0';
	if (symlinkat(target, to, name) != 0)
		return cp_fail(s, "make link", name);
	return BK_OK;
}

static bk_status cp_folder(struct cp_state *s, int from_at, const char *from, int to_at,
			   const char *to);

static bk_status cp_entry(struct cp_state *s, DIR *dir, const struct dirent *entry, int to)
{
	int from = dirfd(dir);
	unsigned char type = entry->d_type;
	struct stat sb;

	if (s->copy->stop && s->copy->files % 32 == 0 && s->copy->stop(s->copy->stop_ctx))
		return bk_fail(s->err, BK_CANCELLED, 0, "the copy was called off");
	if (type == DT_UNKNOWN && fstatat(from, entry->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(sb.st_mode);
	if (type == DT_DIR)
		return cp_folder(s, from, entry->d_name, to, entry->d_name);
	if (type == DT_LNK)
		return cp_link(s, from, to, entry->d_name);
	if (type == DT_SOCK || type == DT_FIFO)
		return BK_OK; /* of a server that is gone */
	return cp_file(s, from, to, entry->d_name);
}

static bk_status cp_folder(struct cp_state *s, int from_at, const char *from, int to_at,
			   const char *to)
{
	int in = openat(from_at, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), out = -1;
	struct dirent *entry;
	struct stat sb;
	bk_status st = BK_OK;
	DIR *dir = NULL;

	if (in < 0 || fstat(in, &sb) != 0 || !(dir = fdopendir(in))) {
		st = cp_fail(s, "open folder", from);
		if (in >= 0)
			close(in);
		return st;
	}
	if (mkdirat(to_at, to, 0700) != 0)
		st = cp_fail(s, "make folder", to);
	else if ((out = openat(to_at, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		st = cp_fail(s, "open folder", to);
	while (st == BK_OK && (errno = 0, entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			st = cp_entry(s, dir, entry, out);
	}
	if (st == BK_OK && errno != 0)
		st = cp_fail(s, "read folder", from);
	if (st == BK_OK)
		st = cp_own(s, out, to);
	if (st == BK_OK && fchmod(out, sb.st_mode & 07777) != 0)
		st = cp_fail(s, "set the mode of", to);
	closedir(dir);
	if (out >= 0)
		close(out);
	return st;
}

bk_status bk_copy_tree(struct bk_copy *copy, const char *from, const char *to, struct bk_error *err)
{
	struct cp_state s = {copy, malloc(CP_BUFFER), false, err};
	bk_status st;

	copy->files = copy->bytes = 0;
	if (!s.buffer)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	st = cp_folder(&s, AT_FDCWD, from, AT_FDCWD, to);
	free(s.buffer);
	return st;
}

static bool cp_add_blocks(int at, const char *name, uint64_t *bytes)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *entry;
	struct stat sb;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (fstatat(fd, entry->d_name, &sb, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		*bytes += (uint64_t)sb.st_blocks * 512;
		if (S_ISDIR(sb.st_mode))
			cp_add_blocks(fd, entry->d_name, bytes);
	}
	closedir(dir);
	return true;
}

uint64_t bk_copy_tree_bytes(const char *path)
{
	uint64_t bytes = 0;

	cp_add_blocks(AT_FDCWD, path, &bytes);
	return bytes;
}
