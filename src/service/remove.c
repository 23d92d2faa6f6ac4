/*
 * remove.c - a server's folder removed by two workers: unlinking a thousand files takes time.
 *
 * The one invariant: bk_fs_remove_tree() does all of it; what is done beforehand only leaves it
 * less to do.
 */
#include "service/unpack.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct rm_removal {
	char **folders; /* shared among the workers */
	size_t count;
	atomic_size_t next;
};

static void *rm_remove_some(void *ctx)
{
	struct bk_error ignored = bk_error_init(); /* what is left is seen to at the end */
	struct rm_removal *r = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&r->next, 1)) < r->count)
		bk_fs_remove_tree(r->folders[i], &ignored);
	return NULL;
}

/* The folders `depth` levels down. */
static void rm_list_folders(struct rm_removal *r, const char *path, int depth)
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir))) {
		char **more, *child;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		child = bk_fs_join(path, entry->d_name);
		if (child && depth > 1) {
			rm_list_folders(r, child, depth - 1);
			free(child);
			continue;
		}
		more = child ? realloc(r->folders, (r->count + 1) * sizeof(*more)) : NULL;
		if (!more) {
			free(child);
			break;
		}
		r->folders = more;
		more[r->count++] = child;
	}
	if (dir)
		closedir(dir);
}

bk_status bk_unpack_remove(const char *path, struct bk_error *err)
{
	struct rm_removal r = {NULL, 0, 0};
	pthread_t helper;
	bool begun = false;
	size_t i;

	if (bk_unpack_workers() > 1)
		rm_list_folders(&r, path, 2); /* {data}/base/1: where most of the files are */
	if (r.count > 1)
		begun = pthread_create(&helper, NULL, rm_remove_some, &r) == 0;
	if (begun) {
		rm_remove_some(&r);
		pthread_join(helper, NULL);
	}
	for (i = 0; i < r.count; i++)
		free(r.folders[i]);
	free(r.folders);
	return bk_fs_remove_tree(path, err);
}
