/*
 * backend.c - what this backend is called, offers and can be told.
 *
 * The one invariant: what a file system cannot do (transactions, atomic batches) is absent here,
 * not imitated.
 */
#include "file.h"

static const struct bk_option file_option_table[] = {
	BK_OPTION_STR(struct file_options, path, "path", NULL,
		      "folder that the store lives in; must be new, empty or bakeoff's own",
		      .flags = BK_OPTF_REQUIRED | BK_OPTF_FOLDER),
	BK_OPTION_U64(struct file_options, node_levels, "node-levels", "1",
		      "folder levels above a node's file, 256 folders each", .min = 1, .max = 3),
	BK_OPTION_U64(struct file_options, binary_levels, "binary-levels", "3",
		      "folder levels above a binary's file, 256 folders each", .min = 1, .max = 4),
	BK_OPTION_BOOL(struct file_options, flush, "flush", "yes",
		       "settle waits until the file system has written everything to disk"),
	BK_OPTION_END,
};

static const struct bk_backend file_backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = "file",
	.version = "0.1.0",
	.summary = "nodes and binaries as files in fanned-out folders",
	.native = FILE_FEATURES,
	.options = file_option_table,
	.options_size = sizeof(struct file_options),
	.store = &file_store_ops,
	.session = &file_session_ops,
	.node = &file_node_ops,
	.binary = &file_binary_ops,
};

BK_EXPORT const struct bk_backend *bk_backend(void);

BK_EXPORT const struct bk_backend *bk_backend(void)
{
	return &file_backend;
}
