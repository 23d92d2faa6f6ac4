/*
 * state.c - state.json, the lock, the list.
 */
#include "service/state.h"

#include "service/values.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STA_FILE "state.json"
#define STA_LOCK "lock"
#define STA_MAX  ((size_t)1 << 20)

/* A folder that only this user (or root) could have made and that can be written to. */
static bool sta_own(const char *path)
{
	struct stat sb;

	return lstat(path, &sb) == 0 && S_ISDIR(sb.st_mode) &&
	       (sb.st_uid == geteuid() || sb.st_uid == 0) && !(sb.st_mode & S_IWOTH) &&
	       access(path, W_OK | X_OK) == 0;
}

static char *sta_cache_folder(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct bk_error ignored = bk_error_init();
	struct bk_buf path = BK_BUF_INIT;
	int i;

	for (i = 0; i < 3; i++) {
		bk_buf_reset(&path);
		if (i == 0 && xdg && xdg[0] == '/')
			bk_buf_putf(&path, "%s/bakeoff", xdg);
		else if (i == 1 && home && home[0] == '/')
			bk_buf_putf(&path, "%s/.cache/bakeoff", home);
		else if (i == 2)
			bk_buf_putf(&path, "/tmp/bakeoff-%u", (unsigned)geteuid());
		else
			continue;
		if (path.data && bk_fs_mkdirs(path.data, 0700, &ignored) == BK_OK &&
		    sta_own(path.data))
			return bk_buf_steal(&path);
	}
	bk_buf_free(&path);
	return NULL;
}

bk_status bk_state_cache(char **out, const char *sub, struct bk_error *err)
{
	char *cache = sta_cache_folder(), *path;
	bk_status st;

	if (!cache)
		return bk_fail(err, BK_IO, errno,
			       "no cache folder: $XDG_CACHE_HOME/bakeoff, ~/.cache/bakeoff and "
			       "/tmp/bakeoff-%u cannot be made or belong to somebody else; set "
			       "XDG_CACHE_HOME",
			       (unsigned)geteuid());
	path = sub ? bk_fs_join(cache, sub) : strdup(cache);
	free(cache);
	if (!path)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	st = bk_fs_mkdirs(path, 0700, err);
	if (st != BK_OK) {
		free(path);
		return st;
	}
	*out = path;
	return BK_OK;
}

static bk_status sta_put(const char *path, const char *text, struct bk_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t len = strlen(text);
	bool good = fd >= 0 && fchmod(fd, 0600) == 0 && bk_fs_write_all(fd, text, len);

	if (fd >= 0 && close(fd) != 0)
		good = false;
	if (!good)
		return bk_fail(err, bk_fs_status(errno), errno, "cannot write %s: %s", path,
			       strerror(errno));
	return BK_OK;
}

bk_status bk_state_write(const char *folder, const json_t *state, struct bk_error *err)
{
	char *text = json_dumps(state, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	char *path = bk_fs_join(folder, STA_FILE), *fresh = bk_fs_join(folder, STA_FILE ".new");
	bk_status st;

	if (!text || !path || !fresh)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	else
		st = sta_put(fresh, text, err);
	if (st == BK_OK && rename(fresh, path) != 0)
		st = bk_fail(err, bk_fs_status(errno), errno, "cannot write %s: %s", path,
			     strerror(errno));
	free(text);
	free(path);
	free(fresh);
	return st;
}

json_t *bk_state_read(const char *folder)
{
	struct bk_error ignored = bk_error_init();
	char *path = bk_fs_join(folder, STA_FILE), *text = NULL;
	json_t *state = NULL;

	if (path && bk_fs_read(&text, NULL, path, STA_MAX, &ignored) == BK_OK)
		state = json_loads(text, 0, NULL);
	free(path);
	free(text);
	if (state && !json_is_object(state)) {
		json_decref(state);
		state = NULL;
	}
	return state;
}

/* The descriptor once it is locked; else it is closed: -1. */
static int sta_locked(int fd)
{
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int bk_state_lock(const char *folder)
{
	char *path = bk_fs_join(folder, STA_LOCK);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;

	free(path);
	if (fd >= 0)
		fchmod(fd, 0600); /* whatever the umask is: others of this user come later */
	return sta_locked(fd);
}

int bk_state_lock_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return sta_locked(fd);
}

static char *sta_entry(const char *id, struct bk_error *err)
{
	char *folder, *path;

	if (!id[0] || strchr(id, '/') || id[0] == '.')
		return NULL;
	if (bk_state_cache(&folder, "instances", err) != BK_OK)
		return NULL;
	path = bk_fs_join(folder, id);
	free(folder);
	return path;
}

bk_status bk_state_register(const char *id, const char *folder, struct bk_error *err)
{
	char *path = sta_entry(id, err);
	bk_status st = BK_OK;

	if (!path)
		return err->status ? err->status : bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (symlink(folder, path) != 0)
		st = bk_fail(err, bk_fs_status(errno), errno, "cannot make %s: %s", path,
			     strerror(errno));
	free(path);
	return st;
}

void bk_state_unregister(const char *id)
{
	struct bk_error ignored = bk_error_init();
	char *path = sta_entry(id, &ignored);

	if (path)
		unlink(path);
	free(path);
}

char *bk_state_folder(const char *id)
{
	struct bk_error ignored = bk_error_init();
	char *path = sta_entry(id, &ignored), *folder = NULL;
	char target[PATH_MAX];
	ssize_t n;

	if (!path)
		return NULL;
	n = readlink(path, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		folder = strdup(target);
	} else if (bk_fs_is_folder(path)) {
		folder = strdup(path);
	}
	free(path);
	return folder;
}

static int sta_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **bk_state_ids(void)
{
	struct bk_error ignored = bk_error_init();
	char **ids = calloc(1, sizeof(*ids)), **more, *folder;
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	if (!ids || bk_state_cache(&folder, "instances", &ignored) != BK_OK)
		return ids;
	dir = opendir(folder);
	free(folder);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		more = realloc(ids, (n + 2) * sizeof(*ids));
		if (!more)
			break;
		ids = more;
		ids[n] = strdup(entry->d_name);
		if (!ids[n])
			break;
		ids[++n] = NULL;
	}
	if (dir)
		closedir(dir);
	qsort(ids, n, sizeof(*ids), sta_compare);
	return ids;
}

const char *bk_state_text(const json_t *state, const char *name)
{
	const char *text = json_string_value(json_object_get(state, name));

	return text ? text : "";
}

uint64_t bk_state_u64(const json_t *state, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(state, name));

	return value > 0 ? (uint64_t)value : 0;
}
