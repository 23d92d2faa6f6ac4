/*
 * mark.c - the file `.bakeoff`; see mark.h.
 *
 * The one invariant: nothing here removes what is not empty, but for the mark itself.
 */
#include "mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a new file system, or a make() cut short, leaves in a folder. */
static bool mark_is_nothing(const char *name)
{
	return strncmp(name, FILE_MARK "-", sizeof(FILE_MARK)) == 0 ||
	       strcmp(name, "lost+found") == 0;
}

static char *mark_line(char **rest)
{
	char *line = *rest, *end = strchr(line, '\n');

	*rest = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

static void mark_parse(struct file_mark *out, char *text, const char *mark)
{
	const char *first = mark_line(&text), *kind = mark_line(&text);

	out->place = FILE_PLACE_FOREIGN;
	if (strcmp(kind, FILE_MARK_KIND) != 0) {
		snprintf(out->why, sizeof(out->why), "its mark names the backend '%.64s'", kind);
		return;
	}
	if (mark && strcmp(first, mark) != 0) {
		snprintf(out->why, sizeof(out->why), "it bears the mark '%.64s', not '%.64s'",
			 first, mark);
		return;
	}
	out->place = FILE_PLACE_OURS;
	while (*text) {
		const char *line = mark_line(&text);

		sscanf(line, "made %u", &out->made);
		sscanf(line, "node-levels %u", &out->node_levels);
		sscanf(line, "binary-levels %u", &out->binary_levels);
	}
}

static bk_status mark_unmarked(struct file_mark *out, int fd, const char *folder,
			       struct bk_error *err)
{
	char name[256];
	int found = file_first_entry(fd, ".", mark_is_nothing, name, sizeof(name));

	if (found < 0)
		return file_fail(err, errno, "list", folder, NULL);
	out->place = found ? FILE_PLACE_FOREIGN : FILE_PLACE_EMPTY;
	out->unmarked = found;
	if (found)
		snprintf(out->why, sizeof(out->why), "it holds '%.200s' and no mark of bakeoff",
			 name);
	return BK_OK;
}

bk_status file_mark_read(struct file_mark *out, const char *folder, const char *mark,
			 struct bk_error *err)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), mark_fd;
	bk_status status = BK_OK;
	char text[1024];
	ssize_t n;

	memset(out, 0, sizeof(*out));
	if (fd < 0 && errno == ENOENT)
		return BK_OK;
	if (fd < 0 && errno == ENOTDIR) {
		out->place = FILE_PLACE_FOREIGN;
		snprintf(out->why, sizeof(out->why), "it is no folder");
		return BK_OK;
	}
	if (fd < 0)
		return file_fail(err, errno, "open", folder, NULL);
	mark_fd = openat(fd, FILE_MARK, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (mark_fd >= 0) {
		n = file_read_full(mark_fd, text, sizeof(text) - 1);
		if (n < 0) {
			status = file_fail(err, errno, "read", folder, FILE_MARK);
		} else {
			text[n] = '\0';
			mark_parse(out, text, mark);
		}
		close(mark_fd);
	} else if (errno == ENOENT) {
		status = mark_unmarked(out, fd, folder, err);
	} else {
		status = file_fail(err, errno, "read", folder, FILE_MARK);
	}
	close(fd);
	return status;
}

/* ---- The folder of all spaces ------------------------------------------------------------- */

/* Does the folder `name` in the root bear a mark?  Its `made`, when it is ours. */
static bool mark_neighbour(int rootfd, const char *name, unsigned *made)
{
	struct file_mark mark = {0};
	char path[300], text[1024];
	int fd;
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/%s", name, FILE_MARK) >= (int)sizeof(path))
		return false;
	fd = openat(rootfd, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = file_read_full(fd, text, sizeof(text) - 1);
	close(fd);
	if (n >= 0) {
		text[n] = '\0';
		mark_parse(&mark, text, NULL);
		if (mark.made > *made)
			*made = mark.made;
	}
	return true;
}

static bk_status mark_look_inside(struct file_mark *out, const char *root, struct bk_error *err)
{
	DIR *dir = opendir(root);
	struct dirent *e;

	if (!dir)
		return file_fail(err, errno, "list", root, NULL);
	while ((e = readdir(dir))) {
		bool half = strncmp(e->d_name, FILE_MARK "-", sizeof(FILE_MARK)) == 0;

		if ((half || e->d_name[0] != '.') &&
		    mark_neighbour(dirfd(dir), e->d_name, &out->made) && !half)
			out->place = FILE_PLACE_OURS;
	}
	closedir(dir);
	return BK_OK;
}

bk_status file_mark_root(struct file_mark *out, const char *root, struct bk_error *err)
{
	bk_status status = file_mark_read(out, root, NULL, err);

	if (status == BK_OK && out->place == FILE_PLACE_OURS) {
		out->place = FILE_PLACE_FOREIGN;
		snprintf(out->why, sizeof(out->why),
			 "it is the folder of one space; 'path' is the one above it");
	} else if (status == BK_OK && (out->place == FILE_PLACE_EMPTY || out->unmarked)) {
		status = mark_look_inside(out, root, err);
	}
	return status;
}

/* ---- Made and removed --------------------------------------------------------------------- */

static int mark_write(int dirfd, const char *mark, const struct file_mark *values, bool sync)
{
	int fd = openat(dirfd, FILE_MARK, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			0666);
	char text[1024];
	int len = snprintf(text, sizeof(text), "%s\n%s\n", mark, FILE_MARK_KIND), rc, saved;

	if (fd < 0)
		return -1;
	if (values->made)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "made %u\n", values->made);
	len += snprintf(text + len, sizeof(text) - (size_t)len,
			"node-levels %u\nbinary-levels %u\n", values->node_levels,
			values->binary_levels);
	rc = file_write_all(fd, text, (size_t)len);
	if (rc == 0 && sync)
		rc = fsync(fd) < 0 || fsync(dirfd) < 0 ? -1 : 0;
	saved = errno;
	close(fd);
	errno = saved;
	return rc;
}

static void mark_remove_half(int rootfd, const char *half)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/%s", half, FILE_MARK);
	unlinkat(rootfd, path, 0);
	unlinkat(rootfd, half, AT_REMOVEDIR);
}

bk_status file_mark_make(const char *root, const char *space, const char *mark,
			 const struct file_mark *values, bool sync, struct bk_error *err)
{
	int rootfd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1, rc = -1;
	bk_status status = BK_OK;
	char half[64];

	if (rootfd < 0)
		return file_fail(err, errno, "open", root, NULL);
	snprintf(half, sizeof(half), FILE_MARK "-%s.half", space);
	mark_remove_half(rootfd, half);
	if (mkdirat(rootfd, half, 0777) == 0)
		fd = openat(rootfd, half, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		rc = mark_write(fd, mark, values, sync);
	if (rc == 0)
		rc = renameat(rootfd, half, rootfd, space);
	if (rc == 0 && sync)
		rc = fsync(rootfd);
	if (rc < 0)
		status = file_fail(err, errno, "make", root, space);
	if (status != BK_OK)
		mark_remove_half(rootfd, half);
	if (fd >= 0)
		close(fd);
	close(rootfd);
	return status;
}

bk_status file_mark_remove(const char *root, const char *space, bool sync, struct bk_error *err)
{
	int rootfd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	bk_status status = BK_OK;
	char half[64];

	if (rootfd < 0)
		return errno == ENOENT ? BK_OK : file_fail(err, errno, "open", root, NULL);
	snprintf(half, sizeof(half), FILE_MARK "-%s.half", space);
	mark_remove_half(rootfd, half);
	if (renameat(rootfd, space, rootfd, half) == 0) {
		mark_remove_half(rootfd, half);
		rc = sync ? fsync(rootfd) : 0;
	} else if (errno != ENOENT) {
		rc = -1;
	}
	if (rc < 0)
		status = file_fail(err, errno, "remove", root, space);
	close(rootfd);
	return status;
}

bk_status file_mark_foreign(struct bk_error *err, const char *what, const char *folder,
			    const struct file_mark *mark)
{
	return bk_fail(
		err, BK_FOREIGN, 0,
		"cannot %s '%s': it is not a store of this backend: %s; nothing was touched; "
		"use an empty or a new folder",
		what, folder, mark->why);
}
