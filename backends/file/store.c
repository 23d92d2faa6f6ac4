/*
 * store.c - the store: opened, and entered (lock taken, index mapped) while anyone uses it.
 *
 * The one invariant: between enter and leave the state on disk is DIRTY; whoever finds it so, and
 * gets the lock, knows that its last user died.
 */
#include "file.h"
#include "mark.h"
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define FS_TMPFS 0x01021994L
#define FS_RAMFS 0x858458f6L

bk_status file_fail_in(struct bk_error *err, int errnum, const char *what,
		       const struct bk_store *store, const char *name)
{
	return file_fail(err, errnum, what, store->dir, name);
}

uint64_t file_store_version(struct bk_store *store)
{
	return atomic_fetch_add_explicit(&store->version, 1, memory_order_relaxed) + 1;
}

static void store_free(struct bk_store *store)
{
	if (!store)
		return;
	for (unsigned i = 0; i < FILE_STRIPES; i++)
		pthread_mutex_destroy(&store->stripes[i]);
	pthread_rwlock_destroy(&store->swap);
	pthread_rwlock_destroy(&store->gate);
	pthread_mutex_destroy(&store->mutex);
	free(store->root);
	free(store->dir);
	free(store);
}

static bk_status store_open(struct bk_store **out, const struct bk_host *host,
			    const struct bk_store_config *config, const void *opts,
			    struct bk_error *err)
{
	const struct file_options *o = opts;
	size_t len = strlen(o->path);
	pthread_rwlockattr_t writer_first;
	struct bk_store *store;
	struct stat st;

	if (len == 0)
		return bk_fail(err, BK_INVALID, 0, "option 'path' is empty; it names a folder");
	while (len > 1 && o->path[len - 1] == '/')
		len--;
	store = calloc(1, sizeof(*store));
	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a store");
	store->host = host;
	store->opts = o;
	store->space = config->space;
	store->mark = config->mark;
	store->durability = config->durability;
	store->dirfd = store->lockfd = -1;
	pthread_mutex_init(&store->mutex, NULL);
	pthread_rwlock_init(&store->swap, NULL);
	/* Who shuts the gate must not wait for ever behind those who pass. */
	pthread_rwlockattr_init(&writer_first);
	pthread_rwlockattr_setkind_np(&writer_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&store->gate, &writer_first);
	pthread_rwlockattr_destroy(&writer_first);
	for (unsigned i = 0; i < FILE_STRIPES; i++)
		pthread_mutex_init(&store->stripes[i], NULL);
	if (asprintf(&store->root, "%.*s", (int)len, o->path) < 0)
		store->root = NULL;
	if (!store->root || asprintf(&store->dir, "%s/%s", store->root, store->space) < 0) {
		store->dir = NULL;
		store_free(store);
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a store");
	}
	/* Reach the target: a folder that cannot be looked at is told now. */
	if (stat(store->root, &st) < 0 && errno != ENOENT) {
		bk_status status = file_fail(err, errno, "reach", store->root, NULL);

		store_free(store);
		return status;
	}
	*out = store;
	return BK_OK;
}

/* ---- Enter ---------------------------------------------------------------------- */

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

/* Is this our place, made in the way that the options say? */
static bk_status store_check(struct bk_store *store, const char *what, struct bk_error *err)
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

void file_store_unlock(struct bk_store *store)
{
	if (store->lockfd >= 0)
		close(store->lockfd);
	if (store->dirfd >= 0)
		close(store->dirfd);
	store->lockfd = store->dirfd = -1;
}

static bk_status store_load(struct bk_store *store, struct bk_error *err)
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

static bk_status store_enter(struct bk_store *store, struct bk_error *err)
{
	struct statfs fs;
	bk_status status = store_check(store, "open", err);

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
	return status == BK_OK ? store_load(store, err) : status;
}

bk_status file_store_enter(struct bk_store *store, struct bk_error *err)
{
	/* What goes wrong on the way may be mended (an index that is no good): *err is for the end.
	 */
	struct bk_error mine = bk_error_init();
	bk_status status;

	if (store->index)
		return BK_OK;
	status = store_enter(store, &mine);
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

static void store_close(struct bk_store *store)
{
	if (store->index)
		store_unload(store, true);
	store_free(store);
}

static bk_status store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				struct bk_limits *limits, struct bk_error *err)
{
	*native = FILE_FEATURES;
	*emulated = 0;
	limits->sessions_max = FILE_SESSIONS;
	limits->id_max = FILE_ID_MAX;
	limits->path_max = FILE_PATH_MAX;
	limits->rel_max = FILE_REL_MAX;
	limits->key_max = FILE_KEY_MAX;
	limits->doc_max = FILE_DOC_MAX;
	limits->binary_max = INT64_MAX;
	return BK_OK;
}

/* ---- Quiet --------------------------------------------------------------------------- */

static bk_status store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	bk_status status;

	pthread_mutex_lock(&store->mutex);
	status = file_store_enter(store, err);
	if (status == BK_OK)
		status = file_compact(store, err);
	uint32_t lax = status == BK_OK ? atomic_load(&store->control->head->lax) : 0;
	/* What the kernel has yet to write would be paid for by whoever is measured next. */
	if (status == BK_OK && store->opts->flush) {
		atomic_store(&store->control->head->lax, 0);
		if (syncfs(store->dirfd) < 0) {
			atomic_store(&store->control->head->lax, lax);
			status =
				file_fail(err, errno, "flush the file system of", store->dir, NULL);
		}
	}
	file_store_leave(store);
	pthread_mutex_unlock(&store->mutex);
	return status;
}

/* Nothing is mapped or kept while no session is open. */
static bk_status store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	*reached = BK_CHILL_DROPPED;
	return BK_OK;
}

const struct bk_store_ops file_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = store_open,
	.close = store_close,
	.features = store_features,
	.make = file_store_make,
	.clear = file_store_clear,
	.unmake = file_store_unmake,
	.inspect = file_store_inspect,
	.settle = store_settle,
	.chill = store_chill,
};
