/*
 * copy.c - copying a template's folder by descriptors, with the kernel doing the bytes.
 *
 * Most of the files of a database's empty folder are small; what counts is the work a file and a
 * page, and that several workers share it: each goes through all folders, in the same order, and
 * copies the files of every n-th.  Between two file systems copy_file_range() may not work, then a
 * buffer does.
 *
 * The one invariant: threads end before bk_copy_tree() returns; callers fork.
 */
#include "service/copy.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CP_BUFFER      ((size_t)256 << 10)
#define CP_WORKERS_MAX 8
#define CP_BLOCK       ((size_t)4096)

struct cp_shared {
	const char *from, *to;
	unsigned workers;
	atomic_bool failed; /* somebody did: the others need not go on */
};

struct cp_state { /* one worker's */
	struct cp_shared *shared;
	const struct bk_copy *copy;
	uint64_t files, bytes;
	char *buffer;
	bool no_range; /* copy_file_range() does not work here */
	unsigned me, folders;
	bk_status status;
	struct bk_error error, *err;
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
	s->files++;
	s->bytes += (uint64_t)sb.st_size;
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

/* `mine`: the files of this folder are this worker's. */
static bk_status cp_entry(struct cp_state *s, DIR *dir, const struct dirent *entry, int to,
			  bool mine)
{
	int from = dirfd(dir);
	unsigned char type = entry->d_type;
	struct stat sb;

	if (atomic_load_explicit(&s->shared->failed, memory_order_relaxed) ||
	    (s->me == 0 && s->copy->stop && s->files % 32 == 0 && s->copy->stop(s->copy->stop_ctx)))
		return bk_fail(s->err, BK_CANCELLED, 0, "the copy was called off");
	if (type == DT_UNKNOWN && fstatat(from, entry->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(sb.st_mode);
	if (type == DT_DIR)
		return cp_folder(s, from, entry->d_name, to, entry->d_name);
	if (!mine)
		return BK_OK;
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
	bool mine = s->folders++ % s->shared->workers == s->me;
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
	/* Another worker may have been here; the tree's own folder is made before all of them. */
	if (mkdirat(to_at, to, 0700) != 0 && errno != EEXIST)
		st = cp_fail(s, "make folder", to);
	else if ((out = openat(to_at, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		st = cp_fail(s, "open folder", to);
	while (st == BK_OK && (errno = 0, entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			st = cp_entry(s, dir, entry, out, mine);
	}
	if (st == BK_OK && errno != 0)
		st = cp_fail(s, "read folder", from);
	if (st == BK_OK && mine)
		st = cp_own(s, out, to);
	if (st == BK_OK && mine && fchmod(out, sb.st_mode & 07777) != 0)
		st = cp_fail(s, "set the mode of", to);
	closedir(dir);
	if (out >= 0)
		close(out);
	return st;
}

static void *cp_work(void *ctx)
{
	struct cp_state *s = ctx;

	s->err = &s->error;
	s->buffer = malloc(CP_BUFFER);
	if (s->buffer)
		s->status = cp_folder(s, AT_FDCWD, s->shared->from, AT_FDCWD, s->shared->to);
	else
		s->status = bk_fail(s->err, BK_NOMEM, 0, "out of memory");
	if (s->status != BK_OK)
		atomic_store(&s->shared->failed, true);
	free(s->buffer);
	return NULL;
}

bk_status bk_copy_tree(struct bk_copy *copy, const char *from, const char *to, struct bk_error *err)
{
	unsigned n = copy->workers > 1 ? copy->workers : 1, i;
	struct cp_shared shared = {.from = from, .to = to, .workers = n};
	struct cp_state states[CP_WORKERS_MAX];
	pthread_t threads[CP_WORKERS_MAX];
	bool begun[CP_WORKERS_MAX];
	bk_status st = BK_OK;

	n = shared.workers = n < CP_WORKERS_MAX ? n : CP_WORKERS_MAX;
	copy->files = copy->bytes = 0;
	if (mkdir(to, 0700) != 0)
		return bk_fail(err, bk_fs_status(errno), errno, "cannot make folder %s: %s", to,
			       strerror(errno));
	for (i = 0; i < n; i++)
		states[i] = (struct cp_state){
			.shared = &shared, .copy = copy, .me = i, .error = bk_error_init()};
	for (i = 1; i < n; i++)
		begun[i] = pthread_create(&threads[i], NULL, cp_work, &states[i]) == 0;
	cp_work(&states[0]);
	for (i = 1; i < n; i++) {
		if (begun[i])
			pthread_join(threads[i], NULL);
		else
			cp_work(&states[i]); /* its share is done here */
	}
	for (i = 0; i < n; i++) {
		copy->files += states[i].files;
		copy->bytes += states[i].bytes;
		/* the first real one; the others were called off because of it */
		if (states[i].status != BK_OK && (st == BK_OK || st == BK_CANCELLED)) {
			st = states[i].status;
			*err = states[i].error;
		}
	}
	return st;
}

unsigned bk_copy_workers(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1 ? 2 : 1;
}
