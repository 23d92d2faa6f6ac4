/*
 * template.c - the cache's folders: found, locked, published, forgotten.
 */
#include "service/template.h"

#include "service/pack.h"
#include "service/state.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TPL_FILE     "template.json"
#define TPL_PACK     "data.pack"
#define TPL_KEEP_S   (30 * 86400)
#define TPL_FILE_MAX ((size_t)64 << 10)

static char *tpl_path(const char *key, const char *tail)
{
	struct bk_error ignored = bk_error_init();
	struct bk_buf path = BK_BUF_INIT;
	char *folder;

	if (bk_state_cache(&folder, "templates", &ignored) != BK_OK)
		return NULL;
	bk_buf_putf(&path, "%s/%s%s", folder, key, tail);
	free(folder);
	return bk_buf_steal(&path);
}

/* Is there a file in `data` that a running server keeps there? */
static bool tpl_in_use(const struct bk_service *service, const char *data)
{
	const char *in_data = "{data}/";
	const struct bk_process *p;
	bool found = false;

	for (p = service->processes; p && p->name; p++) {
		char *path;

		if (!p->ready_file || strncmp(p->ready_file, in_data, strlen(in_data)) != 0)
			continue;
		path = bk_fs_join(data, p->ready_file + strlen(in_data));
		found = found || (path && access(path, F_OK) == 0);
		free(path);
	}
	return found;
}

/* What its description says; 0: there is none, or not a good one. */
static uint64_t tpl_described(const char *file)
{
	struct bk_error ignored = bk_error_init();
	char *text = NULL;
	json_t *about = NULL;
	uint64_t bytes;

	if (bk_fs_read(&text, NULL, file, TPL_FILE_MAX, &ignored) == BK_OK)
		about = json_loads(text, 0, NULL);
	bytes = bk_state_u64(about, "bytes");
	json_decref(about);
	free(text);
	return bytes;
}

/* The description is of this pack: how much room is needed is taken from it. */
static bool tpl_is_whole(const char *path, const char *file)
{
	struct bk_error ignored = bk_error_init();
	uint64_t bytes = 0;
	struct bk_pack pack;
	bool whole = bk_pack_open(&pack, path, &ignored) == BK_OK;
	size_t i;

	for (i = 0; whole && i < pack.count; i++) {
		if (pack.entries[i].kind == BK_PACK_FILE)
			bytes += pack.entries[i].size;
	}
	whole = whole && tpl_described(file) == bytes;
	bk_pack_close(&pack);
	return whole;
}

char *bk_template_find(const struct bk_service_run *run, const char *key)
{
	char *pack = tpl_path(key, "/" TPL_PACK), *file = tpl_path(key, "/" TPL_FILE);
	/* A cache that cannot be written to is as good as any, if it is complete. */
	bool good = pack && file &&
		    (utimensat(AT_FDCWD, file, NULL, 0) == 0 ||
		     (errno != ENOENT && access(file, R_OK) == 0)) &&
		    tpl_is_whole(pack, file);

	free(file);
	if (!good) {
		free(pack);
		pack = NULL;
	}
	return pack;
}

uint64_t bk_template_bytes(const char *key)
{
	char *file = tpl_path(key, "/" TPL_FILE);
	uint64_t bytes = file ? tpl_described(file) : 0;

	free(file);
	return bytes;
}

bk_status bk_template_lock(int *out, const struct bk_service_run *run, const char *key,
			   struct bk_error *err)
{
	char *path = tpl_path(key, ".lock");
	struct timespec pause = {0, 20000000};
	int fd = path ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	bk_status st = BK_OK;

	if (fd < 0)
		st = bk_fail(err, bk_fs_status(errno), errno, "cannot lock the template %s: %s",
			     path ? path : key, strerror(errno));
	else
		fchmod(fd, 0600); /* whatever the umask is: later runs open it too */
	while (st == BK_OK && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (run->config.interrupted && *run->config.interrupted)
			st = bk_fail(err, BK_CANCELLED, 0, "interrupted");
		else if (bk_service_now_ns() > run->deadline_ns)
			st = bk_fail(err, BK_TIMEOUT, 0,
				     "another bakeoff has been building the template %s for too "
				     "long",
				     path);
		else
			nanosleep(&pause, NULL);
	}
	free(path);
	if (st != BK_OK && fd >= 0)
		close(fd);
	if (st == BK_OK)
		*out = fd;
	return st;
}

/* Not used for a month, or left half built for as long. */
static bool tpl_is_old(const char *path, const char *file)
{
	struct stat sb;

	if (stat(file, &sb) != 0 && (lstat(path, &sb) != 0 || !S_ISDIR(sb.st_mode)))
		return false;
	return sb.st_mtime < time(NULL) - TPL_KEEP_S;
}

/* Templates that nobody needs: servers were upgraded, schemas changed. */
static void tpl_forget_old(void)
{
	char *folder = tpl_path("", ""), *file, *path;
	struct bk_error ignored = bk_error_init();
	struct dirent *entry;
	DIR *dir = folder ? opendir(folder) : NULL;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		file = tpl_path(entry->d_name, "/" TPL_FILE);
		path = tpl_path(entry->d_name, "");
		if (file && path && tpl_is_old(path, file))
			bk_fs_remove_tree(path, &ignored);
		free(file);
		free(path);
	}
	if (dir)
		closedir(dir);
	free(folder);
}

static bk_status tpl_describe(const struct bk_service_run *run, const char *path, uint64_t files,
			      uint64_t bytes, struct bk_error *err)
{
	json_t *about = json_pack(
		"{s:s, s:s, s:s?, s:I, s:I, s:I}", "backend", run->plugin->desc.name,
		"backend_version", run->plugin->desc.version, "program",
		run->programs.count ? run->programs.items[0].path : NULL, "files",
		(json_int_t)files, "bytes", (json_int_t)bytes, "created", (json_int_t)time(NULL));
	bk_status st = BK_OK;

	if (!about || json_dump_file(about, path, JSON_INDENT(1)) != 0)
		st = bk_fail(err, bk_fs_status(errno), errno, "cannot write %s: %s", path,
			     strerror(errno));
	json_decref(about);
	return st;
}

static void tpl_sync(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		syncfs(fd);
		close(fd);
	}
}

bk_status bk_template_publish(const struct bk_service_run *run, const char *key, const char *data,
			      struct bk_error *err)
{
	char *fresh = tpl_path(key, ".new"), *pack = tpl_path(key, ".new/" TPL_PACK);
	char *file = tpl_path(key, ".new/" TPL_FILE), *final = tpl_path(key, "");
	uint64_t files = 0, bytes = 0;
	bk_status st = BK_OK;

	if (!fresh || !pack || !file || !final)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (st == BK_OK && tpl_in_use(run->service, data))
		st = bk_fail(err, BK_STATE, 0,
			     "the server that was to become a template did not shut down cleanly");
	if (st == BK_OK)
		st = bk_fs_remove_tree(fresh, err);
	if (st == BK_OK)
		st = bk_fs_remove_tree(final, err); /* one that was refused */
	if (st == BK_OK)
		st = bk_fs_mkdirs(fresh, 0700, err);
	if (st == BK_OK)
		st = bk_pack_write(pack, data, &files, &bytes, err);
	if (st == BK_OK)
		st = tpl_describe(run, file, files, bytes, err);
	if (st == BK_OK) {
		tpl_sync(fresh);
		if (rename(fresh, final) != 0)
			st = bk_fail(err, bk_fs_status(errno), errno, "cannot make %s: %s", final,
				     strerror(errno));
	}
	if (st != BK_OK && fresh) {
		struct bk_error ignored = bk_error_init();

		bk_fs_remove_tree(fresh, &ignored);
	}
	if (st == BK_OK)
		tpl_forget_old();
	free(fresh);
	free(pack);
	free(file);
	free(final);
	return st;
}
