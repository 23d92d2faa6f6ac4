/*
 * folder.c - the folder of a store, and the mark that says whose it is.
 *
 *   PATH/SPACE/.bakeoff   the owner mark, the backend's name, and whether PATH is ours to remove
 *   PATH/SPACE/db/        LevelDB's own files
 *
 * The folder comes into being under another name, with its mark in it, and is then renamed: it is
 * never there without one.  It goes the same way.  Nothing is touched in a folder without it.
 */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKEND     "leveldb"
#define PARENT_MADE "parent: made"
#define MARK_BYTES  1024u

char *ldb_path_of(const char *folder, const char *prefix, const char *name, const char *suffix)
{
	size_t len = strlen(folder) + strlen(prefix) + strlen(name) + strlen(suffix) + 2;
	char *path = malloc(len);

	if (path)
		snprintf(path, len, "%s/%s%s%s", folder, prefix, name, suffix);
	return path;
}

/* PATH/.bakeoff-SPACE.half: on its way into being, or out of it. */
static char *half_path(const struct bk_store *store)
{
	return ldb_path_of(store->opts->path, LDB_MARK "-", store->config->space, ".half");
}

/* The mark's text; 0 or errno. */
static int read_mark(char text[MARK_BYTES], const char *folder)
{
	char *path = ldb_path_of(folder, "", LDB_MARK, "");
	ssize_t n = -1;
	int fd = -1, rc;

	if (!path)
		return ENOMEM;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait */
	if (fd >= 0)
		n = read(fd, text, MARK_BYTES - 1);
	rc = n < 0 ? errno : 0;
	text[n < 0 ? 0 : n] = '\0';
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

/* The mark's lines, in place; missing ones are empty. */
static void split(char *text, char *lines[3])
{
	int i;

	for (i = 0; i < 3; i++) {
		char *end = strchr(text, '\n');

		lines[i] = text;
		if (!end) {
			text += strlen(text);
			continue;
		}
		*end = '\0';
		text = end + 1;
	}
}

static bk_status foreign(struct bk_error *err, const char *folder, const char *why)
{
	return bk_fail(err, BK_FOREIGN, 0,
		       "%s %s; nothing was touched: name another folder, or move it away", folder,
		       why);
}

/* The first entry that is neither `but` nor . nor ..; NULL: none.  Caller frees. */
static bk_status first_entry(char **out, const char *folder, const char *but, struct bk_error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *e;

	*out = NULL;
	if (!dir)
		return ldb_errno(err, errno, "read the folder", folder);
	while (!*out && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    strcmp(e->d_name, but) != 0)
			*out = strdup(e->d_name);
	}
	closedir(dir);
	return BK_OK;
}

static bk_status look_unmarked(enum ldb_place *out, const struct bk_store *store,
			       struct bk_error *err)
{
	char why[300], *entry;
	bk_status status = first_entry(&entry, store->folder, "", err);

	if (status == BK_OK && entry) {
		snprintf(why, sizeof(why),
			 "holds files that bakeoff did not make ('%.100s') and has no owner mark",
			 entry);
		status = foreign(err, store->folder, why);
	} else if (status == BK_OK) {
		*out = LDB_PLACE_EMPTY;
	}
	free(entry);
	return status;
}

bk_status ldb_folder_check_files(const struct bk_store *store, struct bk_error *err)
{
	DIR *dir = opendir(store->db_folder);
	bk_status status = BK_OK;
	struct dirent *e;
	struct stat st;

	while (dir && status == BK_OK && (e = readdir(dir))) {
		if (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && !S_ISREG(st.st_mode) &&
		    !S_ISDIR(st.st_mode))
			status = bk_fail(err, BK_CORRUPT, 0,
					 "%s/%s is a pipe or a device; LevelDB would wait for it",
					 store->db_folder, e->d_name);
	}
	if (dir)
		closedir(dir);
	return status;
}

bk_status ldb_folder_look(enum ldb_place *out, const struct bk_store *store, struct bk_error *err)
{
	char text[MARK_BYTES], why[300], *lines[3];
	struct stat st;
	int rc;

	if (stat(store->folder, &st) != 0) {
		if (errno != ENOENT)
			return ldb_errno(err, errno, "look at", store->folder);
		*out = LDB_PLACE_NONE;
		return BK_OK;
	}
	if (!S_ISDIR(st.st_mode))
		return foreign(err, store->folder, "is not a folder");
	rc = read_mark(text, store->folder);
	if (rc == ENOENT)
		return look_unmarked(out, store, err);
	if (rc)
		return ldb_errno(err, rc, "read the owner mark in", store->folder);
	split(text, lines);
	if (strcmp(lines[0], store->config->mark) != 0) {
		snprintf(why, sizeof(why), "belongs to '%.100s', not to '%.100s'", lines[0],
			 store->config->mark);
		return foreign(err, store->folder, why);
	}
	if (strcmp(lines[1], BACKEND) != 0) {
		snprintf(why, sizeof(why), "is a store of the backend '%.100s'", lines[1]);
		return foreign(err, store->folder, why);
	}
	*out = LDB_PLACE_OURS;
	return BK_OK;
}

/* Was PATH made for a store beside this one?  Then whoever is the last to go removes it. */
static bool parent_was_made(const struct bk_store *store)
{
	DIR *dir = opendir(store->opts->path);
	struct dirent *e;
	bool made = false;

	while (dir && !made && (e = readdir(dir))) {
		char text[MARK_BYTES], *lines[3], *folder;

		if (e->d_name[0] == '.')
			continue;
		folder = ldb_path_of(store->opts->path, "", e->d_name, "");
		if (folder && read_mark(text, folder) == 0) {
			split(text, lines);
			made = strcmp(lines[2], PARENT_MADE) == 0;
		}
		free(folder);
	}
	if (dir)
		closedir(dir);
	return made;
}

static int sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) != 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

/* PATH and what leads to it. */
static bk_status make_parent(const struct bk_store *store, bool *made, struct bk_error *err)
{
	char *path = strdup(store->opts->path), *p;
	bk_status status = BK_OK;

	if (!path)
		return ldb_nomem(err);
	*made = false;
	for (p = path + 1; status == BK_OK && (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST && errno != EISDIR)
			status = ldb_errno(err, errno, "make the folder", path);
		*p = '/';
	}
	if (status == BK_OK && mkdir(path, 0777) == 0)
		*made = true;
	else if (status == BK_OK && errno != EEXIST)
		status = ldb_errno(err, errno, "make the folder", path);
	free(path);
	return status;
}

static bk_status write_mark(const struct bk_store *store, const char *folder, bool parent_made,
			    struct bk_error *err)
{
	char text[MARK_BYTES], *path = ldb_path_of(folder, "", LDB_MARK, "");
	int fd, rc = 0, len;
	bk_status status = BK_OK;

	if (!path)
		return ldb_nomem(err);
	len = snprintf(text, sizeof(text), "%s\n%s\n%s", store->config->mark, BACKEND,
		       parent_made ? PARENT_MADE "\n" : "");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		rc = errno;
	} else {
		ssize_t n = write(fd, text, (size_t)len);

		if (n != len)
			rc = n < 0 ? errno : ENOSPC;
		else if (fsync(fd) != 0)
			rc = errno;
	}
	if (rc)
		status = ldb_errno(err, rc, "write the owner mark", path);
	if (fd >= 0)
		close(fd);
	free(path);
	return status;
}

static void remove_half(const char *half)
{
	char *mark = ldb_path_of(half, "", LDB_MARK, "");

	if (mark)
		unlink(mark);
	free(mark);
	rmdir(half);
}

bk_status ldb_folder_make(const struct bk_store *store, struct bk_error *err)
{
	bool parent_made = false;
	enum ldb_place place;
	char *half = NULL;
	bk_status status = ldb_folder_look(&place, store, err);
	int rc;

	if (status != BK_OK || place == LDB_PLACE_OURS)
		return status;
	status = make_parent(store, &parent_made, err);
	if (status != BK_OK)
		return status;
	half = half_path(store);
	if (!half)
		return ldb_nomem(err);
	remove_half(half);
	if (mkdir(half, 0777) != 0)
		status = ldb_errno(err, errno, "make the folder", half);
	if (status == BK_OK)
		status = write_mark(store, half, parent_made || parent_was_made(store), err);
	if (status == BK_OK) {
		rc = sync_folder(half);
		if (!rc)
			rc = rename(half, store->folder) != 0 ? errno : 0;
		if (!rc)
			rc = sync_folder(store->opts->path);
		if (rc)
			status = ldb_errno(err, rc, "make the folder", store->folder);
	}
	if (status != BK_OK) {
		remove_half(half);
		if (parent_made)
			rmdir(store->opts->path);
	}
	free(half);
	return status;
}

bk_status ldb_folder_unmake(const struct bk_store *store, struct bk_error *err)
{
	char text[MARK_BYTES] = "", *lines[3], *half = half_path(store), *entry = NULL;
	enum ldb_place place;
	bk_status status = half ? ldb_folder_look(&place, store, err) : ldb_nomem(err);

	if (status != BK_OK)
		goto out;
	remove_half(half);
	if (place != LDB_PLACE_OURS)
		goto out;
	status = first_entry(&entry, store->folder, LDB_MARK, err);
	if (status == BK_OK && entry)
		status = bk_fail(err, BK_FOREIGN, 0,
				 "the store is gone from %s, but '%.100s' there is not bakeoff's: "
				 "it was left, and the folder with it",
				 store->folder, entry);
	if (status != BK_OK)
		goto out;
	read_mark(text, store->folder);
	split(text, lines);
	if (rename(store->folder, half) != 0) {
		status = ldb_errno(err, errno, "remove the folder", store->folder);
		goto out;
	}
	remove_half(half);
	if (strcmp(lines[2], PARENT_MADE) == 0)
		rmdir(store->opts->path); /* refused by the system while other stores are there */
out:
	free(entry);
	free(half);
	return status;
}
