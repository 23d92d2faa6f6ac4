/*
 * config.c - see config.h: the option table, and what follows from it.
 */
#include "config.h"

static const char *const cfg_create[] = {"auto", "yes", "no", NULL};
static const char *const cfg_signing[] = {"auto", "yes", "no", NULL};

#define CFG_HOUR INT64_C(3600000000)

const struct bk_option s3_option_table[] = {
	S3_OPTIONS(struct s3_options, access, "http(s)", ""),
	BK_OPTION_STR(struct s3_options, region, "region", "us-east-1",
		      "region that requests are signed for and a bucket is created in",
		      .env = "AWS_REGION"),
	BK_OPTION_STR(struct s3_options, session_token, "session-token", NULL,
		      "token of temporary keys", .env = "AWS_SESSION_TOKEN",
		      .flags = BK_OPTF_SECRET),
	BK_OPTION_STR(struct s3_options, ca_file, "ca-file", NULL,
		      "PEM file with the certificates to trust instead of the system's",
		      .env = "AWS_CA_BUNDLE"),
	BK_OPTION_ENUM(struct s3_options, payload_signing, "payload-signing", "auto", cfg_signing,
		       "sign a hash of what is uploaded; auto: over http, not over https"),
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
	BK_OPTION_USEC(struct s3_options, connect_timeout_us, "connect-timeout", "5s",
		       "how long a connection may take to come about", .min = 100000,
		       .max = CFG_HOUR),
	BK_OPTION_U64(struct s3_options, page, "page", "1000", "keys a page of a listing", .min = 1,
		      .max = 1000),
	BK_OPTION_END,
};

bk_status s3_config_init(struct s3_config *out, const struct s3_options *options,
			 const struct bk_store_config *config, struct bk_error *err)
{
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->options = options;
	st = s3_site_init(&out->site, "s3", &options->access, config, err);
	if (st == BK_OK && (!options->region || !options->region[0]))
		st = bk_fail(err, BK_INVALID, 0, "s3: the region is empty");
	if (st == BK_OK)
		st = s3_site_word(&out->site, "region", options->region, err);
	if (st == BK_OK)
		st = s3_site_word(&out->site, "session token", options->session_token, err);
	if (st != BK_OK)
		return st;
	out->sign_payload = options->payload_signing == S3_SIGN_YES ||
			    (options->payload_signing == S3_SIGN_AUTO && !out->site.at.tls);
	return BK_OK;
}

void s3_config_free(struct s3_config *config)
{
	s3_site_free(&config->site);
	memset(config, 0, sizeof(*config));
}

void s3_hide_secrets(char *text, const struct s3_options *options)
{
	const char *const secrets[] = {options->access.secret_key, options->session_token,
				       options->access.access_key};

	s3_hide(text, secrets, 3);
}
