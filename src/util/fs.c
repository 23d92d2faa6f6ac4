/*
 * fs.c - reading, making and removing by path.
 */
#include "util/fs.h"

#include "util/buf.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bk_status bk_fs_status(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
		return BK_NO_SPACE;
	case EACCES:
	case EPERM:
	case EROFS:
		return BK_AUTH;
	case ENOENT:
		return BK_NOT_FOUND;
	case ENOMEM:
		return BK_NOMEM;
	default:
		return BK_IO;
	}
}

static bk_status fs_fail(struct bk_error *err, const char *what, const char *path)
{
	int e = errno;

	return bk_fail(err, bk_fs_status(e), e, "cannot %s %s: %s", what, path, strerror(e));
}

/* A umask that takes something from the owner would keep us out of our own folder, now and later.
 */
static void fs_own(const char *path)
{
	struct stat sb;

	if (stat(path, &sb) == 0 && (sb.st_mode & 0700) != 0700)
		chmod(path, (sb.st_mode & 07777) | 0700);
}

bk_status bk_fs_mkdirs(const char *path, uint32_t mode, struct bk_error *err)
{
	char *copy, *p;
	bk_status st = BK_OK;

	if (!*path)
		return bk_fail(err, BK_INVALID, 0, "cannot make a folder: its path is empty");
	copy = strdup(path);
	if (!copy)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	for (p = copy + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, (mode_t)mode) == 0) {
			fs_own(copy);
		} else if (!(errno == EEXIST && bk_fs_is_folder(copy))) {
			st = fs_fail(err, "make folder", copy);
			break;
		}
		*p = c;
		if (c == '\0')
			break;
	}
	free(copy);
	return st;
}

static bk_status fs_read_fd(struct bk_buf *buf, int fd, const char *path, size_t max,
			    struct bk_error *err)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fs_fail(err, "read", path);
		if (buf->len + (size_t)n > max)
			return bk_fail(err, BK_TOO_LARGE, 0, "%s is larger than %zu bytes", path,
				       max);
		bk_buf_put(buf, chunk, (size_t)n);
	}
	return BK_OK;
}

bk_status bk_fs_read(char **out, size_t *len, const char *path, size_t max, struct bk_error *err)
{
	struct bk_buf buf = BK_BUF_INIT;
	struct stat sb;
	bk_status st;
	size_t n;
	char *text;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return fs_fail(err, "open", path);
	if (fstat(fd, &sb) != 0)
		st = fs_fail(err, "stat", path);
	else if (!S_ISREG(sb.st_mode))
		st = bk_fail(err, BK_INVALID, 0, "%s is not a regular file", path);
	else
		st = fs_read_fd(&buf, fd, path, max, err);
	close(fd);
	n = buf.len;
	text = bk_buf_steal(&buf);
	if (st == BK_OK && !text)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory reading %s", path);
	if (st != BK_OK) {
		free(text);
		return st;
	}
	*out = text;
	if (len)
		*len = n;
	return BK_OK;
}

static bk_status fs_remove_at(int dirfd, const char *name, const char *path, dev_t dev,
			      struct bk_error *err);

/* Everything inside an open folder; takes `fd` over. */
static bk_status fs_remove_inside(int fd, const char *path, dev_t dev, struct bk_error *err)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	bk_status st = BK_OK;

	if (!dir) {
		st = fs_fail(err, "read folder", path);
		close(fd);
		return st;
	}
	while (st == BK_OK && (errno = 0, entry = readdir(dir))) {
		char *child;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		child = bk_fs_join(path, entry->d_name);
		if (!child) {
			st = bk_fail(err, BK_NOMEM, 0, "out of memory");
			break;
		}
		st = fs_remove_at(fd, entry->d_name, child, dev, err);
		free(child);
	}
	if (st == BK_OK && errno != 0)
		st = fs_fail(err, "read folder", path);
	closedir(dir);
	return st;
}

/* dev 0: any (the top).  The folder is opened without following links and only then looked at, so
 * that nobody can swap it for a link in between. */
static bk_status fs_remove_at(int dirfd, const char *name, const char *path, dev_t dev,
			      struct bk_error *err)
{
	struct stat sb;
	bk_status st;
	int fd;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return BK_OK;
	if (errno != EISDIR && errno != EPERM)
		return fs_fail(err, "remove", path);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return BK_OK; /* somebody else removes it too */
	if (fd < 0)
		return fs_fail(err, "open folder", path);
	if (fstat(fd, &sb) != 0) {
		st = fs_fail(err, "stat", path);
		close(fd);
		return st;
	}
	if (dev != 0 && sb.st_dev != dev) {
		close(fd);
		return bk_fail(err, BK_FOREIGN, 0, "%s is a mount point and is left alone", path);
	}
	st = fs_remove_inside(fd, path, sb.st_dev, err);
	if (st == BK_OK && unlinkat(dirfd, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
		st = fs_fail(err, "remove folder", path);
	return st;
}

bk_status bk_fs_remove_tree(const char *path, struct bk_error *err)
{
	return fs_remove_at(AT_FDCWD, path, path, 0, err);
}

bk_status bk_fs_remove_in(int folder, const char *name, struct bk_error *err)
{
	struct stat sb;

	if (fstat(folder, &sb) != 0)
		return fs_fail(err, "stat the folder of", name);
	return fs_remove_at(folder, name, name, sb.st_dev, err);
}

bool bk_fs_write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return true;
}

char *bk_fs_join(const char *folder, const char *name)
{
	struct bk_buf buf = BK_BUF_INIT;
	size_t len = strlen(folder);

	if (name[0] == '/' || len == 0)
		return strdup(name);
	bk_buf_putf(&buf, "%s%s%s", folder, folder[len - 1] == '/' ? "" : "/", name);
	return bk_buf_steal(&buf);
}

char *bk_fs_program_folder(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	slash[slash == path ? 1 : 0] = '\0';
	return strdup(path);
}

bool bk_fs_is_folder(const char *path)
{
	struct stat sb;

	return stat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}
