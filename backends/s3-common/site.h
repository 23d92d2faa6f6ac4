/*
 * site.h - the options that both S3 backends have, and where they lead.
 *
 * The one invariant: immutable after store.open; sessions read it from their threads.
 */
#ifndef BK_S3_SITE_H
#define BK_S3_SITE_H

#include "endpoint.h"

struct s3_access { /* a member of each backend's options */
	const char *endpoint, *bucket, *prefix, *access_key, *secret_key, *bin_dir;
	uint32_t addressing; /* enum s3_addressing */
	uint32_t durability; /* BK_DURABLE_*, as declared */
	uint64_t timeout_us, retries;
};

enum s3_addressing { S3_PATH_STYLE, S3_VIRTUAL_HOST };

extern const char *const s3_durability_names[];
extern const char *const s3_addressing_names[];

/* The entries of the option table; `slow` ends the help of the time-out. */
#define S3_OPTIONS(type, member, schemes, slow)                                                    \
	BK_OPTION_STR(type, member.endpoint, "endpoint", NULL,                                     \
		      "the server: " schemes "://HOST[:PORT][/BUCKET[/PREFIX]]",                   \
		      .env = "AWS_ENDPOINT_URL", .flags = BK_OPTF_URL),                            \
		BK_OPTION_STR(type, member.bucket, "bucket", NULL,                                 \
			      "bucket; created when it is missing (default: that of the "          \
			      "endpoint, else 'bakeoff')",                                         \
			      .env = "BAKEOFF_S3_BUCKET"),                                         \
		BK_OPTION_STR(type, member.prefix, "prefix", NULL,                                 \
			      "key prefix to live under; a '/' is added at its end"),              \
		BK_OPTION_STR(type, member.access_key, "access-key", NULL, "access key id",        \
			      .env = "AWS_ACCESS_KEY_ID", .flags = BK_OPTF_SECRET),                \
		BK_OPTION_STR(type, member.secret_key, "secret-key", NULL, "secret access key",    \
			      .env = "AWS_SECRET_ACCESS_KEY", .flags = BK_OPTF_SECRET),            \
		BK_OPTION_ENUM(type, member.addressing, "addressing", "path", s3_addressing_names, \
			       "where the bucket is named: in the path or in the host name"),      \
		BK_OPTION_ENUM(type, member.durability, "durability", "none", s3_durability_names, \
			       "what the server promises once it has acknowledged: S3 cannot be "  \
			       "asked, so you declare it",                                         \
			       .env = "BAKEOFF_S3_DURABILITY", .flags = BK_OPTF_DURABILITY),       \
		BK_OPTION_USEC(type, member.timeout_us, "timeout", "30s",                          \
			       "how long a request may stand still" slow, .min = 100000,           \
			       .max = INT64_C(3600000000)),                                        \
		BK_OPTION_U64(type, member.retries, "retries", "3",                                \
			      "tries more, after a busy server or a lost connection; counted and " \
			      "reported",                                                          \
			      .min = 0, .max = 100),                                               \
		BK_OPTION_STR(type, member.bin_dir, "bin-dir", NULL,                               \
			      "folder of ceph-mon, ceph-osd and radosgw for a private server")

struct s3_site {
	const char *backend; /* begins error texts; second line of the mark */
	const struct s3_access *access;
	struct s3_endpoint at;
	char *mark;          /* the owner mark */
	uint32_t durability; /* asked for, and declared */
};

/* INVALID or UNSUPPORTED with what to do, where the options do not make sense. */
bk_status s3_site_init(struct s3_site *out, const char *backend, const struct s3_access *access,
		       const struct bk_store_config *config, struct bk_error *err);
void s3_site_free(struct s3_site *site);

/* INVALID unless `text` can stand in a header: no blank, no byte that is no ASCII.  NULL is fine.
 */
bk_status s3_site_word(const struct s3_site *site, const char *what, const char *text,
		       struct bk_error *err);
/* May a session ask for this? */
bk_status s3_site_session(const struct s3_site *site, uint32_t durability, struct bk_error *err);
void s3_site_limits(struct bk_limits *limits, size_t key_max, uint64_t binary_max);
/* What inspect says without asking the server. */
void s3_site_tell(const struct s3_site *site, const struct bk_sink *sink);

bk_status s3_no_memory(const struct s3_site *site, struct bk_error *err);

#endif
