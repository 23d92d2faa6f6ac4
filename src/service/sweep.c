/*
 * sweep.c - what servers left whose keeper was killed.
 *
 * The one invariant: nothing is touched while its lock is held, and no process is ended that is not
 * the one that was noted: same pid, same start time, same boot, our folder in its command line.
 */
#include "service/sweep.h"

#include "service/proc.h"
#include "service/root.h"
#include "service/segments.h"
#include "service/state.h"
#include "service/values.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SWP_YOUNG_S 60    /* a folder without state.json may just be coming up */
#define SWP_SPARE_S 86400 /* a spare copy that nobody took */

static void swp_end_process(const json_t *state, const json_t *process)
{
	pid_t pid = (pid_t)bk_state_u64(process, "pid");
	int fd = bk_proc_open(pid, bk_state_u64(process, "start"));

	if (fd >= 0 && (bk_proc_mentions(pid, bk_state_text(state, "folder")) ||
			bk_proc_mentions(pid, bk_state_text(state, "run")))) {
		bk_proc_signal(fd, SIGKILL);
		bk_proc_wait(fd, 5000);
	}
	if (fd >= 0)
		close(fd);
	bk_segments_remove(pid, bk_state_u64(process, "start"));
}

static void swp_end_processes(const json_t *state)
{
	json_t *process;
	char boot[40];
	size_t i;

	if (strcmp(bk_proc_boot_id(boot), bk_state_text(state, "boot")) != 0)
		return;
	json_array_foreach(json_object_get(state, "processes"), i, process)
		swp_end_process(state, process);
	bk_segments_remove_files(json_object_get(state, "shm"),
				 (uid_t)bk_state_u64(state, "service_uid"));
}

static bool swp_is_older(const char *path, time_t seconds)
{
	struct stat sb;

	return lstat(path, &sb) == 0 && sb.st_mtime < time(NULL) - seconds;
}

/* A folder of ours, as the keeper makes them: nobody else could have put it there. */
static bool swp_is_ours(const char *path)
{
	struct stat sb;

	return lstat(path, &sb) == 0 && S_ISDIR(sb.st_mode) && sb.st_uid == geteuid() &&
	       !(sb.st_mode & 067);
}

/* state.json is ours to believe, yet only a folder with our prefix is removed on its word. */
static void swp_remove_run(const char *folder, const char *run)
{
	struct bk_error ignored = bk_error_init();
	const char *base = strrchr(run, '/');

	if (base && strncmp(base + 1, BK_ROOT_PREFIX, strlen(BK_ROOT_PREFIX)) == 0 &&
	    strncmp(run, folder, strlen(folder)) != 0)
		bk_fs_remove_tree(run, &ignored);
}

/* `listed`: its keeper had written state.json once: what has none is not just coming up. */
static bool swp_folder(const char *folder, bool listed)
{
	struct bk_error ignored = bk_error_init();
	json_t *state;
	bool removed = false;
	int lock;

	if (!swp_is_ours(folder))
		return false;
	state = bk_state_read(folder);
	/* Its keeper has yet to take the lock, and must not find it taken by us. */
	if (!state && !listed && !swp_is_older(folder, SWP_YOUNG_S))
		return false;
	lock = bk_state_lock(folder);
	if (lock < 0) {
		json_decref(state);
		return false;
	}
	if (state && !json_is_true(json_object_get(state, "existing"))) {
		swp_end_processes(state);
		swp_remove_run(folder, bk_state_text(state, "run"));
		removed = bk_fs_remove_tree(folder, &ignored) == BK_OK;
		bk_state_unregister(bk_state_text(state, "id"));
	} else if (!state) {
		removed = bk_fs_remove_tree(folder, &ignored) == BK_OK;
	}
	json_decref(state);
	close(lock);
	return removed;
}

bool bk_sweep_folder(const char *folder)
{
	return swp_folder(folder, false);
}

/* The list's entries are links to what keepers make; or folders, for servers of other people. */
static bool swp_is_keepers(const char *folder)
{
	const char *base = strrchr(folder, '/');

	return base && strncmp(base + 1, BK_ROOT_PREFIX, strlen(BK_ROOT_PREFIX)) == 0;
}

static size_t swp_registered(void)
{
	char **ids = bk_state_ids(), *folder;
	size_t i, removed = 0;

	for (i = 0; ids && ids[i]; i++) {
		folder = bk_state_folder(ids[i]);
		if (folder && bk_fs_is_folder(folder))
			removed += swp_folder(folder, swp_is_keepers(folder));
		if (folder && !bk_fs_is_folder(folder))
			bk_state_unregister(ids[i]); /* tmpfs, after a reboot */
		free(folder);
	}
	bk_strings_free(ids);
	return removed;
}

/* A folder for sockets is told apart by the link to the folder that it belongs to: it goes when
 * that one is gone.  Without a link its keeper is just making it, or was killed while it did.  In
 * another mount namespace (a container that shares /dev/shm) that folder may be out of sight: the
 * keeper has this one locked too. */
static void swp_socket_folder(const char *path)
{
	struct bk_error ignored = bk_error_init();
	char owner[4096], *link = bk_fs_join(path, BK_ROOT_OWNER_LINK);
	ssize_t n = link ? readlink(link, owner, sizeof(owner) - 1) : -1;
	int lock;

	free(link);
	if (n > 0)
		owner[n] = '\0';
	if (!swp_is_ours(path) || !swp_is_older(path, SWP_YOUNG_S) ||
	    (n > 0 && bk_fs_is_folder(owner)))
		return;
	lock = bk_state_lock_folder(path);
	if (lock < 0)
		return;
	bk_fs_remove_tree(path, &ignored);
	close(lock);
}

static bool swp_ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

static size_t swp_one_root(const char *root)
{
	const char *spare = BK_ROOT_PREFIX "spare-";
	struct bk_error ignored = bk_error_init();
	struct dirent *entry;
	size_t removed = 0;
	char *path;
	DIR *dir = opendir(root);

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, BK_ROOT_PREFIX, strlen(BK_ROOT_PREFIX)) != 0)
			continue;
		path = bk_fs_join(root, entry->d_name);
		if (path && swp_ends_with(entry->d_name, BK_ROOT_SOCKETS))
			swp_socket_folder(path);
		else if (path && strncmp(entry->d_name, spare, strlen(spare)) != 0)
			removed += bk_sweep_folder(path);
		else if (path && swp_is_ours(path) && swp_is_older(path, SWP_SPARE_S))
			bk_fs_remove_tree(path, &ignored);
		free(path);
	}
	if (dir)
		closedir(dir);
	return removed;
}

size_t bk_service_sweep(void)
{
	char **roots = bk_root_candidates();
	size_t i, removed = swp_registered();

	for (i = 0; roots && roots[i]; i++)
		removed += swp_one_root(roots[i]);
	bk_strings_free(roots);
	return removed;
}
