/*
 * remove.c - a server's folder removed by two workers: unlinking a thousand files takes time.
 *
 * The one invariant: nothing is reached by a path.  The server, or another process of its user, may
 * be at work in there, and can put a link in the place of a folder at any moment.
 */
#include "service/unpack.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define RM_OPEN_MAX 32 /* folders; what is in further ones goes at the end */

struct rm_item {
	int dir; /* the folder that it is in */
	char *name;
};

struct rm_removal {
	DIR *open[RM_OPEN_MAX];
	size_t open_count;
	struct rm_item *items; /* folders, shared among the workers */
	size_t count;
	atomic_size_t next;
};

static void *rm_remove_some(void *ctx)
{
	struct bk_error ignored = bk_error_init(); /* what is left is seen to at the end */
	struct rm_removal *r = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&r->next, 1)) < r->count)
		bk_fs_remove_in(r->items[i].dir, r->items[i].name, &ignored);
	return NULL;
}

static DIR *rm_open(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/* The folders in one that is open. */
static void rm_list(struct rm_removal *r, DIR *dir)
{
	struct dirent *entry;
	struct rm_item *more;
	char *name;

	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		name = strdup(entry->d_name);
		more = name ? realloc(r->items, (r->count + 1) * sizeof(*more)) : NULL;
		if (!more) {
			free(name);
			return;
		}
		r->items = more;
		more[r->count++] = (struct rm_item){dirfd(dir), name};
	}
}

/* The folders two levels down ({data}/base/1): in them are most of the files. */
static void rm_list_below(struct rm_removal *r, const char *path)
{
	DIR *top = rm_open(AT_FDCWD, path), *dir;
	struct dirent *entry;

	while (top && r->open_count < RM_OPEN_MAX && (entry = readdir(top))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		dir = rm_open(dirfd(top), entry->d_name);
		if (!dir)
			continue;
		r->open[r->open_count++] = dir;
		rm_list(r, dir);
	}
	if (top)
		closedir(top);
}

bk_status bk_unpack_remove(const char *path, struct bk_error *err)
{
	struct rm_removal r = {.count = 0};
	pthread_t helper;
	bool begun = false;
	size_t i;

	if (bk_unpack_workers() > 1)
		rm_list_below(&r, path);
	if (r.count > 1)
		begun = pthread_create(&helper, NULL, rm_remove_some, &r) == 0;
	if (begun) {
		rm_remove_some(&r);
		pthread_join(helper, NULL);
	}
	for (i = 0; i < r.count; i++)
		free(r.items[i].name);
	free(r.items);
	for (i = 0; i < r.open_count; i++)
		closedir(r.open[i]);
	return bk_fs_remove_tree(path, err);
}
