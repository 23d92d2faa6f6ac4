/*
 * inspect.c - what a store is and holds.
 *
 * An open database is asked for its properties.  One that is not open here is read from outside
 * (offline.c): opening it would take its lock, replay its log and write new files.
 */
#include "inspect.h"

#include <stdlib.h>
#include <sys/resource.h>

#define COUNT_MAX 1000000u /* nodes counted one by one; beyond, an estimate */

static void put_settings(const struct bk_store *store, const struct bk_sink *sink)
{
	const struct ldb_options *o = store->opts;
	struct rlimit files;

	sink->begin(sink->ctx, "settings", "options of this backend");
	sink->put_u64(sink->ctx, "block-cache", o->block_cache, "bytes", 0);
	sink->put_u64(sink->ctx, "write-buffer", o->write_buffer, "bytes", 0);
	sink->put_u64(sink->ctx, "bloom-bits", o->bloom_bits, "count", 0);
	sink->put_str(sink->ctx, "compression",
		      o->compression == leveldb_snappy_compression ? "snappy" : "none");
	sink->put_u64(sink->ctx, "open-files", o->open_files, "count", 0);
	sink->put_u64(sink->ctx, "block-size", o->block_size, "bytes", 0);
	sink->put_u64(sink->ctx, "file-size", o->file_size, "bytes", 0);
	sink->put_u64(sink->ctx, "absent-filter", o->absent_filter, "bytes", 0);
	sink->put_str(sink->ctx, "paranoid-checks", o->paranoid_checks ? "yes" : "no");
	sink->put_str(sink->ctx, "verify-checksums", o->verify_checksums ? "yes" : "no");
	sink->put_str(sink->ctx, "settle", o->settle == LDB_SETTLE_COMPACT ? "compact" : "poll");
	sink->end(sink->ctx);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY)
		sink->put_u64(sink->ctx, "limit.descriptors", files.rlim_cur, "count", 0);
}

static void put_identity(const struct bk_store *store, const struct bk_sink *sink)
{
	char version[32];

	snprintf(version, sizeof(version), "%d.%d", leveldb_major_version(),
		 leveldb_minor_version());
	sink->put_str(sink->ctx, "server.product", "LevelDB");
	sink->put_str(sink->ctx, "server.version", version);
	sink->put_str(sink->ctx, "folder", store->folder);
	sink->put_str(sink->ctx, "isolation", "snapshot");
	sink->put_str(sink->ctx, "settled", store->settled ? store->settled : "no");
	put_settings(store, sink);
	if (atomic_load(&store->failed))
		sink->flag(sink->ctx, "writes-stopped",
			   "a write failed; none is taken until the store is opened again");
}

/* "leveldb.sstables": a head line a level, then a line a table: " 12:345678['a' .. 'b']". */
static void read_levels(const struct bk_store *store, uint64_t *files, uint64_t *bytes)
{
	char *text = leveldb_property_value(store->db, "leveldb.sstables");
	char *line = text, *next;
	int level = 0;

	for (; line && *line; line = next) {
		unsigned long long number, size;

		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (sscanf(line, "--- level %d ---", &level) == 1)
			continue;
		if (level >= 0 && level < LDB_LEVELS &&
		    sscanf(line, " %llu:%llu[", &number, &size) == 2) {
			files[level]++;
			bytes[level] += size;
		}
	}
	leveldb_free(text);
}

static uint64_t range_bytes(const struct bk_store *store, const char *from, size_t from_len,
			    const char *to, size_t to_len)
{
	uint64_t bytes = 0;

	leveldb_approximate_sizes(store->db, 1, &from, &from_len, &to, &to_len, &bytes);
	return bytes;
}

static void put_ranges(const struct bk_store *store, const struct bk_sink *sink)
{
	static const struct {
		char tag;
		const char *name;
	} ranges[] = {
		{LDB_KEY_NODE, "nodes"},    {LDB_KEY_SEGMENT, "segments"},
		{LDB_KEY_PATH, "paths"},    {LDB_KEY_CHILD, "children"},
		{LDB_KEY_OUT, "links out"}, {LDB_KEY_IN, "links in"},
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		const char from = ranges[i].tag, to = (char)(ranges[i].tag + 1);

		sink->begin(sink->ctx, "range", ranges[i].name);
		sink->put_u64(sink->ctx, "bytes", range_bytes(store, &from, 1, &to, 1), "bytes",
			      BK_SINK_ESTIMATE);
		sink->end(sink->ctx);
	}
}

/* One entry a node stands in the range of paths, and nothing else. */
static bk_status put_count(const struct bk_store *store, const struct bk_sink *sink,
			   struct bk_error *err)
{
	const char from = LDB_KEY_PATH, to = LDB_KEY_PATH + 1;
	leveldb_readoptions_t *ro = leveldb_readoptions_create();
	leveldb_iterator_t *it;
	uint64_t count = 0, seen, all;
	const char *key = NULL;
	char *text = NULL;
	size_t len = 0;
	bool more = false;

	leveldb_readoptions_set_fill_cache(ro, 0);
	it = leveldb_create_iterator(store->db, ro);
	for (leveldb_iter_seek(it, &from, 1); leveldb_iter_valid(it); leveldb_iter_next(it)) {
		key = leveldb_iter_key(it, &len);
		if (*key != from)
			break;
		more = count == COUNT_MAX;
		if (more)
			break;
		count++;
	}
	leveldb_iter_get_error(it, &text);
	if (more && !text) {
		seen = range_bytes(store, &from, 1, key, len);
		all = range_bytes(store, &from, 1, &to, 1);
		if (seen)
			count = (uint64_t)((double)count * (double)all / (double)seen);
	}
	leveldb_iter_destroy(it);
	leveldb_readoptions_destroy(ro);
	if (text)
		return ldb_error(err, text, "read", store->db_folder);
	sink->put_u64(sink->ctx, "nodes.count", count, "count", more ? BK_SINK_ESTIMATE : 0);
	return BK_OK;
}

static bk_status put_size(const struct bk_store *store, const struct bk_sink *sink,
			  struct bk_error *err)
{
	uint64_t files[LDB_LEVELS] = {0}, bytes[LDB_LEVELS] = {0};
	char *memory;

	ldb_put_files(store, sink);
	read_levels(store, files, bytes);
	ldb_put_levels(sink, files, bytes);
	put_ranges(store, sink);
	memory = leveldb_property_value(store->db, "leveldb.approximate-memory-usage");
	if (memory)
		sink->put_u64(sink->ctx, "memory.bytes", strtoull(memory, NULL, 10), "bytes",
			      BK_SINK_ESTIMATE);
	leveldb_free(memory);
	sink->put_u64(sink->ctx, "memory.absent_filter.bytes", ldb_absent_bytes(&store->absent),
		      "bytes", 0);
	return put_count(store, sink, err);
}

/* "leveldb.stats": three lines of heading, then a line a level: files, MB, s, MB in, MB out. */
static void put_counters(const struct bk_store *store, const struct bk_sink *sink)
{
	char *text = leveldb_property_value(store->db, "leveldb.stats");
	char *line = text, *next, name[8];

	for (; line && *line; line = next) {
		double size, seconds, in, out;
		int level, files;

		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (sscanf(line, "%d %d %lf %lf %lf %lf", &level, &files, &size, &seconds, &in,
			   &out) != 6)
			continue;
		snprintf(name, sizeof(name), "%d", level);
		sink->begin(sink->ctx, "compaction", name);
		sink->put_f64(sink->ctx, "time", seconds * 1e9, "ns", 0);
		sink->put_f64(sink->ctx, "read.bytes", in * 1048576.0, "bytes", BK_SINK_ESTIMATE);
		sink->put_f64(sink->ctx, "written.bytes", out * 1048576.0, "bytes",
			      BK_SINK_ESTIMATE);
		sink->end(sink->ctx);
	}
	leveldb_free(text);
}

bk_status ldb_store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			    struct bk_error *err)
{
	bk_status status = BK_OK;

	if (what & BK_INSPECT_IDENTITY)
		put_identity(store, sink);
	if (!ldb_db_is_open(store))
		return ldb_inspect_offline(store, what, sink, err);
	if (what & BK_INSPECT_IDENTITY)
		sink->put_str(sink->ctx, "read", "from the open database");
	if (what & BK_INSPECT_SIZE)
		status = put_size(store, sink, err);
	if (status == BK_OK && (what & BK_INSPECT_COUNTERS))
		put_counters(store, sink);
	return status;
}
