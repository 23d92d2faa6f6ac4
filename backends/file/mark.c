/*
 * mark.c - the file `.bakeoff`; see mark.h.
 *
 * The one invariant: the mark appears whole, by a rename.
 */
#include "mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a new file system or a make() cut short leaves in a folder. */
static bool mark_is_nothing(const char *name)
{
	return strcmp(name, FILE_MARK_NEW) == 0 || strcmp(name, "lost+found") == 0;
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
	mark_fd = openat(fd, FILE_MARK, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
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

bk_status file_mark_write(const char *folder, const char *mark, const struct file_mark *values,
			  bool sync, struct bk_error *err)
{
	int dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1, rc = -1;
	char text[1024];
	int len = snprintf(text, sizeof(text), "%s\n%s\n", mark, FILE_MARK_KIND);

	if (values->made)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "made %u\n", values->made);
	if (values->node_levels)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				"node-levels %u\nbinary-levels %u\n", values->node_levels,
				values->binary_levels);
	if (dirfd >= 0)
		fd = openat(dirfd, FILE_MARK_NEW,
			    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd >= 0 && file_write_all(fd, text, (size_t)len) == 0 && (!sync || fsync(fd) == 0) &&
	    renameat(dirfd, FILE_MARK_NEW, dirfd, FILE_MARK) == 0 && (!sync || fsync(dirfd) == 0))
		rc = 0;
	int saved = errno;
	if (rc < 0 && fd >= 0)
		unlinkat(dirfd, FILE_MARK_NEW, 0);
	if (fd >= 0)
		close(fd);
	if (dirfd >= 0)
		close(dirfd);
	return rc < 0 ? file_fail(err, saved, "write", folder, FILE_MARK) : BK_OK;
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
