/*
 * settle.c - waiting until LevelDB's background work is done.
 *
 * poll     one second in which no table came or went, nothing grew on disk, and level 0 stayed
 *          below the number of files that starts a compaction.  A compaction that runs shows in
 *          the size of the file that it writes, long before it shows in the list of tables.
 * compact  everything is compacted, range by range, so that the time-out is looked at in between;
 *          then as above.
 */
#include "data.h"
#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define QUIET_NS   UINT64_C(1000000000)
#define POLL_NS    UINT64_C(50000000)
#define L0_TRIGGER 4 /* LevelDB's kL0_CompactionTrigger */

static uint64_t fold_text(uint64_t h, const char *text)
{
	return h * UINT64_C(0x9e3779b97f4a7c15) ^
	       ldb_hash('t', bk_slice_of(text, text ? strlen(text) : 0));
}

/* Names and sizes of the files that hold data.  LevelDB's own diary (LOG) does not count. */
static uint64_t folder_state(const struct bk_store *store)
{
	DIR *dir = opendir(store->db_folder);
	uint64_t sum = 0;
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, "LOG", 3) == 0 ||
		    fstatat(dirfd(dir), e->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
			continue;
		/* A sum: the order in a folder means nothing. */
		sum += fold_text((uint64_t)st.st_size, e->d_name);
	}
	if (dir)
		closedir(dir);
	return sum;
}

static uint64_t state(const struct bk_store *store, bool *busy)
{
	char *tables = leveldb_property_value(store->db, "leveldb.sstables");
	char *level0 = leveldb_property_value(store->db, "leveldb.num-files-at-level0");
	uint64_t h = fold_text(folder_state(store), tables);

	*busy = level0 && atoi(level0) >= L0_TRIGGER;
	leveldb_free(tables);
	leveldb_free(level0);
	return h;
}

static void compact(struct bk_store *store, uint64_t deadline)
{
	static const char tags[] = {LDB_KEY_CHILD, LDB_KEY_IN,   LDB_KEY_NODE,
				    LDB_KEY_OUT,   LDB_KEY_PATH, LDB_KEY_SEGMENT};
	size_t i;

	for (i = 0; i < sizeof(tags) && store->host->now_ns(store->host->ctx) < deadline; i++) {
		const char from = tags[i], to = (char)(tags[i] + 1);

		leveldb_compact_range(store->db, &from, 1, &to, 1);
	}
}

static bk_status late(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	store->settled = "timeout";
	return bk_fail(err, BK_TIMEOUT, 0,
		       "LevelDB is still compacting %s after %llu ms; allow it more time",
		       store->db_folder, (unsigned long long)(timeout_ns / 1000000));
}

bk_status ldb_store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	const struct timespec pause = {0, (long)POLL_NS};
	const bool full = store->opts->settle == LDB_SETTLE_COMPACT;
	uint64_t now, start, deadline, quiet_since, before, after;
	bool busy;

	if (!ldb_db_is_open(store))
		return BK_OK; /* nothing runs */
	start = store->host->now_ns(store->host->ctx);
	deadline = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
	if (full)
		compact(store, deadline);
	before = state(store, &busy);
	quiet_since = store->host->now_ns(store->host->ctx);
	for (;;) {
		now = store->host->now_ns(store->host->ctx);
		if (!busy && now - quiet_since >= QUIET_NS)
			break;
		if (now >= deadline)
			return late(store, timeout_ns, err);
		nanosleep(&pause, NULL);
		after = state(store, &busy);
		if (busy || after != before)
			quiet_since = store->host->now_ns(store->host->ctx);
		before = after;
	}
	store->settled = full ? "compact" : "poll";
	return BK_OK;
}
