/*
 * root.c - tmpfs with room, $TMPDIR, /tmp; a short folder for sockets.
 */
#include "service/root.h"

#include "service/values.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define RT_SHM       "/dev/shm"
#define RT_WORK_ROOM ((uint64_t)192 << 20) /* tmpfs: logs of changes, tables of a test suite */
#define RT_LEAST     ((uint64_t)64 << 20)

/* Is a folder on tmpfs? */
static bool rt_is_tmpfs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static uint64_t rt_free_bytes(const char *path)
{
	struct statfs fs;

	if (statfs(path, &fs) != 0)
		return 0;
	return (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
}

static uint64_t rt_memory_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	unsigned long kib = 0;

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "MemAvailable: %lu", &kib) != 1)
		;
	if (f)
		fclose(f);
	return (uint64_t)kib * 1024;
}

static bool rt_usable(const char *path)
{
	return path && path[0] == '/' && bk_fs_is_folder(path) && access(path, W_OK | X_OK) == 0;
}

static bk_status rt_take(char **out, const char *path, struct bk_error *err)
{
	*out = realpath(path, NULL);
	if (!*out)
		return bk_fail(err, bk_fs_status(errno), errno, "cannot use %s: %s", path,
			       strerror(errno));
	return BK_OK;
}

bk_status bk_root_choose(char **out, const struct bk_service_config *config, uint64_t need_bytes,
			 struct bk_error *err)
{
	const char *tmpdir = getenv("TMPDIR");
	const char *slow[] = {tmpdir, "/tmp", "/var/tmp"};
	uint64_t tmpfs_need = need_bytes + RT_WORK_ROOM;
	bk_status st;
	size_t i;

	if (config->data) {
		st = bk_fs_mkdirs(config->data, 0755, err);
		return st == BK_OK ? rt_take(out, config->data, err) : st;
	}
	if (config->profile == BK_PROFILE_BENCH)
		return bk_fail(err, BK_INVALID, 0,
			       "a server that is measured needs a data folder of its own");
	if (rt_usable(RT_SHM) && rt_is_tmpfs(RT_SHM) && rt_free_bytes(RT_SHM) >= tmpfs_need &&
	    rt_memory_bytes() >= tmpfs_need)
		return rt_take(out, RT_SHM, err);
	for (i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		if (rt_usable(slow[i]) && rt_free_bytes(slow[i]) >= need_bytes + RT_LEAST)
			return rt_take(out, slow[i], err);
	}
	return bk_fail(err, BK_NO_SPACE, 0,
		       "no folder for a server: %s, $TMPDIR (%s) and /tmp have less than %llu MiB "
		       "free or cannot be written to; name one with --data",
		       RT_SHM, tmpdir ? tmpdir : "not set",
		       (unsigned long long)((need_bytes + RT_LEAST) >> 20));
}

static bool rt_link_owner(const char *sockets, const char *folder)
{
	char *link = bk_fs_join(sockets, BK_ROOT_OWNER_LINK), *real = realpath(folder, NULL);
	bool made = link && real && symlink(real, link) == 0;

	if (!made)
		rmdir(sockets);
	free(link);
	free(real);
	return made;
}

bk_status bk_root_short(char **out, const char *suffix, const char *folder, struct bk_error *err)
{
	const char *places[] = {getenv("XDG_RUNTIME_DIR"), RT_SHM, "/tmp", "/var/tmp"};
	struct bk_buf path = BK_BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!rt_usable(places[i]) || strlen(places[i]) > BK_ROOT_SOCKET_MAX - 20)
			continue;
		bk_buf_reset(&path);
		bk_buf_putf(&path, "%s/" BK_ROOT_PREFIX "%s" BK_ROOT_SOCKETS, places[i], suffix);
		if (path.data && mkdir(path.data, 0700) == 0 && rt_link_owner(path.data, folder)) {
			*out = bk_buf_steal(&path);
			return *out ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory");
		}
	}
	bk_buf_free(&path);
	return bk_fail(err, BK_IO, errno,
		       "no folder for sockets: $XDG_RUNTIME_DIR, %s, /tmp and /var/tmp cannot be "
		       "written to, and the path of the server's own folder is too long for one",
		       RT_SHM);
}

char **bk_root_candidates(void)
{
	const char *places[] = {RT_SHM, getenv("TMPDIR"), "/tmp", "/var/tmp",
				getenv("XDG_RUNTIME_DIR")};
	size_t n = sizeof(places) / sizeof(places[0]), i, j, count = 0;
	char **list = calloc(n + 1, sizeof(*list));

	for (i = 0; list && i < n; i++) {
		char *path = rt_usable(places[i]) ? realpath(places[i], NULL) : NULL;

		for (j = 0; path && j < count; j++) {
			if (strcmp(list[j], path) == 0) {
				free(path);
				path = NULL;
			}
		}
		if (path)
			list[count++] = path;
	}
	return list;
}
