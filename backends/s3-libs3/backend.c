/*
 * backend.c - the descriptor and the options.
 */
#include "l3.h"

#include "s3-common/service.h"

const char *const l3_durability_names[] = {"none", "process", "machine", NULL};
static const char *const l3_addressing[] = {"path", "virtual-host", NULL};
static const char *const l3_schemes[] = {"http", "https", NULL};

const struct bk_option l3_option_table[] = {
	BK_OPTION_STR(struct l3_options, endpoint, "endpoint", NULL,
		      "the server: http://HOST[:PORT][/BUCKET[/PREFIX]]", .env = "AWS_ENDPOINT_URL",
		      .flags = BK_OPTF_URL),
	BK_OPTION_STR(struct l3_options, bucket, "bucket", NULL,
		      "bucket; created when it is missing (default: that of the endpoint, else "
		      "'bakeoff')",
		      .env = "BAKEOFF_S3_BUCKET"),
	BK_OPTION_STR(struct l3_options, prefix, "prefix", NULL,
		      "key prefix to live under; a '/' is added at its end"),
	BK_OPTION_STR(struct l3_options, access_key, "access-key", NULL, "access key id",
		      .env = "AWS_ACCESS_KEY_ID", .flags = BK_OPTF_SECRET),
	BK_OPTION_STR(struct l3_options, secret_key, "secret-key", NULL, "secret access key",
		      .env = "AWS_SECRET_ACCESS_KEY", .flags = BK_OPTF_SECRET),
	BK_OPTION_ENUM(struct l3_options, addressing, "addressing", "path", l3_addressing,
		       "where the bucket is named: in the path or in the host name"),
	BK_OPTION_BOOL(struct l3_options, insecure_tls, "insecure-tls", "no",
		       "take https although libs3 2.0 checks no certificate"),
	BK_OPTION_ENUM(struct l3_options, durability, "durability", "none", l3_durability_names,
		       "what the server promises once it has acknowledged: S3 cannot be asked, so "
		       "you declare it",
		       .env = "BAKEOFF_S3_DURABILITY", .flags = BK_OPTF_DURABILITY),
	BK_OPTION_USEC(struct l3_options, timeout_us, "timeout", "30s",
		       "how long a request may stand still; libs3 itself gives up after 15s below "
		       "1 kB/s",
		       .min = 100000, .max = INT64_C(3600000000)),
	BK_OPTION_U64(struct l3_options, retries, "retries", "3",
		      "tries more, after a busy server or a lost connection; counted and reported",
		      .min = 0, .max = 100),
	BK_OPTION_STR(struct l3_options, bin_dir, "bin-dir", NULL,
		      "folder of ceph-mon, ceph-osd and radosgw for a private server"),
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
