/*
 * backend.c - the backend's table: name, features, options.
 *
 * Defaults are LevelDB's own, so that an untouched run measures LevelDB as it comes.
 */
#include "ldb.h"

static const char *const compressions[] = {"none", "snappy", NULL}; /* in LevelDB's own numbers */
static const char *const settles[] = {"poll", "compact", NULL};

static const struct bk_option options[] = {
	BK_OPTION_STR(struct ldb_options, path, "path", NULL,
		      "folder that holds the stores; made when it is missing",
		      .flags = BK_OPTF_REQUIRED | BK_OPTF_FOLDER),
	BK_OPTION_BYTES(struct ldb_options, block_cache, "block-cache", "8MiB",
			"bytes of uncompressed blocks kept in memory", .min = 0,
			.max = INT64_C(1) << 40),
	BK_OPTION_BYTES(struct ldb_options, write_buffer, "write-buffer", "4MiB",
			"bytes gathered in memory before a table is written", .min = 65536,
			.max = 1 << 30),
	BK_OPTION_U64(struct ldb_options, bloom_bits, "bloom-bits", "0",
		      "bits a key of a Bloom filter in every table; 0: none", .min = 0, .max = 64),
	BK_OPTION_ENUM(struct ldb_options, compression, "compression", "snappy", compressions,
		       "of blocks on disk"),
	BK_OPTION_U64(struct ldb_options, open_files, "open-files", "1000",
		      "tables kept open; LevelDB maps the first thousand and needs descriptors "
		      "beyond",
		      .min = 74, .max = 50000),
	BK_OPTION_BYTES(struct ldb_options, block_size, "block-size", "4KiB",
			"bytes of a block before compression", .min = 1024, .max = 4 << 20),
	BK_OPTION_BYTES(struct ldb_options, file_size, "file-size", "2MiB",
			"bytes of a table before the next one is begun", .min = 1 << 20,
			.max = 1 << 30),
	BK_OPTION_BYTES(struct ldb_options, absent_filter, "absent-filter", "128MiB",
			"most memory for knowing which ids and paths are new; 0: look them up",
			.min = 0, .max = INT64_C(1) << 32),
	BK_OPTION_BOOL(struct ldb_options, paranoid_checks, "paranoid-checks", "no",
		       "stop at the first damage found in any file"),
	BK_OPTION_BOOL(struct ldb_options, verify_checksums, "verify-checksums", "no",
		       "verify the checksum of every block that is read"),
	BK_OPTION_ENUM(struct ldb_options, settle, "settle", "poll", settles,
		       "after a load: wait until compaction is quiet, or compact everything"),
	BK_OPTION_END,
};

const struct bk_node_ops ldb_node_ops = {
	.struct_size = sizeof(struct bk_node_ops),
	.get = ldb_node_get,
	.get_many = ldb_node_get_many,
	.find = ldb_node_find,
	.put = ldb_node_put,
	.put_many = ldb_node_put_many,
	.append = ldb_node_append,
	.remove = ldb_node_remove,
	.walk_open = ldb_walk_open,
	.walk_next = ldb_walk_next,
	.walk_close = ldb_walk_close,
};

static const struct bk_backend backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = "leveldb",
	.version = "0.1.0",
	.summary = "nodes in LevelDB, an ordered key-value store in this process",
	.native = LDB_NATIVE,
	.emulated = LDB_EMULATED,
	.options = options,
	.options_size = sizeof(struct ldb_options),
	.store = &ldb_store_ops,
	.session = &ldb_session_ops,
	.txn = &ldb_txn_ops,
	.node = &ldb_node_ops,
};

BK_EXPORT const struct bk_backend *bk_backend(void);

BK_EXPORT const struct bk_backend *bk_backend(void)
{
	return &backend;
}
