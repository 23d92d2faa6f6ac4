/*
 * unpack.c - a pack's folder made again, by several workers.
 *
 * Most of the files of a database's empty folder are small; what counts is the work a file and a
 * page.  So the bytes of neighbours are read together, and a file that is to be another user's is
 * made as that user, which saves giving it away.  A worker takes a folder at a time: two in one
 * folder would wait for each other.
 *
 * The one invariant: threads end before a function of this file returns; callers fork.
 */
#include "service/unpack.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define UNP_BUFFER      ((size_t)256 << 10)
#define UNP_WORKERS_MAX 8
#define UNP_LOOK_NS     20000000

struct unp_shared {
	const struct bk_unpack *how;
	const struct bk_pack *pack;
	int to;             /* the tree's own folder */
	bool late;          /* at what was left out */
	atomic_size_t next; /* the next folder for whoever is free */
	atomic_bool failed; /* somebody did, or it was called off: no need to go on */
};

struct unp_state { /* one worker's */
	struct unp_shared *shared;
	char *buffer;           /* bytes of the pack: `held` from `at` on */
	uint64_t at, held, end; /* end: of the folder's bytes */
	bk_status status;
	struct bk_error error;
};

static bk_status unp_fail(struct bk_error *err, const char *what, const char *name)
{
	int e = errno;

	return bk_fail(err, bk_fs_status(e), e, "cannot %s %s: %s", what, name, strerror(e));
}

/* This thread alone, as far as files go.  It is never the main thread: to change so takes a process
 * its death signal. */
static bool unp_become(uid_t uid, gid_t gid)
{
	if (uid == (uid_t)-1)
		return true;
	setfsgid(gid);
	setfsuid(uid);
	if ((uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid)
		return true;
	errno = EPERM;
	return false;
}

/* ---- Bytes -------------------------------------------------------------------------------------
 */

/* Some of the pack's bytes from `at` on, up to `len`; *n how many.  Those behind them come too. */
static const char *unp_bytes(struct unp_state *s, size_t *n, uint64_t at, uint64_t len)
{
	uint64_t want = len < UNP_BUFFER ? len : UNP_BUFFER, ahead;
	ssize_t got;

	if (at < s->at || at - s->at > s->held || s->held - (at - s->at) < want) {
		ahead = s->end > at ? s->end - at : 0;
		if (ahead > UNP_BUFFER)
			ahead = UNP_BUFFER;
		if (ahead < want)
			ahead = want;
		do {
			got = pread(s->shared->pack->fd, s->buffer, ahead, (off_t)at);
		} while (got < 0 && errno == EINTR);
		s->at = at;
		s->held = got > 0 ? (uint64_t)got : 0;
		if (got <= 0) {
			errno = got == 0 ? EIO : errno; /* it was complete when it was opened */
			return NULL;
		}
	}
	*n = s->held - (at - s->at) < want ? s->held - (at - s->at) : want;
	return s->buffer + (at - s->at);
}

static bk_status unp_contents(struct unp_state *s, int fd, const struct bk_pack_entry *e)
{
	uint64_t from = e->data_at, end = 0;
	uint32_t i;

	for (i = 0; i < e->extent_count; i++) {
		uint64_t at = e->extents[i].at;

		end = at + e->extents[i].len;
		while (at < end) {
			size_t len = 0;
			const char *data = unp_bytes(s, &len, from, end - at);
			ssize_t n;

			if (!data)
				return unp_fail(&s->error, "read the template's", e->name);
			n = pwrite(fd, data, len, (off_t)at);
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				return unp_fail(&s->error, "write", e->name);
			at += (uint64_t)n;
			from += (uint64_t)n;
		}
	}
	if (end < e->size && ftruncate(fd, (off_t)e->size) != 0)
		return unp_fail(&s->error, "write", e->name);
	return BK_OK;
}

/* ---- Entries -----------------------------------------------------------------------------------
 */

static bk_status unp_file(struct unp_state *s, const struct bk_pack_entry *e)
{
	int fd = openat(s->shared->to, e->name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, e->mode & 0700);
	bk_status st = BK_OK;

	if (fd < 0)
		return unp_fail(&s->error, "make", e->name);
	if ((e->mode & ~0700U) && fchmod(fd, e->mode) != 0) /* whatever the umask is */
		st = unp_fail(&s->error, "set the mode of", e->name);
	if (st == BK_OK)
		st = unp_contents(s, fd, e);
	if (close(fd) != 0 && st == BK_OK)
		st = unp_fail(&s->error, "write", e->name);
	return st;
}

static bk_status unp_link(struct unp_state *s, const struct bk_pack_entry *e)
{
	char target[PATH_MAX];
	const char *data;
	size_t n = 0;

	errno = ENAMETOOLONG;
	data = e->size < sizeof(target) ? unp_bytes(s, &n, e->data_at, e->size) : NULL;
	if (data && n != e->size)
		errno = EIO; /* as where nothing at all is left */
	if (!data || n != e->size)
		return unp_fail(&s->error, "read the template's", e->name);
	memcpy(target, data, n);
	target[n] = '\0';
	if (symlinkat(target, s->shared->to, e->name) != 0)
		return unp_fail(&s->error, "make link", e->name);
	return BK_OK;
}

/* The folder of what stands behind it in the pack, or one below. */
static bool unp_is_late(const struct bk_unpack *how, const char *name)
{
	const char *const *late = how->late;
	size_t len = strcspn(name, "/");

	while (late && *late && (strncmp(*late, name, len) != 0 || (*late)[len] != '\0'))
		late++;
	return late && *late;
}

static bk_status unp_folder(struct unp_state *s, size_t which)
{
	const struct bk_pack *pack = s->shared->pack;
	size_t i = pack->folders[which] + 1, last = pack->folders[which + 1];
	bk_status st = BK_OK;

	s->end = last < pack->count ? pack->entries[last].data_at : pack->data_end;
	for (; st == BK_OK && i < last; i++) {
		if (atomic_load_explicit(&s->shared->failed, memory_order_relaxed))
			return bk_fail(&s->error, BK_CANCELLED, 0, "the copy was called off");
		st = pack->entries[i].kind == BK_PACK_LINK ? unp_link(s, &pack->entries[i])
							   : unp_file(s, &pack->entries[i]);
	}
	return st;
}

static void *unp_work(void *ctx)
{
	struct unp_state *s = ctx;
	const struct bk_unpack *how = s->shared->how;
	const struct bk_pack *pack = s->shared->pack;
	size_t which;

	s->buffer = malloc(UNP_BUFFER);
	if (!s->buffer)
		s->status = bk_fail(&s->error, BK_NOMEM, 0, "out of memory");
	else if (!unp_become(how->uid, how->gid))
		s->status = unp_fail(&s->error, "write as", "the server's user");
	while (s->status == BK_OK &&
	       (which = atomic_fetch_add(&s->shared->next, 1)) < pack->folder_count) {
		const char *name = pack->entries[pack->folders[which]].name;

		if (unp_is_late(how, name) == s->shared->late)
			s->status = unp_folder(s, which);
	}
	if (s->status != BK_OK)
		atomic_store(&s->shared->failed, true);
	free(s->buffer);
	return NULL;
}

static bk_status unp_give(struct unp_shared *shared, const struct bk_pack_entry *e,
			  struct bk_error *err)
{
	const struct bk_unpack *how = shared->how;

	if (how->uid != (uid_t)-1 &&
	    fchownat(shared->to, e->name, how->uid, how->gid, AT_SYMLINK_NOFOLLOW) != 0)
		return unp_fail(err, "give away", e->name);
	if ((e->mode | 0700) != 0700 && fchmodat(shared->to, e->name, e->mode | 0700, 0) != 0)
		return unp_fail(err, "set the mode of", e->name);
	return BK_OK;
}

/* All folders, each after the one that it is in.  They are given away in the opposite order: whose
 * they will be can put a link in the place of what is in them. */
static bk_status unp_make_folders(struct unp_shared *shared, struct bk_error *err)
{
	const struct bk_pack *pack = shared->pack;
	bk_status st = BK_OK;
	size_t i;

	for (i = 1; st == BK_OK && i < pack->folder_count; i++) {
		const struct bk_pack_entry *e = &pack->entries[pack->folders[i]];

		if (mkdirat(shared->to, e->name, 0700) != 0)
			st = unp_fail(err, "make folder", e->name);
	}
	while (st == BK_OK && --i > 0)
		st = unp_give(shared, &pack->entries[pack->folders[i]], err);
	return st;
}

/* The end of a worker, with a look now and then at whether all are to end. */
static void unp_join(struct unp_shared *shared, pthread_t thread)
{
	const struct bk_unpack *how = shared->how;
	struct timespec until;

	do {
		if (how->stop && how->stop(how->stop_ctx))
			atomic_store(&shared->failed, true);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += UNP_LOOK_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
	} while (pthread_timedjoin_np(thread, NULL, &until) != 0);
}

static bk_status unp_files(struct unp_shared *shared, struct bk_error *err)
{
	unsigned n = shared->how->workers > 1 ? shared->how->workers : 1, i, begun;
	struct unp_state states[UNP_WORKERS_MAX];
	pthread_t threads[UNP_WORKERS_MAX];
	bk_status st = BK_OK;
	int e = 0;

	if (shared->how->stop && shared->how->stop(shared->how->stop_ctx))
		return bk_fail(err, BK_CANCELLED, 0, "the copy was called off");
	n = n < UNP_WORKERS_MAX ? n : UNP_WORKERS_MAX;
	for (begun = 0; begun < n; begun++) {
		states[begun] = (struct unp_state){.shared = shared, .error = bk_error_init()};
		e = pthread_create(&threads[begun], NULL, unp_work, &states[begun]);
		if (e != 0)
			break;
	}
	if (begun == 0)
		return bk_fail(err, BK_IO, e, "cannot start a thread: %s", strerror(e));
	for (i = 0; i < begun; i++) {
		unp_join(shared, threads[i]);
		/* the first real one; the others were called off because of it */
		if (states[i].status != BK_OK && (st == BK_OK || st == BK_CANCELLED)) {
			st = states[i].status;
			*err = states[i].error;
		}
	}
	return st;
}

bk_status bk_unpack_tree(const struct bk_unpack *how, const struct bk_pack *pack, const char *to,
			 struct bk_error *err)
{
	struct unp_shared shared = {.how = how, .pack = pack};
	bk_status st;

	if (mkdir(to, 0700) != 0)
		return unp_fail(err, "make folder", to);
	shared.to = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (shared.to < 0)
		return unp_fail(err, "open folder", to);
	st = unp_make_folders(&shared, err);
	if (st == BK_OK && how->uid != (uid_t)-1 && fchown(shared.to, how->uid, how->gid) != 0)
		st = unp_fail(err, "give away", to);
	if (st == BK_OK && fchmod(shared.to, pack->entries[0].mode | 0700) != 0)
		st = unp_fail(err, "set the mode of", to);
	if (st == BK_OK)
		st = unp_files(&shared, err);
	close(shared.to);
	return st;
}

bk_status bk_unpack_late(const struct bk_unpack *how, const struct bk_pack *pack, const char *to,
			 struct bk_error *err)
{
	struct unp_shared shared = {.how = how, .pack = pack, .late = true};
	bk_status st;

	shared.to = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (shared.to < 0)
		return unp_fail(err, "open folder", to);
	st = unp_files(&shared, err);
	close(shared.to);
	return st;
}

unsigned bk_unpack_workers(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1 ? 2 : 1;
}
