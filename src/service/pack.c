/*
 * pack.c - writing a folder into one file.
 *
 * The one invariant: the head is written last, so that half a pack is none.
 */
#include "service/pack.h"

#include "util/buf.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PCK_BUFFER ((size_t)1 << 20)
#define PCK_BLOCK  ((size_t)4096)

struct pck_state {
	int fd;
	const char *path;
	uint64_t at; /* where the next bytes go */
	uint64_t files, bytes, count;
	struct bk_buf index;
	char *buffer;
	struct bk_error *err;
};

static bk_status pck_fail(struct pck_state *s, const char *what, const char *name)
{
	int e = errno;

	return bk_fail(s->err, bk_fs_status(e), e, "cannot %s %s: %s", what, name, strerror(e));
}

static bk_status pck_put(struct pck_state *s, const char *data, size_t len, uint64_t at)
{
	while (len > 0) {
		ssize_t n = pwrite(s->fd, data, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pck_fail(s, "write", s->path);
		data += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return BK_OK;
}

static void pck_index(struct pck_state *s, const struct bk_pack_raw *raw,
		      const struct bk_buf *extents, const char *name)
{
	static const char zeros[8];

	bk_buf_put(&s->index, raw, sizeof(*raw));
	bk_buf_put(&s->index, extents->data, extents->len);
	bk_buf_put(&s->index, name, raw->name_len + 1); /* with its NUL */
	bk_buf_put(&s->index, zeros, (8 - s->index.len % 8) % 8);
	s->count++;
}

static bool pck_is_zero(const char *data, size_t len)
{
	return data[0] == 0 && memcmp(data, data + 1, len - 1) == 0;
}

/* Bytes at `at` of the file, blocks of zeros left out. */
static bk_status pck_block_run(struct pck_state *s, struct bk_buf *extents,
			       struct bk_pack_extent *open, const char *data, size_t len,
			       uint64_t at)
{
	size_t from, n, start = 0;
	bk_status st = BK_OK;

	for (from = 0; st == BK_OK && from < len; from += n) {
		bool zero;

		n = len - from < PCK_BLOCK ? len - from : PCK_BLOCK;
		zero = pck_is_zero(data + from, n);
		if (!zero && open->len > 0 && open->at + open->len == at + from) {
			open->len += n;
		} else if (!zero) {
			if (open->len > 0)
				bk_buf_put(extents, open, sizeof(*open));
			*open = (struct bk_pack_extent){at + from, n};
		}
		if (zero) {
			st = pck_put(s, data + start, from - start, s->at);
			s->at += from - start;
			start = from + n;
		}
	}
	if (st == BK_OK) {
		st = pck_put(s, data + start, len - start, s->at);
		s->at += len - start;
	}
	return st;
}

static bk_status pck_contents(struct pck_state *s, struct bk_buf *extents, int in, uint64_t size,
			      const char *name)
{
	struct bk_pack_extent open = {0, 0};
	uint64_t at = 0;
	bk_status st = BK_OK;

	while (st == BK_OK && at < size) {
		off_t data = lseek(in, (off_t)at, SEEK_DATA);
		ssize_t n;

		if (data < 0 && errno != ENXIO)
			return pck_fail(s, "read", name);
		if (data < 0 || (uint64_t)data >= size)
			break; /* the rest is a hole */
		at = (uint64_t)data;
		n = pread(in, s->buffer, PCK_BUFFER, data);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pck_fail(s, "read", name);
		if (n == 0)
			break;
		if ((uint64_t)n > size - at)
			n = (ssize_t)(size - at);
		st = pck_block_run(s, extents, &open, s->buffer, (size_t)n, at);
		at += (uint64_t)n;
	}
	if (open.len > 0)
		bk_buf_put(extents, &open, sizeof(open));
	return st;
}

static struct bk_pack_raw pck_raw(const struct pck_state *s, enum bk_pack_kind kind,
				  const struct stat *sb, const char *name)
{
	return (struct bk_pack_raw){.kind = kind,
				    .mode = sb->st_mode & 07777,
				    .name_len = (uint32_t)strlen(name),
				    .size = kind == BK_PACK_FILE ? (uint64_t)sb->st_size : 0,
				    .data_at = s->at};
}

static bk_status pck_file(struct pck_state *s, int dir, const char *name, const char *path)
{
	int in = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct bk_buf extents = BK_BUF_INIT;
	struct bk_pack_raw raw;
	struct stat sb;
	bk_status st;

	if (in < 0)
		return pck_fail(s, "open", path);
	if (fstat(in, &sb) != 0 || !S_ISREG(sb.st_mode)) {
		close(in);
		return bk_fail(s->err, BK_INVALID, 0, "%s is not a regular file", path);
	}
	raw = pck_raw(s, BK_PACK_FILE, &sb, path);
	st = pck_contents(s, &extents, in, raw.size, path);
	raw.extent_count = (uint32_t)(extents.len / sizeof(struct bk_pack_extent));
	pck_index(s, &raw, &extents, path);
	s->index.failed = s->index.failed || extents.failed;
	bk_buf_free(&extents);
	close(in);
	s->files++;
	s->bytes += raw.size;
	return st;
}

static bk_status pck_link(struct pck_state *s, int dir, const char *name, const char *path)
{
	struct bk_buf none = BK_BUF_INIT;
	struct stat sb = {0};
	struct bk_pack_raw raw = pck_raw(s, BK_PACK_LINK, &sb, path);
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));
	bk_status st;

	if (n < 0)
		return pck_fail(s, "read link", path);
	raw.size = (uint64_t)n;
	st = pck_put(s, target, (size_t)n, s->at);
	s->at += (uint64_t)n;
	pck_index(s, &raw, &none, path);
	return st;
}

/* The names of one kind in a folder, one after the other, each with its NUL. */
static void pck_list(DIR *dir, struct bk_buf *folders, struct bk_buf *files, struct bk_buf *links)
{
	struct dirent *entry;
	struct stat sb;

	while ((errno = 0, entry = readdir(dir))) {
		unsigned char type = entry->d_type;
		struct bk_buf *to = NULL;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (type == DT_UNKNOWN &&
		    fstatat(dirfd(dir), entry->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0)
			type = IFTODT(sb.st_mode);
		if (type == DT_DIR)
			to = folders;
		else if (type == DT_LNK)
			to = links;
		else if (type != DT_SOCK && type != DT_FIFO) /* of a server that is gone */
			to = files;
		if (to)
			bk_buf_put(to, entry->d_name, strlen(entry->d_name) + 1);
	}
}

static bk_status pck_folder(struct pck_state *s, int at, const char *name, const char *path);

static bk_status pck_each(struct pck_state *s, int dir, const char *path,
			  const struct bk_buf *names,
			  bk_status (*one)(struct pck_state *, int, const char *, const char *))
{
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; st == BK_OK && i < names->len; i += strlen(names->data + i) + 1) {
		const char *name = names->data + i;
		char *child = path[0] ? bk_fs_join(path, name) : strdup(name);

		st = child ? one(s, dir, name, child)
			   : bk_fail(s->err, BK_NOMEM, 0, "out of memory");
		free(child);
	}
	return st;
}

static bk_status pck_folder(struct pck_state *s, int at, const char *name, const char *path)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct bk_buf folders = BK_BUF_INIT, files = BK_BUF_INIT, links = BK_BUF_INIT;
	struct bk_buf none = BK_BUF_INIT;
	struct bk_pack_raw raw;
	struct stat sb;
	bk_status st = BK_OK;
	DIR *dir = NULL;

	if (fd < 0 || fstat(fd, &sb) != 0 || !(dir = fdopendir(fd))) {
		st = pck_fail(s, "open folder", path[0] ? path : name);
		if (fd >= 0)
			close(fd);
		return st;
	}
	pck_list(dir, &folders, &files, &links);
	if (errno != 0)
		st = pck_fail(s, "read folder", path[0] ? path : name);
	if (folders.failed || files.failed || links.failed)
		st = bk_fail(s->err, BK_NOMEM, 0, "out of memory");
	raw = pck_raw(s, BK_PACK_FOLDER, &sb, path);
	pck_index(s, &raw, &none, path);
	if (st == BK_OK)
		st = pck_each(s, fd, path, &files, pck_file);
	if (st == BK_OK)
		st = pck_each(s, fd, path, &links, pck_link);
	if (st == BK_OK)
		st = pck_each(s, fd, path, &folders, pck_folder);
	bk_buf_free(&folders);
	bk_buf_free(&files);
	bk_buf_free(&links);
	closedir(dir);
	return st;
}

bk_status bk_pack_write(const char *path, const char *folder, uint64_t *files, uint64_t *bytes,
			struct bk_error *err)
{
	struct pck_state s = {.at = sizeof(struct bk_pack_head), .path = path, .err = err};
	struct bk_pack_head head = {.magic = BK_PACK_MAGIC};
	bk_status st;

	s.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s.fd < 0)
		return pck_fail(&s, "make", path);
	s.buffer = malloc(PCK_BUFFER);
	st = s.buffer ? pck_folder(&s, AT_FDCWD, folder, "") : BK_NOMEM;
	if (!s.buffer || s.index.failed)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (st == BK_OK && s.index.len > BK_PACK_INDEX_MAX)
		st = bk_fail(err, BK_TOO_LARGE, 0, "%s: there are too many files", folder);
	head.index_at = s.at;
	head.index_len = s.index.len;
	head.count = s.count;
	if (st == BK_OK)
		st = pck_put(&s, s.index.data, s.index.len, s.at);
	if (st == BK_OK)
		st = pck_put(&s, (const char *)&head, sizeof(head), 0);
	if (close(s.fd) != 0 && st == BK_OK)
		st = pck_fail(&s, "write", path);
	if (st != BK_OK)
		unlink(path);
	*files = s.files;
	*bytes = s.bytes;
	free(s.buffer);
	bk_buf_free(&s.index);
	return st;
}
