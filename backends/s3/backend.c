/*
 * backend.c - the descriptor.
 */
#include "s3-common/service.h"
#include "s3.h"

static const char *const schemes[] = {"http", "https", NULL};

const struct bk_backend s3_backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = "s3",
	.version = "0.1.0",
	.summary = "binaries as objects of an S3 bucket: libcurl, Signature Version 4",
	.native = BK_F_BINARIES | BK_F_BINARY_STREAM | BK_F_BINARY_RANGE | BK_F_BINARY_CREATE |
		  BK_F_CANCEL | BK_F_TIMEOUT | BK_F_PLACES,
	.options = s3_option_table,
	.options_size = sizeof(struct s3_options),
	.store = &s3_store_ops,
	.session = &s3_session_ops,
	.binary = &s3_binary_ops,
	.place = &s3_place_ops,
	.service = &s3_service,
	.schemes = schemes,
};

BK_EXPORT const struct bk_backend *bk_backend(void);
BK_EXPORT const struct bk_backend *bk_backend(void)
{
	return &s3_backend;
}
