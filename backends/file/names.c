/*
 * names.c - temporary names, names given, and how far a file and its name are on disk.
 */
#include "file.h"
#include "hash.h"

#include <errno.h>
#include <unistd.h>

void file_temp_name(struct bk_session *s, char *out, size_t cap)
{
	snprintf(out, cap, "tmp/%x-%llx", s->slot, (unsigned long long)s->temps++);
}

int file_sync_file(struct bk_session *s, int fd)
{
	if (s->durability < BK_DURABLE_MACHINE)
		return 0;
	s->fsyncs++;
	return fdatasync(fd);
}

/* Folders whose own names are known to be on disk need not be looked at again.  Few places, by
 * hash; losing one costs a sync. */
static uint64_t names_folder_hash(const char *folder)
{
	return file_hash(1, bk_slice_str(folder)) | 1;
}

static bool names_folder_known(struct bk_store *store, const char *folder)
{
	uint64_t hash = names_folder_hash(folder);

	return atomic_load_explicit(&store->synced[(hash >> 8) % FILE_SYNCED],
				    memory_order_acquire) == hash;
}

static void names_folder_learn(struct bk_store *store, uint64_t hash)
{
	atomic_store_explicit(&store->synced[(hash >> 8) % FILE_SYNCED], hash,
			      memory_order_release);
}

int file_sync_name(struct bk_session *s, const char *name)
{
	struct bk_store *store = s->store;
	char folder[4096];
	char *slash;

	if (s->durability < BK_DURABLE_MACHINE)
		return 0;
	snprintf(folder, sizeof(folder), "%s", name);
	slash = strrchr(folder, '/');
	*slash = '\0';
	s->fsyncs++;
	if (file_sync_folder(store->dirfd, folder) < 0)
		return -1;
	/* Then each folder above it that holds a name which may be new. */
	while (!store->syncs_above && (slash = strrchr(folder, '/')) &&
	       !names_folder_known(store, folder)) {
		uint64_t hash = names_folder_hash(folder);

		*slash = '\0';
		s->fsyncs++;
		if (file_sync_folder(store->dirfd, folder) < 0)
			return -1;
		names_folder_learn(store, hash);
	}
	return 0;
}

int file_give_name(struct bk_session *s, const char *temp, const char *name, bool fresh)
{
	int dirfd = s->store->dirfd;
	unsigned made = 0;

	for (int tries = 0;; tries++) {
		int rc = fresh ? file_rename_new(dirfd, temp, name)
			       : renameat(dirfd, temp, dirfd, name);

		if (rc == 0 || errno != ENOENT || tries == 2)
			return rc;
		if (file_make_parents(dirfd, name, &made) < 0)
			return -1;
	}
}
