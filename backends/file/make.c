/*
 * make.c - make, clear and unmake: the only places that create or remove what is not one node or
 * one binary.
 *
 * The one invariant: nothing is written, emptied or removed before the mark has been read; the
 * mark is written first and removed last.
 */
#include "file.h"
#include "mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const make_folders[] = {"nodes", "binaries", "index", "tmp", NULL};

static bool make_known(const char *name)
{
	static const char *const files[] = {FILE_MARK, "lock", "lost", NULL};

	for (size_t i = 0; make_folders[i]; i++) {
		if (strcmp(name, make_folders[i]) == 0)
			return true;
	}
	for (size_t i = 0; files[i]; i++) {
		if (strcmp(name, files[i]) == 0)
			return true;
	}
	return false;
}

/* The folder above, in `out`. */
static void make_above(const char *path, char *out, size_t cap)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		snprintf(out, cap, ".");
	else
		snprintf(out, cap, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* PATH, which holds the spaces; *made: how many folders are new. */
static bk_status make_root(struct bk_store *store, unsigned *made, bool sync, struct bk_error *err)
{
	struct file_mark found;
	char above[4096];
	bk_status status = file_mark_root(&found, store->root, err);

	*made = found.made;
	if (status != BK_OK)
		return status;
	if (found.place == FILE_PLACE_FOREIGN)
		return file_mark_foreign(err, "make a store in", store->root, &found);
	if (found.place != FILE_PLACE_ABSENT)
		return BK_OK;
	*made = 0;
	if (file_make_parents(AT_FDCWD, store->root, made) < 0)
		return file_fail(err, errno, "make the folders above", store->root, NULL);
	if (mkdir(store->root, 0777) == 0)
		*made += 1;
	else if (errno != EEXIST)
		return file_fail(err, errno, "make", store->root, NULL);
	make_above(store->root, above, sizeof(above));
	if (sync && file_sync_folder(AT_FDCWD, above) < 0)
		return file_fail(err, errno, "sync", above, NULL);
	return BK_OK;
}

/* PATH/SPACE with its mark. */
static bk_status make_space(struct bk_store *store, unsigned made, bool sync, struct bk_error *err)
{
	struct file_mark found, wanted = {.made = made};
	bk_status status = file_mark_read(&found, store->dir, store->mark, err);

	if (status != BK_OK || found.place == FILE_PLACE_OURS)
		return status;
	if (found.place == FILE_PLACE_FOREIGN)
		return file_mark_foreign(err, "make a store of", store->dir, &found);
	wanted.node_levels = (unsigned)store->opts->node_levels;
	wanted.binary_levels = (unsigned)store->opts->binary_levels;
	return file_mark_make(store->root, store->space, store->mark, &wanted, sync, err);
}

/* Two processes that make and unmake spaces of one root take turns. */
static int make_lock_root(const struct bk_store *store)
{
	int fd = open(store->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

static bk_status make_layout(struct bk_store *store, struct bk_error *err)
{
	bool sync = store->durability == BK_DURABLE_MACHINE;
	int fd = open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bk_status status = BK_OK;

	if (fd < 0)
		return file_fail(err, errno, "open", store->dir, NULL);
	for (size_t i = 0; make_folders[i] && status == BK_OK; i++) {
		if (mkdirat(fd, make_folders[i], 0777) < 0 && errno != EEXIST)
			status = file_fail_in(err, errno, "make", store, make_folders[i]);
	}
	if (status == BK_OK && sync && fsync(fd) < 0)
		status = file_fail(err, errno, "sync", store->dir, NULL);
	bool indexed = faccessat(fd, "index/control", F_OK, 0) == 0;
	close(fd);
	/* The first enter builds the index: an empty one, here. */
	if (status == BK_OK && !indexed) {
		status = file_store_enter(store, err);
		file_store_leave(store);
	}
	return status;
}

bk_status file_store_make(struct bk_store *store, struct bk_error *err)
{
	bool sync = store->durability == BK_DURABLE_MACHINE;
	unsigned made, again;
	bk_status status;
	int root = -1;

	pthread_mutex_lock(&store->mutex);
	status = make_root(store, &made, sync, err);
	if (status == BK_OK) {
		root = make_lock_root(store);
		/* An unmake may have come in between. */
		status = make_root(store, &again, sync, err);
		made = again > made ? again : made;
	}
	if (status == BK_OK)
		status = make_space(store, made, sync, err);
	if (status == BK_OK)
		status = make_layout(store, err);
	if (root >= 0)
		close(root);
	pthread_mutex_unlock(&store->mutex);
	return status;
}

/* ---- Clear --------------------------------------------------------------------------- */

static bk_status make_empty(struct bk_store *store, struct bk_error *err)
{
	static const char *const full[] = {"nodes", "binaries", "tmp", "lost", NULL};
	struct file_index *fresh = NULL;
	char failed[512];
	bk_status status;

	/* A clear cut short leaves an index that is not believed. */
	atomic_store(&store->control->head->state, FILE_STATE_REBUILD);
	for (size_t i = 0; full[i]; i++) {
		if (file_remove_tree(store->dirfd, full[i], false, failed, sizeof(failed)) < 0)
			return file_fail_in(err, errno, "remove", store, failed);
	}
	status = file_index_open(&fresh, store->dirfd, store->dir, store->index->generation + 1,
				 true, err);
	if (status != BK_OK)
		return status;
	pthread_rwlock_wrlock(&store->swap);
	file_index_close(store->index);
	store->index = fresh;
	pthread_rwlock_unlock(&store->swap);
	atomic_store(&store->control->head->generation, fresh->generation);
	atomic_store(&store->control->head->state, FILE_STATE_DIRTY);
	file_index_sweep(store->dirfd, fresh->generation);
	for (size_t i = 0; i < FILE_SYNCED; i++)
		atomic_store(&store->synced[i], 0);
	return BK_OK;
}

bk_status file_store_clear(struct bk_store *store, struct bk_error *err)
{
	struct file_stripes all;
	bk_status status;

	pthread_mutex_lock(&store->mutex);
	status = file_store_enter(store, err);
	if (status == BK_OK) {
		file_stripes_all(&all);
		file_stripes_lock(store, &all);
		status = make_empty(store, err);
		file_stripes_unlock(store, &all);
		if (status != BK_OK)
			atomic_store(&store->index->damaged, true);
	}
	file_store_leave(store);
	pthread_mutex_unlock(&store->mutex);
	return status;
}

/* ---- Unmake ---------------------------------------------------------------------------- */

static bk_status make_remove_space(struct bk_store *store, int dirfd, struct bk_error *err)
{
	char name[256], failed[512];
	int found = file_first_entry(dirfd, ".", make_known, name, sizeof(name));

	if (found < 0)
		return file_fail(err, errno, "list", store->dir, NULL);
	if (found)
		return bk_fail(err, BK_FOREIGN, 0,
			       "cannot remove '%s': it holds '%s', which is not bakeoff's; nothing "
			       "was touched; move it away and try again",
			       store->dir, name);
	for (size_t i = 0; make_folders[i]; i++) {
		if (file_remove_tree(dirfd, make_folders[i], true, failed, sizeof(failed)) < 0)
			return file_fail_in(err, errno, "remove", store, failed);
	}
	if (file_remove_tree(dirfd, "lost", true, failed, sizeof(failed)) < 0)
		return file_fail_in(err, errno, "remove", store, failed);
	if (unlinkat(dirfd, "lock", 0) < 0 && errno != ENOENT)
		return file_fail_in(err, errno, "remove", store, "lock");
	return file_mark_remove(store->root, store->space, store->durability == BK_DURABLE_MACHINE,
				err);
}

static bk_status make_unmake_space(struct bk_store *store, struct bk_error *err)
{
	bk_status status;

	store->dirfd = open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->dirfd < 0)
		return file_fail(err, errno, "open", store->dir, NULL);
	status = file_store_lock(store, err);
	if (status == BK_OK)
		status = make_remove_space(store, store->dirfd, err);
	file_store_unlock(store);
	return status;
}

/* The folders that make() made, from the inside; the system keeps those that hold something. */
static void make_remove_above(const struct bk_store *store, unsigned made)
{
	char name[4096], above[4096];

	snprintf(name, sizeof(name), "%s", store->root);
	for (; made && rmdir(name) == 0; made--) {
		make_above(name, above, sizeof(above));
		snprintf(name, sizeof(name), "%s", above);
	}
}

static bk_status make_unmake(struct bk_store *store, struct bk_error *err)
{
	struct file_mark space, root;
	bk_status status = file_mark_read(&space, store->dir, store->mark, err);

	if (status != BK_OK)
		return status;
	if (space.place == FILE_PLACE_FOREIGN)
		return file_mark_foreign(err, "remove", store->dir, &space);
	if (space.place == FILE_PLACE_OURS) {
		status = make_unmake_space(store, err);
	} else {
		status = file_mark_root(&root, store->root, err);
		if (status == BK_OK && root.place == FILE_PLACE_FOREIGN)
			return file_mark_foreign(err, "remove a store from", store->root, &root);
		if (status == BK_OK && root.place != FILE_PLACE_ABSENT)
			status = file_mark_remove(store->root, store->space, false, err);
		space.made = root.made;
	}
	if (status == BK_OK)
		make_remove_above(store, space.made);
	return status;
}

bk_status file_store_unmake(struct bk_store *store, struct bk_error *err)
{
	bk_status status;
	int root;

	pthread_mutex_lock(&store->mutex);
	if (store->sessions) {
		status = bk_fail(err, BK_STATE, 0, "cannot remove '%s': %u sessions are open",
				 store->dir, store->sessions);
	} else {
		root = make_lock_root(store);
		status = make_unmake(store, err);
		if (root >= 0)
			close(root);
	}
	pthread_mutex_unlock(&store->mutex);
	return status;
}
