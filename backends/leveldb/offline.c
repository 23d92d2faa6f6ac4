/*
 * offline.c - a database read from outside: its files, their sizes, and the levels by its MANIFEST.
 * Another process may have it open meanwhile; nothing is written, locked or held.
 */
#include "inspect.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum kind { KIND_TABLE, KIND_LOG, KIND_MANIFEST, KIND_OTHER, KINDS };

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), w = strlen(with);

	return n >= w && strcmp(name + n - w, with) == 0;
}

static enum kind kind_of(const char *name)
{
	if (ends(name, ".ldb") || ends(name, ".sst"))
		return KIND_TABLE;
	if (ends(name, ".log"))
		return KIND_LOG;
	return strncmp(name, "MANIFEST-", 9) == 0 ? KIND_MANIFEST : KIND_OTHER;
}

void ldb_put_files(const struct bk_store *store, const struct bk_sink *sink)
{
	uint64_t files[KINDS] = {0}, bytes[KINDS] = {0}, all = 0, disk = 0;
	DIR *dir = opendir(store->db_folder);
	struct dirent *e;
	struct stat st;
	int i;

	while (dir && (e = readdir(dir))) {
		enum kind kind = kind_of(e->d_name);

		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		files[kind]++;
		bytes[kind] += (uint64_t)st.st_size;
		disk += (uint64_t)st.st_blocks * 512;
	}
	if (dir)
		closedir(dir);
	for (i = 0; i < KINDS; i++)
		all += bytes[i];
	sink->put_u64(sink->ctx, "storage.bytes", all, "bytes", 0);
	sink->put_u64(sink->ctx, "storage.disk.bytes", disk, "bytes", 0);
	sink->put_u64(sink->ctx, "storage.tables", files[KIND_TABLE], "count", 0);
	sink->put_u64(sink->ctx, "storage.tables.bytes", bytes[KIND_TABLE], "bytes", 0);
	sink->put_u64(sink->ctx, "storage.logs", files[KIND_LOG], "count", 0);
	sink->put_u64(sink->ctx, "storage.logs.bytes", bytes[KIND_LOG], "bytes", 0);
}

void ldb_put_levels(const struct bk_sink *sink, const uint64_t *files, const uint64_t *bytes)
{
	char name[8];
	int i;

	for (i = 0; i < LDB_LEVELS; i++) {
		if (!files[i])
			continue;
		snprintf(name, sizeof(name), "%d", i);
		sink->begin(sink->ctx, "level", name);
		sink->put_u64(sink->ctx, "files", files[i], "count", 0);
		sink->put_u64(sink->ctx, "bytes", bytes[i], "bytes", 0);
		sink->end(sink->ctx);
	}
}

/* CURRENT holds the MANIFEST's name and a line end. */
static bool manifest_path(char *out, size_t size, const struct bk_store *store)
{
	char path[4096], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/CURRENT", store->db_folder);
	f = fopen(path, "re");
	if (!f || !fgets(name, sizeof(name), f))
		name[0] = '\0';
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	if (strncmp(name, "MANIFEST-", 9) != 0 || strchr(name, '/'))
		return false;
	return (size_t)snprintf(out, size, "%s/%s", store->db_folder, name) < size;
}

bk_status ldb_inspect_offline(const struct bk_store *store, uint32_t what,
			      const struct bk_sink *sink, struct bk_error *err)
{
	struct ldb_manifest m;
	enum ldb_place place;
	char path[4096 + 64];
	bk_status status = ldb_folder_look(&place, store, err);

	if (status != BK_OK)
		return status;
	if (place != LDB_PLACE_OURS || !ldb_has_current(store))
		return bk_fail(err, BK_NOT_FOUND, 0, "there is no store in %s yet; make it first",
			       store->folder);
	status = ldb_folder_check_files(store, err);
	if (status != BK_OK)
		return status;
	if (!manifest_path(path, sizeof(path), store))
		return bk_fail(err, BK_CORRUPT, 0, "%s/CURRENT is damaged: it names no MANIFEST",
			       store->db_folder);
	if (what & BK_INSPECT_IDENTITY)
		sink->put_str(sink->ctx, "read",
			      "from outside; what is still in the log is not "
			      "counted by level");
	if (!(what & BK_INSPECT_SIZE))
		return BK_OK;
	ldb_put_files(store, sink);
	if (!ldb_manifest_read(&m, path)) {
		sink->flag(sink->ctx, "manifest-unread",
			   "the MANIFEST does not check out, or changed while it was read");
		return BK_OK;
	}
	ldb_put_levels(sink, m.files, m.bytes);
	sink->put_u64(sink->ctx, "sequence.last", m.last_sequence, "count", 0);
	sink->put_str(sink->ctx, "comparator", m.comparator);
	return BK_OK;
}
