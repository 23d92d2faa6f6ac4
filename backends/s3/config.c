/*
 * config.c - see config.h: the option table, and the endpoint taken apart.
 */
#include "config.h"

const char *const s3_durability_names[] = {"none", "process", "machine", NULL};
static const char *const cfg_addressing[] = {"path", "virtual-host", NULL};
static const char *const cfg_create[] = {"auto", "yes", "no", NULL};
static const char *const cfg_signing[] = {"auto", "yes", "no", NULL};

#define CFG_HOUR INT64_C(3600000000)

const struct bk_option s3_option_table[] = {
	BK_OPTION_STR(struct s3_options, endpoint, "endpoint", NULL,
		      "the server: http(s)://HOST[:PORT][/BUCKET[/PREFIX]]",
		      .env = "AWS_ENDPOINT_URL", .flags = BK_OPTF_URL),
	BK_OPTION_STR(struct s3_options, region, "region", "us-east-1",
		      "region that requests are signed for and a bucket is created in",
		      .env = "AWS_REGION"),
	BK_OPTION_STR(struct s3_options, bucket, "bucket", NULL,
		      "bucket; created when it is missing (default: that of the endpoint, else "
		      "'bakeoff')",
		      .env = "BAKEOFF_S3_BUCKET"),
	BK_OPTION_STR(struct s3_options, prefix, "prefix", NULL,
		      "key prefix to live under; a '/' is added at its end"),
	BK_OPTION_STR(struct s3_options, access_key, "access-key", NULL, "access key id",
		      .env = "AWS_ACCESS_KEY_ID", .flags = BK_OPTF_SECRET),
	BK_OPTION_STR(struct s3_options, secret_key, "secret-key", NULL, "secret access key",
		      .env = "AWS_SECRET_ACCESS_KEY", .flags = BK_OPTF_SECRET),
	BK_OPTION_STR(struct s3_options, session_token, "session-token", NULL,
		      "token of temporary keys", .env = "AWS_SESSION_TOKEN",
		      .flags = BK_OPTF_SECRET),
	BK_OPTION_STR(struct s3_options, ca_file, "ca-file", NULL,
		      "PEM file with the certificates to trust instead of the system's",
		      .env = "AWS_CA_BUNDLE"),
	BK_OPTION_ENUM(struct s3_options, addressing, "addressing", "path", cfg_addressing,
		       "where the bucket is named: in the path or in the host name"),
	BK_OPTION_ENUM(struct s3_options, payload_signing, "payload-signing", "auto", cfg_signing,
		       "sign a hash of what is uploaded; auto: over http, not over https"),
	BK_OPTION_ENUM(struct s3_options, durability, "durability", "none", s3_durability_names,
		       "what the server promises once it has acknowledged: S3 cannot be asked, so "
		       "you declare it",
		       .env = "BAKEOFF_S3_DURABILITY", .flags = BK_OPTF_DURABILITY),
	BK_OPTION_ENUM(struct s3_options, conditional_create, "conditional-create", "auto",
		       cfg_create,
		       "create-if-absent by If-None-Match; auto: where the server is known to mind "
		       "it"),
	BK_OPTION_BOOL(struct s3_options, verify, "verify", "no",
		       "compare the MD5 of what is sent and received with the server's ETag"),
	BK_OPTION_BYTES(
		struct s3_options, threshold_bytes, "multipart-threshold", "16MiB",
		"binaries above it are uploaded in parts; held in memory up to it, in bytes",
		.min = 0, .max = INT64_C(5) << 30),
	BK_OPTION_BYTES(struct s3_options, part_bytes, "part-size", "16MiB",
			"bytes a part; more where 10000 of them would not do", .min = 5 << 20,
			.max = INT64_C(5) << 30),
	BK_OPTION_U64(struct s3_options, part_concurrency, "part-concurrency", "1",
		      "parts of one binary on their way at once, each with its own connection and "
		      "memory",
		      .min = 1, .max = S3_CONCURRENCY),
	BK_OPTION_USEC(struct s3_options, timeout_us, "timeout", "30s",
		       "how long a request may stand still", .min = 100000, .max = CFG_HOUR),
	BK_OPTION_USEC(struct s3_options, connect_timeout_us, "connect-timeout", "5s",
		       "how long a connection may take to come about", .min = 100000,
		       .max = CFG_HOUR),
	BK_OPTION_U64(struct s3_options, retries, "retries", "3",
		      "tries more, after 503, 500 or a lost connection; counted and reported",
		      .min = 0, .max = 100),
	BK_OPTION_U64(struct s3_options, page, "page", "1000", "keys a page of a listing", .min = 1,
		      .max = 1000),
	BK_OPTION_STR(struct s3_options, bin_dir, "bin-dir", NULL,
		      "folder of ceph-mon, ceph-osd and radosgw for a private server"),
	BK_OPTION_END,
};

static bool cfg_given(const char *text)
{
	return text && text[0];
}

static bk_status cfg_keys(const struct s3_options *o, struct bk_error *err)
{
	const char *const texts[] = {o->access_key, o->secret_key, o->session_token, o->region};
	size_t i;
	const char *p;

	if (!cfg_given(o->access_key) || !cfg_given(o->secret_key))
		return bk_fail(err, BK_INVALID, 0,
			       "s3: no keys; set access-key and secret-key, or the variables "
			       "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
	if (!cfg_given(o->region))
		return bk_fail(err, BK_INVALID, 0, "s3: the region is empty");
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (p = texts[i]; p && *p; p++) {
			if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
				return bk_fail(err, BK_INVALID, 0,
					       "s3: the %s holds a blank or a byte that is no "
					       "ASCII",
					       i == 3 ? "region" : "key or token");
		}
	}
	return BK_OK;
}

bk_status s3_config_init(struct s3_config *out, const struct s3_options *options, const char *space,
			 const char *mark, uint32_t durability, struct bk_error *err)
{
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->options = options;
	out->durability = durability;
	if (durability > options->durability)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "s3: durability '%s' is asked for and '%s' declared; S3 cannot be "
			       "asked what it promises: when the server's documentation says so, "
			       "set durability=%s",
			       s3_durability_names[durability <= 2 ? durability : 2],
			       s3_durability_names[options->durability],
			       s3_durability_names[durability <= 2 ? durability : 2]);
	st = s3_endpoint_parse(&out->at, "s3", options->endpoint, options->bucket, options->prefix,
			       space, err);
	if (st == BK_OK)
		st = cfg_keys(options, err);
	if (st != BK_OK)
		return st;
	out->mark = strdup(mark);
	if (!out->mark)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	out->sign_payload = options->payload_signing == S3_SIGN_YES ||
			    (options->payload_signing == S3_SIGN_AUTO && !out->at.tls);
	return BK_OK;
}

void s3_config_free(struct s3_config *config)
{
	s3_endpoint_free(&config->at);
	free(config->mark);
	memset(config, 0, sizeof(*config));
}

void s3_hide_secrets(char *text, const struct s3_options *options)
{
	const char *const secrets[] = {options->secret_key, options->session_token,
				       options->access_key};

	s3_hide(text, secrets, 3);
}
