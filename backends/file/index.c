/*
 * index.c - the log and the tables as one; see index.h.
 *
 * The one invariant: a hash only finds candidates; the bytes of the entry decide.
 */
#include "index.h"

#include "hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t index_tag(uint64_t hash, enum file_key_kind kind)
{
	return (hash & ~(uint64_t)7) | (uint64_t)kind;
}

struct file_key file_key(enum file_key_kind kind, struct bk_slice a)
{
	struct file_key key = {.kind = kind, .a = a};

	key.hash = index_tag(file_hash((uint64_t)kind, a), kind);
	return key;
}

struct file_key file_key_link(struct bk_slice source, struct bk_slice rel, struct bk_slice target)
{
	struct file_key key = {.kind = FILE_KEY_LINK, .a = source, .rel = rel, .target = target};
	uint64_t hash = file_hash(file_hash(file_hash(FILE_KEY_LINK, source), rel), target);

	key.hash = index_tag(hash, FILE_KEY_LINK);
	return key;
}

struct file_key file_entry_list(const struct file_entry *e)
{
	return file_key(e->kind == FILE_ENTRY_NODE ? FILE_KEY_CHILDREN : FILE_KEY_IN,
			file_entry_key(e));
}

struct index_search {
	struct file_index *ix;
	const struct file_key *key;
	struct file_entry *found;
};

static bool index_match(void *ctx, uint64_t offset)
{
	struct index_search *search = ctx;
	const struct file_key *key = search->key;
	struct file_entry *e = file_log_entry(search->ix->log, offset);
	bool is_link = key->kind == FILE_KEY_LINK || key->kind == FILE_KEY_IN;
	bool same = false;

	if (!e)
		atomic_store(&search->ix->damaged, true);
	if (!e || e->kind != (is_link ? FILE_ENTRY_LINK : FILE_ENTRY_NODE))
		return false;
	switch (key->kind) {
	case FILE_KEY_ID:
		same = bk_slice_eq(file_entry_id(e), key->a);
		break;
	case FILE_KEY_PATH:
		same = bk_slice_eq(file_entry_path(e), key->a);
		break;
	case FILE_KEY_CHILDREN:
	case FILE_KEY_IN:
		same = bk_slice_eq(file_entry_key(e), key->a);
		break;
	case FILE_KEY_LINK:
		same = bk_slice_eq(file_entry_id(e), key->a) &&
		       bk_slice_eq(file_entry_rel(e), key->rel) &&
		       bk_slice_eq(file_entry_key(e), key->target);
		break;
	}
	if (same)
		search->found = e;
	return same;
}

struct file_entry *file_index_find(struct file_index *ix, const struct file_key *key,
				   uint64_t *offset)
{
	struct index_search search = {.ix = ix, .key = key};
	uint64_t at =
		file_table_find(file_index_table(ix, key->hash), key->hash, index_match, &search);

	if (at && offset)
		*offset = at;
	return at ? search.found : NULL;
}

void file_index_set(struct file_index *ix, const struct file_key *key, uint64_t offset)
{
	struct index_search search = {.ix = ix, .key = key};

	file_table_set(file_index_table(ix, key->hash), key->hash, offset, index_match, &search);
}

bk_status file_index_check(struct file_index *ix, struct bk_error *err)
{
	if (!atomic_load_explicit(&ix->damaged, memory_order_relaxed))
		return BK_OK;
	return bk_fail(err, BK_CORRUPT, 0,
		       "the list log '%s/%s' is damaged; close the store and remove the folder "
		       "'%s/index': it is built anew from the nodes",
		       ix->folder, ix->log->name, ix->folder);
}

/* ---- Life ---------------------------------------------------------------------- */

bk_status file_index_open(struct file_index **out, int dirfd, const char *folder,
			  uint64_t generation, bool create, struct bk_error *err)
{
	struct file_index *ix = calloc(1, sizeof(*ix));
	bk_status status;

	if (!ix)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the index");
	ix->generation = generation;
	ix->dirfd = dirfd;
	ix->folder = folder;
	status = file_log_open(&ix->log, dirfd, folder, generation, create, err);
	for (unsigned i = 0; i < FILE_SHARDS && status == BK_OK; i++) {
		char name[48];

		snprintf(name, sizeof(name), "index/table-%llu-%x", (unsigned long long)generation,
			 i);
		status = file_table_open(&ix->tables[i], dirfd, folder, name, create, err);
	}
	if (status != BK_OK) {
		file_index_close(ix);
		return status;
	}
	*out = ix;
	return BK_OK;
}

void file_index_close(struct file_index *ix)
{
	if (!ix)
		return;
	for (unsigned i = 0; i < FILE_SHARDS; i++)
		file_table_close(&ix->tables[i]);
	file_log_unref(ix->log);
	free(ix);
}

bk_status file_index_sync(struct file_index *ix, struct bk_error *err)
{
	if (fsync(ix->log->fd) < 0)
		return file_fail(err, errno, "sync", ix->folder, ix->log->name);
	for (unsigned i = 0; i < FILE_SHARDS; i++) {
		if (file_table_sync(&ix->tables[i]) < 0)
			return file_fail(err, errno, "sync", ix->folder, ix->tables[i].name);
	}
	if (file_sync_folder(ix->dirfd, "index") < 0)
		return file_fail(err, errno, "sync", ix->folder, "index");
	return BK_OK;
}

void file_index_sweep(int dirfd, uint64_t keep)
{
	int fd = openat(dirfd, "index", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	char tail[2];

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir))) {
		unsigned long long gen;
		bool ours = sscanf(e->d_name, "log-%llu%1s", &gen, tail) == 1 ||
			    (sscanf(e->d_name, "table-%llu-%1s", &gen, tail) == 2);

		if (ours && (gen != keep || strstr(e->d_name, ".new")))
			unlinkat(fd, e->d_name, 0);
	}
	closedir(dir);
}
