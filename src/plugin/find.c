/*
 * find.c - backends by name on the search path.
 *
 * The one invariant: only folders of the search path are looked into, so a name can never reach a
 * file elsewhere; the first folder that has bk-NAME.so decides, refused or not.
 */
#include "plugin/check.h"
#include "plugin/plugin.h"

#include "util/buf.h"
#include "util/fs.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define FIND_VARIABLE "BAKEOFF_BACKENDS"

static bk_status find_nomem(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "out of memory");
}

/* ---- the search path ------------------------------------------------------- */

static bool find_add(char ***folders, size_t *n, char *folder)
{
	char **more = folder ? realloc(*folders, (*n + 2) * sizeof(*more)) : NULL;

	if (!more) {
		free(folder);
		return false;
	}
	*folders = more;
	more[(*n)++] = folder;
	more[*n] = NULL;
	return true;
}

char **bk_plugin_folders(void)
{
	const char *list = getenv(FIND_VARIABLE), *p = list ? list : "";
	char *program = bk_fs_program_folder(), *installed, **folders = NULL;
	size_t n = 0;
	bool ok = true;

	while (ok && *p) {
		size_t len = strcspn(p, ":");

		if (len)
			ok = find_add(&folders, &n, strndup(p, len));
		p += len + (p[len] == ':');
	}
	if (program) {
		ok = ok && find_add(&folders, &n, bk_fs_join(program, "backends"));
		installed = bk_fs_join(BAKEOFF_LIBDIR[0] == '/' ? "" : "..", BAKEOFF_LIBDIR);
		if (installed) {
			char *base = bk_fs_join(program, installed);

			ok = ok && base &&
			     find_add(&folders, &n, bk_fs_join(base, "bakeoff/backends"));
			free(base);
		}
		free(installed);
		free(program);
	}
	if (ok && folders)
		return folders;
	bk_plugin_folders_free(folders);
	return calloc(1, sizeof(*folders));
}

void bk_plugin_folders_free(char **folders)
{
	size_t i;

	for (i = 0; folders && folders[i]; i++)
		free(folders[i]);
	free(folders);
}

/* ---- listing ----------------------------------------------------------------- */

/* The name inside "bk-NAME.so", the caller's to free; NULL for any other file. */
static char *find_name(const char *file)
{
	size_t len = strlen(file);

	if (len <= 6 || strncmp(file, "bk-", 3) != 0 || strcmp(file + len - 3, ".so") != 0)
		return NULL;
	return strndup(file + 3, len - 6);
}

static bool find_has(const struct bk_plugin_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (strcmp(list->entries[i].name, name) == 0)
			return true;
	}
	return false;
}

static bk_status find_append(struct bk_plugin_list *list, const char *folder, const char *file,
			     struct bk_error *err)
{
	struct bk_plugin_entry *entry, *more;
	char *name = find_name(file);

	if (!name || find_has(list, name)) {
		free(name);
		return BK_OK;
	}
	more = realloc(list->entries, (list->count + 1) * sizeof(*more));
	if (!more) {
		free(name);
		return find_nomem(err);
	}
	list->entries = more;
	entry = &more[list->count++];
	memset(entry, 0, sizeof(*entry));
	entry->refusal = bk_error_init();
	entry->name = name;
	entry->path = bk_fs_join(folder, file);
	return entry->path ? BK_OK : find_nomem(err);
}

static int find_compare(const void *a, const void *b)
{
	return strcmp(((const struct bk_plugin_entry *)a)->name,
		      ((const struct bk_plugin_entry *)b)->name);
}

/* Names and paths only; nothing is loaded. */
static bk_status find_scan(struct bk_plugin_list *list, struct bk_error *err)
{
	char **folders = bk_plugin_folders();
	bk_status st = folders ? BK_OK : find_nomem(err);
	size_t i;

	for (i = 0; st == BK_OK && folders[i]; i++) {
		DIR *dir = opendir(folders[i]);
		struct dirent *entry;

		if (!dir) /* the build tree's or the installed one: one of them is missing */
			continue;
		while (st == BK_OK && (entry = readdir(dir)))
			st = find_append(list, folders[i], entry->d_name, err);
		closedir(dir);
	}
	bk_plugin_folders_free(folders);
	if (list->count)
		qsort(list->entries, list->count, sizeof(*list->entries), find_compare);
	return st;
}

bk_status bk_plugin_list_load(struct bk_plugin_list *out, struct bk_error *err)
{
	struct bk_plugin_list list = {NULL, 0};
	bk_status st = find_scan(&list, err);
	size_t i;

	if (st != BK_OK) {
		bk_plugin_list_free(&list);
		return st;
	}
	for (i = 0; i < list.count; i++) {
		struct bk_plugin_entry *entry = &list.entries[i];

		bk_plugin_load(&entry->plugin, entry->path, &entry->refusal);
	}
	*out = list;
	return BK_OK;
}

void bk_plugin_list_free(struct bk_plugin_list *list)
{
	size_t i;

	if (!list)
		return;
	for (i = 0; i < list->count; i++) {
		free(list->entries[i].name);
		free(list->entries[i].path);
		bk_plugin_free(list->entries[i].plugin);
	}
	free(list->entries);
	list->entries = NULL;
	list->count = 0;
}

/* ---- finding one --------------------------------------------------------------- */

static bk_status find_unknown(const char *name, struct bk_error *err)
{
	struct bk_plugin_list list = {NULL, 0};
	struct bk_suggest suggest;
	struct bk_buf text = BK_BUF_INIT;
	bk_status st;
	size_t i;

	bk_suggest_init(&suggest, name);
	find_scan(&list, err);
	for (i = 0; i < list.count; i++)
		bk_suggest_offer(&suggest, list.entries[i].name);
	if (suggest.best)
		bk_buf_putf(&text, "did you mean '%s'?", suggest.best);
	else if (list.count == 0)
		bk_buf_putf(&text, "no backend was found at all; set " FIND_VARIABLE
				   " to the folder that holds them");
	else
		bk_buf_putf(&text,
			    "`bakeoff backends` lists the %zu known, $" FIND_VARIABLE
			    " adds folders to search",
			    list.count);
	st = bk_fail(err, BK_NOT_FOUND, 0, "backend '%.60s' is unknown; %s", name,
		     bk_buf_str(&text));
	bk_buf_free(&text);
	bk_plugin_list_free(&list);
	return st;
}

bk_status bk_plugin_find(struct bk_plugin **out, const char *name, struct bk_error *err)
{
	char **folders, file[64];
	bk_status st = BK_NOT_FOUND;
	size_t i;

	if (!bk_backend_name_is_valid(name))
		return find_unknown(name, err);
	folders = bk_plugin_folders();
	if (!folders)
		return find_nomem(err);
	snprintf(file, sizeof(file), "bk-%s.so", name);
	for (i = 0; folders[i] && st == BK_NOT_FOUND; i++) {
		char *path = bk_fs_join(folders[i], file);

		if (!path)
			st = find_nomem(err);
		else if (access(path, F_OK) == 0)
			st = bk_plugin_load(out, path, err);
		free(path);
	}
	bk_plugin_folders_free(folders);
	return st == BK_NOT_FOUND ? find_unknown(name, err) : st;
}

bk_status bk_plugin_given(struct bk_plugin **out, const char *name_or_path, struct bk_error *err)
{
	size_t len = strlen(name_or_path);

	if (strchr(name_or_path, '/') || (len > 3 && strcmp(name_or_path + len - 3, ".so") == 0))
		return bk_plugin_load(out, name_or_path, err);
	return bk_plugin_find(out, name_or_path, err);
}
