/*
 * folder.c - see folder.h.
 *
 * The one invariant: nothing here follows a symbolic link or changes what it looks at.
 */
#include "conform/folder.h"

#include "util/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static uint64_t digest(const char *path)
{
	char chunk[65536];
	XXH3_state_t *state = XXH3_createState();
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t hash;
	ssize_t n;

	XXH3_64bits_reset(state);
	while (fd >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0)
		XXH3_64bits_update(state, chunk, (size_t)n);
	if (fd >= 0)
		close(fd);
	hash = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return hash;
}

static void picture_of(struct bk_test *t, struct bk_buf *out, const char *folder,
		       const char *within)
{
	struct dirent **list = NULL;
	int n = scandir(folder, &list, NULL, alphasort), i;

	for (i = 0; i < n; i++) {
		const char *name = list[i]->d_name, *path, *below;
		struct stat sb;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		path = bk_arena_printf(&t->arena, "%s/%s", folder, name);
		below = bk_arena_printf(&t->arena, "%s%s%s", within, within[0] ? "/" : "", name);
		if (lstat(path, &sb) != 0) {
			bk_buf_putf(out, "? %s\n", below);
			continue;
		}
		bk_buf_putf(out, "%o %lld %016llx %s\n", (unsigned)sb.st_mode,
			    S_ISREG(sb.st_mode) ? (long long)sb.st_size : 0,
			    S_ISREG(sb.st_mode) ? (unsigned long long)digest(path) : 0, below);
		if (S_ISDIR(sb.st_mode))
			picture_of(t, out, path, below);
	}
	for (i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

const char *bk_folder_picture(struct bk_test *t, const char *folder)
{
	struct bk_buf buf = BK_BUF_INIT;
	const char *copy;

	picture_of(t, &buf, folder, "");
	copy = bk_arena_strdup(&t->arena, bk_buf_str(&buf));
	bk_buf_free(&buf);
	return copy;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

const char *bk_folder_names(struct bk_test *t, const char *folder)
{
	const char *names = "/";
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!is_dot(e->d_name))
			names = bk_arena_printf(&t->arena, "%s%s/", names, e->d_name);
	}
	if (dir)
		closedir(dir);
	return names;
}

size_t bk_folder_entries(struct bk_test *t, const char *folder)
{
	const char *names = bk_folder_names(t, folder);
	size_t n = 0;

	while ((names = strchr(names + 1, '/')))
		n++;
	return n;
}

const char *bk_folder_new(struct bk_test *t, const char *folder, const char *names)
{
	const char *found = NULL;
	DIR *dir = opendir(folder);
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir))) {
		const char *path = bk_arena_printf(&t->arena, "%s/%s", folder, e->d_name);
		struct stat sb;

		if (is_dot(e->d_name) ||
		    strstr(names, bk_arena_printf(&t->arena, "/%s/", e->d_name)) ||
		    lstat(path, &sb) != 0 || !S_ISDIR(sb.st_mode))
			continue;
		found = path;
		n++;
	}
	if (dir)
		closedir(dir);
	return n == 1 ? found : NULL;
}

void bk_file_write(struct bk_test *t, const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(t, f, "cannot write %s: %s", path, strerror(errno));
	fputs(text, f);
	fclose(f);
}

void bk_file_same(struct bk_test *t, struct bk_at at, const char *path, const char *text)
{
	char found[256];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		bk_test_fail(t, at, "%s is gone: it was not ours", path);
	n = fread(found, 1, sizeof(found) - 1, f);
	fclose(f);
	found[n] = '\0';
	if (strcmp(found, text) != 0)
		bk_test_fail(t, at, "%s has changed: it was not ours", path);
}

size_t bk_open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}
