/*
 * inspect_mark.c - mark files: `.bakeoff`, whose first line is the mark and second line the name
 * of the backend.
 */
#include "cmd/inspect_mark.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define MARK_FILE ".bakeoff"
#define MARK_MAX  4096

void bk_inspect_mark_free(struct bk_inspect_mark *mark)
{
	if (!mark)
		return;
	free(mark->mark);
	free(mark->backend);
	free(mark->space);
	memset(mark, 0, sizeof(*mark));
}

static bk_status mark_parse(struct bk_inspect_mark *out, char *text, const char *path,
			    struct bk_error *err)
{
	char *second = strchr(text, '\n');

	if (!second || second == text || second[1] == '\0' || second[1] == '\n')
		return bk_fail(err, BK_CORRUPT, 0,
			       "%s: not a mark of bakeoff: expected a mark and a backend's name, a "
			       "line each",
			       path);
	*second++ = '\0';
	second[strcspn(second, "\n")] = '\0';
	out->mark = strdup(text);
	out->backend = strdup(second);
	return out->mark && out->backend ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory");
}

static bk_status mark_read(struct bk_inspect_mark *out, const char *folder, struct bk_error *err)
{
	char *path = bk_fs_join(folder, MARK_FILE), *text = NULL;
	bk_status st;

	if (!path)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	st = bk_fs_read(&text, NULL, path, MARK_MAX, err);
	if (st == BK_OK)
		st = mark_parse(out, text, path, err);
	free(text);
	free(path);
	return st;
}

static bool mark_is_in(const char *folder, const char *name)
{
	char *inner = name[0] == '.' ? NULL : bk_fs_join(folder, name);
	char *path = inner ? bk_fs_join(inner, MARK_FILE) : NULL;
	bool is_in = path && access(path, F_OK) == 0;

	free(path);
	free(inner);
	return is_in;
}

/* The one folder inside that bears a mark, *space the caller's to free. */
static bk_status mark_find_space(char **space, const char *folder, struct bk_error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char *found = NULL;
	size_t n = 0;

	if (!dir)
		return bk_fail(err, bk_fs_status(errno), errno, "cannot read folder %s: %s", folder,
			       strerror(errno));
	while ((entry = readdir(dir))) {
		if (mark_is_in(folder, entry->d_name) && n++ == 0)
			found = strdup(entry->d_name);
	}
	closedir(dir);
	if (n == 1 && found) {
		*space = found;
		return BK_OK;
	}
	if (n > 1)
		bk_fail(err, BK_INVALID, 0,
			"%s holds %zu stores; name one of the folders inside, such as %s/%s",
			folder, n, folder, found ? found : "");
	else
		bk_fail(err, BK_NOT_FOUND, 0, "%s bears no mark of bakeoff", folder);
	free(found);
	return err->status;
}

bk_status bk_inspect_mark_find(struct bk_inspect_mark *out, const char *folder,
			       struct bk_error *err)
{
	bk_status st = mark_read(out, folder, err);
	char *inner;

	if (st == BK_NOT_FOUND) {
		st = mark_find_space(&out->space, folder, err);
		inner = st == BK_OK ? bk_fs_join(folder, out->space) : NULL;
		if (st == BK_OK)
			st = inner ? mark_read(out, inner, err)
				   : bk_fail(err, BK_NOMEM, 0, "out of memory");
		free(inner);
	}
	if (st != BK_OK)
		bk_inspect_mark_free(out);
	return st;
}
