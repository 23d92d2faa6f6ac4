/*
 * enter.c - the store entered: lock taken and index mapped while anyone uses it, and left again.
 *
 * The one invariant: between enter and leave the state on disk is DIRTY; whoever finds it so, and
 * gets the lock, knows that its last user died.
 */
#include "file.h"
#include "mark.h"
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define FS_TMPFS 0x01021994L
#define FS_RAMFS 0x858458f6L

/* ---- The lock file ------------------------------------------------------------------ */

bk_status file_store_lock(struct bk_store *store, struct bk_error *err)
{
	char pid[24] = "";

	store->lockfd =
		openat(store->dirfd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (store->lockfd < 0)
		return file_fail_in(err, errno, "open", store, "lock");
	if (flock(store->lockfd, LOCK_EX | LOCK_NB) == 0) {
		int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());

		/* For who finds it locked; on a full disk it stays empty. */
		if (ftruncate(store->lockfd, 0) < 0 || pwrite(store->lockfd, pid, (size_t)n, 0) < 0)
			pid[0] = '\0';
		return BK_OK;
	}
	if (errno != EWOULDBLOCK)
		return file_fail_in(err, errno, "lock", store, "lock");
	ssize_t n = pread(store->lockfd, pid, sizeof(pid) - 1, 0);
	pid[n > 0 ? n : 0] = '\0';
	bk_fail(err, BK_UNAVAILABLE, EWOULDBLOCK,
		"'%s' is in use by another process or store (process %.10s); one at a time may "
		"open it: close the other, or use another 'path'",
		store->dir, *pid ? pid : "unknown");
	err->flags |= BK_ERR_RETRY;
	return BK_UNAVAILABLE;
}

void file_store_unlock(struct bk_store *store)
{
	if (store->lockfd >= 0)
		close(store->lockfd);
	if (store->dirfd >= 0)
		close(store->dirfd);
	store->lockfd = store->dirfd = -1;
}

/* ---- Enter and leave ---------------------------------------------------------------- */

/* Is this our place, made in the way that the options say? */
static bk_status enter_check(struct bk_store *store, const char *what, struct bk_error *err)
{
	struct file_mark mark, root;
	bk_status status = file_mark_read(&mark, store->dir, store->mark, err);

	if (status != BK_OK)
		return status;
	if (mark.place == FILE_PLACE_FOREIGN)
		return file_mark_foreign(err, what, store->dir, &mark);
	if (mark.place != FILE_PLACE_OURS) {
		status = file_mark_root(&root, store->root, err);
		if (status == BK_OK && root.place == FILE_PLACE_FOREIGN)
			return file_mark_foreign(err, what, store->root, &root);
		if (status != BK_OK)
			return status;
		return bk_fail(err, BK_NOT_FOUND, ENOENT, "cannot %s '%s': no store is there yet",
			       what, store->dir);
	}
	if (mark.node_levels != store->opts->node_levels ||
	    mark.binary_levels != store->opts->binary_levels)
		return bk_fail(
			err, BK_INVALID, 0,
			"'%s' was made with node-levels=%u and binary-levels=%u, the options "
			"say %u and %u; give the former, or use another 'path'",
			store->dir, mark.node_levels, mark.binary_levels,
			(unsigned)store->opts->node_levels, (unsigned)store->opts->binary_levels);
	return BK_OK;
}

static bk_status enter_load(struct bk_store *store, struct bk_error *err)
{
	struct file_control_head *head;
	struct timespec now;
	bk_status status;

	status = file_control_open(&store->control, store->dirfd, store->dir, true, err);
	if (status != BK_OK)
		return status;
	head = store->control->head;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t version = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	if (version <= atomic_load(&head->version))
		version = atomic_load(&head->version) + 1;
	atomic_store(&store->version, version);

	uint32_t state = atomic_load(&head->state);
	bool believed = file_control_believed(store->control);
	if (believed) {
		status = file_index_open(&store->index, store->dirfd, store->dir,
					 atomic_load(&head->generation), false, err);
		if (status != BK_OK && err->vendor_code != ENOENT && status != BK_CORRUPT)
			return status;
		believed = status == BK_OK;
	}
	/* What is synced stays so only as long as nothing changes: say so before anything does. */
	if (atomic_load(&head->synced)) {
		atomic_store(&head->synced, 0);
		if (file_control_sync(store->control) < 0)
			return file_fail_in(err, errno, "sync", store, "index/control");
	}
	if (!believed) {
		status = file_rebuild(store, err);
	} else if (state == FILE_STATE_DIRTY) {
		status = file_recover(store, err);
		file_index_sweep(store->dirfd, store->index->generation);
	}
	if (status == BK_OK)
		file_control_enter(store->control, FILE_STATE_DIRTY);
	return status;
}

static void store_unload(struct bk_store *store, bool clean)
{
	struct bk_error err = bk_error_init();
	struct file_control *control = store->control;

	if (store->index && clean) {
		bool damaged = atomic_load(&store->index->damaged);
		bool synced = store->durability == BK_DURABLE_MACHINE && !damaged &&
			      file_index_sync(store->index, &err) == BK_OK;

		atomic_store(&control->head->version, atomic_load(&store->version));
		atomic_store(&control->head->state,
			     damaged ? FILE_STATE_REBUILD : FILE_STATE_CLEAN);
		atomic_store(&control->head->synced, synced);
		if (synced)
			file_control_sync(control);
	}
	file_index_close(store->index);
	file_control_close(control);
	store->index = NULL;
	store->control = NULL;
	file_store_unlock(store);
}

static bk_status enter_store(struct bk_store *store, struct bk_error *err)
{
	struct statfs fs;
	bk_status status = enter_check(store, "open", err);

	if (status != BK_OK)
		return status;
	store->dirfd = open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->dirfd < 0)
		return file_fail(err, errno, "open", store->dir, NULL);
	store->volatile_fs = NULL;
	if (fstatfs(store->dirfd, &fs) == 0)
		store->volatile_fs = fs.f_type == FS_TMPFS   ? "tmpfs"
				     : fs.f_type == FS_RAMFS ? "ramfs"
							     : NULL;
	store->syncs_above =
		store->durability == BK_DURABLE_MACHINE && file_mount_syncs_above(store->dir);
	status = file_store_lock(store, err);
	return status == BK_OK ? enter_load(store, err) : status;
}

bk_status file_store_enter(struct bk_store *store, struct bk_error *err)
{
	/* What goes wrong on the way may be mended (an index that is no good): *err is for the end.
	 */
	struct bk_error mine = bk_error_init();
	bk_status status;

	if (store->index)
		return BK_OK;
	status = enter_store(store, &mine);
	if (status == BK_OK)
		return BK_OK;
	store_unload(store, false);
	mine.struct_size = err->struct_size;
	*err = mine;
	return status;
}

void file_store_leave(struct bk_store *store)
{
	if (store->sessions == 0 && store->index)
		store_unload(store, true);
}

uint64_t file_store_version(struct bk_store *store)
{
	return atomic_fetch_add_explicit(&store->version, 1, memory_order_relaxed) + 1;
}
