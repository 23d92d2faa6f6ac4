/*
 * programs.c - bin-dir, the first program's folder, PATH, then the table's folders and globs.
 */
#include "service/programs.h"

#include "util/buf.h"

#include <bakeoff/backend_util.h>

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void bk_programs_free(struct bk_programs *programs)
{
	size_t i;

	for (i = 0; i < programs->count; i++)
		free(programs->items[i].path);
	free(programs->items);
	free(programs->folder);
	memset(programs, 0, sizeof(*programs));
}

/* One of "a|b|c" by one name. */
static bool prg_is(const char *names, const char *name)
{
	size_t len = strlen(name);
	const char *p = names;

	for (;;) {
		const char *bar = strchrnul(p, '|');

		if ((size_t)(bar - p) == len && memcmp(p, name, len) == 0)
			return true;
		if (!*bar)
			return false;
		p = bar + 1;
	}
}

const char *bk_programs_path(const struct bk_programs *programs, const char *name)
{
	size_t i;

	for (i = 0; i < programs->count; i++) {
		if (prg_is(programs->items[i].names, name))
			return programs->items[i].path;
	}
	return NULL;
}

bk_status bk_programs_resolve(const struct bk_programs *programs, char **argv, struct bk_error *err)
{
	const char *path = argv[0] ? bk_programs_path(programs, argv[0]) : NULL;
	char *copy;

	if (!path)
		return BK_OK;
	copy = strdup(path);
	if (!copy)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	free(argv[0]);
	argv[0] = copy;
	return BK_OK;
}

/* The first of `names` that is an executable file in `folder`; the caller's to free. */
static char *prg_in_folder(const char *folder, size_t folder_len, const char *names)
{
	const char *p = names;

	for (;;) {
		const char *bar = strchrnul(p, '|');
		struct bk_buf path = BK_BUF_INIT;
		struct stat sb;

		bk_buf_putf(&path, "%.*s/%.*s", (int)folder_len, folder, (int)(bar - p), p);
		if (path.data && stat(path.data, &sb) == 0 && S_ISREG(sb.st_mode) &&
		    access(path.data, X_OK) == 0)
			return bk_buf_steal(&path);
		bk_buf_free(&path);
		if (!*bar)
			return NULL;
		p = bar + 1;
	}
}

static char *prg_in_path(const char *names)
{
	const char *path = getenv("PATH"), *colon;
	char *found = NULL;

	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (; !found; path = colon + 1) {
		colon = strchrnul(path, ':');
		if (path[0] == '/') /* never the current folder */
			found = prg_in_folder(path, (size_t)(colon - path), names);
		if (!*colon)
			break;
	}
	return found;
}

static int prg_newer_first(const void *a, const void *b)
{
	return strverscmp(*(char *const *)b, *(char *const *)a);
}

static char *prg_in_glob(const char *pattern, const char *names)
{
	glob_t found;
	char *path = NULL;
	size_t i;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return NULL;
	qsort(found.gl_pathv, found.gl_pathc, sizeof(char *), prg_newer_first);
	for (i = 0; !path && i < found.gl_pathc; i++)
		path = prg_in_folder(found.gl_pathv[i], strlen(found.gl_pathv[i]), names);
	globfree(&found);
	return path;
}

static char *prg_find(const struct bk_programs *so_far, const struct bk_service *service,
		      const char *names, const char *bin_dir)
{
	const char *const *s;
	char *path = NULL;

	if (bin_dir)
		path = prg_in_folder(bin_dir, strlen(bin_dir), names);
	if (!path && bin_dir && !so_far->folder)
		return NULL;
	if (!path && so_far->folder)
		path = prg_in_folder(so_far->folder, strlen(so_far->folder), names);
	if (!path)
		path = prg_in_path(names);
	for (s = service->search; !path && s && *s; s++)
		path = prg_in_glob(*s, names);
	return path;
}

static bk_status prg_missing(struct bk_error *err, const struct bk_service *service,
			     const char *who, const char *names, const char *bin_dir)
{
	struct bk_buf where = BK_BUF_INIT;
	const char *const *s;
	bk_status st;

	if (bin_dir) {
		bk_buf_putf(&where, "%s (bin-dir)", bin_dir);
	} else {
		bk_buf_puts(&where, "PATH");
		for (s = service->search; s && *s; s++)
			bk_buf_putf(&where, ", %s", *s);
	}
	st = bk_fail(err, BK_NOT_FOUND, 0,
		     "%s: the server program '%s' is not in %s; install it, or name its folder "
		     "with --set %s.bin-dir=FOLDER",
		     who, names, bk_buf_str(&where), who);
	bk_buf_free(&where);
	return st;
}

static bk_status prg_find_all(struct bk_programs *out, const struct bk_service *service,
			      const char *who, const char *bin_dir, struct bk_error *err)
{
	const char *const *p;
	char *path;

	for (p = service->programs; p && *p; p++) {
		struct bk_program *items =
			realloc(out->items, (out->count + 1) * sizeof(*out->items));

		if (!items)
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
		out->items = items;
		path = prg_find(out, service, *p, bin_dir);
		if (!path)
			return prg_missing(err, service, who, *p, bin_dir);
		items[out->count].names = *p;
		items[out->count++].path = path;
		if (!out->folder) {
			out->folder = strndup(path, (size_t)(strrchr(path, '/') - path));
			if (!out->folder)
				return bk_fail(err, BK_NOMEM, 0, "out of memory");
		}
	}
	return BK_OK;
}

bk_status bk_programs_find(struct bk_programs *out, const struct bk_service **chosen,
			   const struct bk_service *service, const char *who, const char *bin_dir,
			   struct bk_error *err)
{
	struct bk_error other = bk_error_init();
	struct bk_programs found;
	bk_status st = BK_OK, first = BK_OK;

	/* The message is about the first: that is the one people are told to install. */
	for (; service; service = service->alternative) {
		memset(&found, 0, sizeof(found));
		st = prg_find_all(&found, service, who, bin_dir, first == BK_OK ? err : &other);
		if (st == BK_OK) {
			*out = found;
			*chosen = service;
			return BK_OK;
		}
		bk_programs_free(&found);
		if (first == BK_OK)
			first = st;
	}
	return first;
}
