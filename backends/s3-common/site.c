/*
 * site.c - see site.h.
 */
#include "site.h"

const char *const s3_durability_names[] = {"none", "process", "machine", NULL};
const char *const s3_addressing_names[] = {"path", "virtual-host", NULL};

static bool site_given(const char *text)
{
	return text && text[0];
}

bk_status s3_no_memory(const struct s3_site *site, struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "%s: out of memory", site->backend);
}

bk_status s3_site_word(const struct s3_site *site, const char *what, const char *text,
		       struct bk_error *err)
{
	const char *p;

	for (p = text; p && *p; p++) {
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return bk_fail(err, BK_INVALID, 0,
				       "%s: the %s holds a blank or a byte that is no ASCII",
				       site->backend, what);
	}
	return BK_OK;
}

static bk_status site_keys(const struct s3_site *site, struct bk_error *err)
{
	const struct s3_access *a = site->access;
	bk_status st;

	if (!site_given(a->access_key) || !site_given(a->secret_key))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: no keys; set access-key and secret-key, or the variables "
			       "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
			       site->backend);
	st = s3_site_word(site, "access key", a->access_key, err);
	return st == BK_OK ? s3_site_word(site, "secret key", a->secret_key, err) : st;
}

/* A host name has no '_', and a capital in it is a small letter: another bucket. */
static bk_status site_style(const struct s3_site *site, struct bk_error *err)
{
	const char *bucket = site->at.bucket;

	if (site->access->addressing != S3_VIRTUAL_HOST ||
	    !bucket[strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789.-")])
		return BK_OK;
	return bk_fail(err, BK_INVALID, 0,
		       "%s: the bucket '%s' cannot stand in a host name, which is made of "
		       "[a-z0-9.-]; set addressing=path",
		       site->backend, bucket);
}

bk_status s3_site_init(struct s3_site *out, const char *backend, const struct s3_access *access,
		       const struct bk_store_config *config, struct bk_error *err)
{
	const char *asked = s3_durability_names[config->durability <= 2 ? config->durability : 2];
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->backend = backend;
	out->access = access;
	out->durability = config->durability;
	if (config->durability > access->durability)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "%s: durability '%s' is asked for and '%s' declared; S3 cannot be "
			       "asked what it promises: when the server's documentation says so, "
			       "set durability=%s",
			       backend, asked, s3_durability_names[access->durability], asked);
	st = s3_endpoint_parse(&out->at, backend, access->endpoint, access->bucket, access->prefix,
			       config->space, err);
	if (st == BK_OK)
		st = site_style(out, err);
	if (st == BK_OK)
		st = site_keys(out, err);
	if (st != BK_OK)
		return st;
	out->mark = strdup(config->mark);
	return out->mark ? BK_OK : s3_no_memory(out, err);
}

void s3_site_free(struct s3_site *site)
{
	s3_endpoint_free(&site->at);
	free(site->mark);
	memset(site, 0, sizeof(*site));
}

bk_status s3_site_session(const struct s3_site *site, uint32_t durability, struct bk_error *err)
{
	if (durability <= site->durability)
		return BK_OK;
	return bk_fail(err, BK_INVALID, 0,
		       "%s: a session may ask for durability '%s' at most, as the store did",
		       site->backend, s3_durability_names[site->durability]);
}

void s3_site_limits(struct bk_limits *limits, size_t key_max, uint64_t binary_max)
{
	limits->sessions_max = 0;
	limits->id_max = limits->path_max = limits->rel_max = limits->doc_max = 0;
	limits->key_max = key_max;
	limits->binary_max = binary_max;
}

void s3_site_tell(const struct s3_site *site, const struct bk_sink *sink)
{
	sink->put_str(sink->ctx, "server.endpoint", site->access->endpoint);
	sink->put_str(sink->ctx, "bucket.name", site->at.bucket);
	sink->put_str(sink->ctx, "bucket.prefix", site->at.space);
	sink->put_str(sink->ctx, "transport", site->at.tls ? "https" : "http");
	sink->put_str(sink->ctx, "durability.declared",
		      s3_durability_names[site->access->durability]);
	sink->flag(sink->ctx, "durability-declared",
		   "S3 cannot be asked what it promises: the durability is what you declared");
}
