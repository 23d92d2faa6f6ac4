/*
 * backend.c - the descriptor and the options.
 */
#include "l3.h"

#include "s3-common/service.h"

static const char *const l3_schemes[] = {"http", "https", NULL};

const struct bk_option l3_option_table[] = {
	S3_OPTIONS(struct l3_options, access, "http",
		   "; libs3 itself gives up after 15s below 1 kB/s"),
	BK_OPTION_BOOL(struct l3_options, insecure_tls, "insecure-tls", "no",
		       "take https although libs3 2.0 checks no certificate"),
	BK_OPTION_END,
};

const struct bk_backend l3_backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = L3_NAME,
	.version = "0.1.0",
	.summary = "binaries as objects of an S3 bucket: libs3 2.0, Signature Version 2",
	.native = BK_F_BINARIES | BK_F_BINARY_RANGE | BK_F_CANCEL | BK_F_TIMEOUT,
	.options = l3_option_table,
	.options_size = sizeof(struct l3_options),
	.store = &l3_store_ops,
	.session = &l3_session_ops,
	.binary = &l3_binary_ops,
	.service = &s3_service,
	.schemes = l3_schemes,
};

BK_EXPORT const struct bk_backend *bk_backend(void);
BK_EXPORT const struct bk_backend *bk_backend(void)
{
	return &l3_backend;
}
