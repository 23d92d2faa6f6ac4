/*
 * list.c - all binaries: the folders are walked, depth first.
 *
 * The one invariant: a folder's names are read whole before any of them is used, so that a binary
 * that is replaced meanwhile is met once, whatever the file system does to the order of names.
 */
#include "binary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_DEPTH 24u                /* fan-out, and pieces of a long key */
#define LIST_VIEWS ((size_t)64 << 10) /* keys of one page */

struct list_level {
	struct file_buf names; /* one after the other, each with its NUL and a type before it */
	size_t at;             /* the next one */
	size_t path_len;       /* of `path`, up to this folder */
	size_t key_len;        /* of `key`, up to this folder */
};

struct file_listing {
	struct list_level levels[LIST_DEPTH];
	size_t depth; /* levels in use */
	struct file_buf path, key, views;
};

static void list_free(struct file_listing *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < LIST_DEPTH; i++)
		file_buf_free(&l->levels[i].names);
	file_buf_free(&l->path);
	file_buf_free(&l->key);
	file_buf_free(&l->views);
	free(l);
}

static bool list_take_name(struct file_buf *names, const struct dirent *e)
{
	size_t len = strlen(e->d_name) + 1;

	if (!file_buf_room(names, len + 1))
		return false;
	names->data[names->len++] = (char)e->d_type;
	memcpy(names->data + names->len, e->d_name, len);
	names->len += len;
	return true;
}

/* Go down into the folder that `path` names now.  What is gone, or no folder, has no
 * names. */
static bk_status list_enter(struct file_listing *l, struct bk_store *store, struct bk_error *err)
{
	struct list_level *level = &l->levels[l->depth];
	bk_status status = BK_OK;
	struct dirent *e;
	DIR *dir = NULL;
	int fd;

	if (l->depth == LIST_DEPTH)
		return bk_fail(err, BK_CORRUPT, 0, "'%s/%s' lies deeper than any binary can",
			       store->dir, l->path.data);
	level->names.len = level->at = 0;
	level->path_len = l->path.len;
	level->key_len = l->key.len;
	fd = openat(store->dirfd, l->path.data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		dir = fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	if (!dir && fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		l->depth++;
		return BK_OK;
	}
	if (!dir)
		return file_fail_in(err, errno, "list", store, l->path.data);
	while (status == BK_OK && (errno = 0, e = readdir(dir))) {
		if (e->d_name[0] != '.' && !list_take_name(&level->names, e))
			status = bk_fail(err, BK_NOMEM, 0, "out of memory for the names in '%s/%s'",
					 store->dir, l->path.data);
	}
	if (status == BK_OK && errno)
		status = file_fail_in(err, errno, "list", store, l->path.data);
	closedir(dir);
	if (status == BK_OK)
		l->depth++;
	return status;
}

bk_status file_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err)
{
	struct bk_cursor *c = &s->cursor;
	struct file_listing *l;
	bk_status status;

	if (c->open)
		return bk_fail(err, BK_STATE, 0, "the session has a cursor open");
	l = calloc(1, sizeof(*l));
	if (!l || !file_buf_room(&l->path, 8192) || !file_buf_room(&l->key, 4096) ||
	    !file_buf_room(&l->views, LIST_VIEWS)) {
		list_free(l);
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a list of binaries");
	}
	memcpy(l->path.data, "binaries", sizeof("binaries"));
	l->path.len = sizeof("binaries") - 1;
	status = list_enter(l, s->store, err);
	if (status != BK_OK) {
		list_free(l);
		return status;
	}
	c->session = s;
	c->kind = FILE_CURSOR_KEYS;
	c->open = 1;
	c->listing = l;
	*out = c;
	return BK_OK;
}

/* Put the next name behind the path; false when the innermost folder has no more. */
static bool list_step(struct file_listing *l, unsigned char *type, const char **name)
{
	struct list_level *level = &l->levels[l->depth - 1];
	size_t len;

	l->path.len = level->path_len;
	l->path.data[l->path.len] = '\0';
	l->key.len = level->key_len;
	if (level->at == level->names.len)
		return false;
	*type = (unsigned char)level->names.data[level->at];
	*name = level->names.data + level->at + 1;
	len = strlen(*name);
	level->at += len + 2;
	if (!file_buf_room(&l->path, len + 2))
		return false;
	l->path.data[l->path.len++] = '/';
	memcpy(l->path.data + l->path.len, *name, len + 1);
	l->path.len += len;
	return true;
}

/* One name: a folder is gone into, a file is told.  *told: is there a key? */
static bk_status list_visit(struct file_listing *l, struct bk_store *store, unsigned char type,
			    const char *name, uint64_t *size, bool *told, struct bk_error *err)
{
	bool fanned = l->depth <= store->opts->binary_levels;
	bool piece = *name == '=' && name[strlen(name) - 1] == '+';
	struct stat st;

	*told = false;
	if (fanned || (piece && type != DT_REG)) {
		if (!fanned && !file_key_from_name(&l->key, name, l->key.len == 0))
			return BK_OK;
		return list_enter(l, store, err);
	}
	if (!file_key_from_name(&l->key, name, l->key.len == 0))
		return BK_OK; /* not ours */
	if (fstatat(store->dirfd, l->path.data, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return BK_OK;
		return file_fail_in(err, errno, "look at", store, l->path.data);
	}
	*size = (uint64_t)st.st_size;
	*told = S_ISREG(st.st_mode);
	return BK_OK;
}

bk_status file_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			 size_t cap, size_t *n, struct bk_error *err)
{
	struct file_listing *l = c->listing;
	size_t got = 0;

	l->views.len = 0;
	while (l->depth && got < cap && l->views.cap - l->views.len >= FILE_KEY_MAX) {
		const char *name;
		unsigned char type;
		bool told;
		bk_status status;

		if (!list_step(l, &type, &name)) {
			l->depth--;
			continue;
		}
		status =
			list_visit(l, c->session->store, type, name, &sizes_bytes[got], &told, err);
		if (status != BK_OK)
			return status;
		if (!told || l->key.len > FILE_KEY_MAX)
			continue;
		memcpy(l->views.data + l->views.len, l->key.data, l->key.len);
		keys[got++] = bk_slice_of(l->views.data + l->views.len, l->key.len);
		l->views.len += l->key.len;
	}
	*n = got;
	return got ? BK_OK : BK_END;
}

void file_list_close(struct bk_cursor *c)
{
	if (!c || !c->open)
		return;
	list_free(c->listing);
	c->listing = NULL;
	c->open = 0;
}
