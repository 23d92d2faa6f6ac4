/*
 * io.c - system calls as this backend wants them; see io.h.
 *
 * The one invariant: an error leaves errno as the failing call set it.
 */
#include "io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bk_status io_status(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return BK_NO_SPACE;
	case EACCES:
	case EPERM:
	case EROFS:
		return BK_AUTH;
	case ENOMEM:
		return BK_NOMEM;
	case ENAMETOOLONG:
		return BK_TOO_LARGE;
	default:
		return BK_IO;
	}
}

static const char *io_remedy(int errnum)
{
	switch (errnum) {
	case ENOSPC:
		return "; free space or inodes there, or set 'path' to a folder elsewhere";
	case EDQUOT:
		return "; the disk quota is used up";
	case EFBIG:
		return "; the limit on file sizes is reached (ulimit -f, or the file system's own)";
	case EACCES:
	case EPERM:
		return "; give this user access to the folder, or set 'path' to another one";
	case EROFS:
		return "; mount it for writing, or set 'path' to another folder";
	default:
		return "";
	}
}

bk_status file_fail(struct bk_error *err, int errnum, const char *what, const char *folder,
		    const char *name)
{
	const char *slash = name && *name ? "/" : "";
	char reason[128];
	struct rlimit limit;

	if (!name)
		name = "";
	/* strerror_r of glibc may leave the buffer alone and return a constant. */
	const char *text = strerror_r(errnum, reason, sizeof(reason));
	if (errnum == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		return bk_fail(err, BK_IO, errnum,
			       "cannot %s '%s%s%s': %s; this process may have %llu open; raise the "
			       "limit (ulimit -n) or use fewer sessions",
			       what, folder, slash, name, text, (unsigned long long)limit.rlim_cur);
	}
	return bk_fail(err, io_status(errnum), errnum, "cannot %s '%s%s%s': %s%s", what, folder,
		       slash, name, text, io_remedy(errnum));
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_pwrite_all(int fd, const void *data, size_t len, uint64_t offset)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t file_read_full(int fd, void *buf, size_t cap)
{
	size_t got = 0;

	while (got < cap) {
		ssize_t n = read(fd, (char *)buf + got, cap - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

int file_make_parents(int dirfd, const char *path, unsigned *made)
{
	char part[4096];
	size_t len = strlen(path);

	if (len >= sizeof(part)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(part, path, len + 1);
	for (char *p = part + 1; *p; p++) {
		if (*p != '/' || p[-1] == '/')
			continue;
		*p = '\0';
		if (mkdirat(dirfd, part, 0777) == 0)
			*made += 1;
		else if (errno != EEXIST && errno != EISDIR)
			return -1;
		*p = '/';
	}
	return 0;
}

int file_sync_folder(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc, saved;

	if (fd < 0)
		return -1;
	rc = fsync(fd);
	saved = errno;
	close(fd);
	errno = saved;
	return rc;
}

static DIR *io_opendir(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir) {
		int saved = errno;

		close(fd);
		errno = saved;
	}
	return dir;
}

static bool io_is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

int file_first_entry(int dirfd, const char *path, bool (*known)(const char *name), char *name,
		     size_t cap)
{
	DIR *dir = io_opendir(dirfd, path);
	struct dirent *e;
	int found = 0;

	if (!dir)
		return -1;
	errno = 0;
	while (!found && (e = readdir(dir))) {
		if (io_is_dots(e->d_name) || (known && known(e->d_name)))
			continue;
		snprintf(name, cap, "%s", e->d_name);
		found = 1;
	}
	if (!found && errno)
		found = -1;
	int saved = errno;
	closedir(dir);
	errno = saved;
	return found;
}

/* Empty the folder that fd stands for; closes fd.  `where`: its path, for `failed`. */
static int io_empty(int fd, const char *where, char *failed, size_t cap)
{
	DIR *dir = fdopendir(fd);
	char below[512] = "";
	struct dirent *e;
	int rc = 0, saved;

	if (!dir) {
		close(fd);
		snprintf(failed, cap, "%s", where);
		return -1;
	}
	while (rc == 0 && (errno = 0, e = readdir(dir))) {
		if (io_is_dots(e->d_name))
			continue;
		if (e->d_type != DT_DIR && unlinkat(fd, e->d_name, 0) == 0)
			continue;
		if (e->d_type != DT_DIR && errno != EISDIR && errno != EPERM) {
			snprintf(below, sizeof(below), "%s", e->d_name);
			rc = -1;
		} else {
			rc = file_remove_tree(fd, e->d_name, true, below, sizeof(below));
		}
	}
	if (rc == 0 && errno)
		rc = -1;
	saved = errno;
	if (rc)
		snprintf(failed, cap, "%s/%s", where, below);
	closedir(dir);
	errno = saved;
	return rc;
}

int file_remove_tree(int dirfd, const char *path, bool self, char *failed, size_t cap)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*failed = '\0';
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || io_empty(fd, path, failed, cap) < 0 ||
	    (self && unlinkat(dirfd, path, AT_REMOVEDIR) < 0)) {
		if (!*failed)
			snprintf(failed, cap, "%s", path);
		return -1;
	}
	return 0;
}

int file_rename_new(int dirfd, const char *from, const char *to)
{
	if (renameat2(dirfd, from, dirfd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system without the flag: a second name does not replace either. */
	if (linkat(dirfd, from, dirfd, to, 0) < 0)
		return -1;
	unlinkat(dirfd, from, 0);
	return 0;
}
