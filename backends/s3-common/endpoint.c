/*
 * endpoint.c - see endpoint.h.
 */
#include "endpoint.h"

static bool end_given(const char *text)
{
	return text && text[0];
}

/* "[prefix/]": with a slash at its end unless it is empty. */
static char *end_root(const char *prefix)
{
	size_t len = strlen(prefix);
	struct s3_buf root = {0};

	s3_buf_put(&root, prefix, len);
	if (len && prefix[len - 1] != '/')
		s3_buf_puts(&root, "/");
	return root.data;
}

/* Where the path begins; NULL: *err says why not. */
static const char *end_host(struct s3_endpoint *e, const char *backend, const char *url,
			    struct bk_error *err)
{
	const char *p, *port;
	size_t len, port_len;

	if (!end_given(url)) {
		bk_fail(err, BK_INVALID, 0,
			"%s: no server is named; set endpoint=http://HOST:PORT or the variable "
			"AWS_ENDPOINT_URL (for AWS: https://s3.REGION.amazonaws.com)",
			backend);
		return NULL;
	}
	e->tls = strncmp(url, "https://", 8) == 0;
	if (!e->tls && strncmp(url, "http://", 7) != 0) {
		bk_fail(err, BK_INVALID, 0, "%s: the endpoint must begin with http:// or https://",
			backend);
		return NULL;
	}
	p = url + (e->tls ? 8 : 7);
	len = strcspn(p, "/?#");
	/* anywhere: a secret may hold a slash, and what follows would then be quoted as a bucket */
	if (strchr(p, '@')) {
		bk_fail(err, BK_INVALID, 0,
			"%s: the endpoint carries a user; keys go into access-key and secret-key, "
			"or into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
			backend);
		return NULL;
	}
	if (len == 0 || strcspn(p, " \t\"<>\\^`{|}%") < len || strpbrk(p + len, "?#%")) {
		bk_fail(err, BK_INVALID, 0,
			"%s: the endpoint is not http(s)://HOST[:PORT][/BUCKET[/PREFIX]]", backend);
		return NULL;
	}
	port = e->tls ? ":443" : ":80"; /* the scheme's own is not sent */
	port_len = strlen(port);
	if (len > port_len && memcmp(p + len - port_len, port, port_len) == 0)
		e->host = strndup(p, len - port_len);
	else
		e->host = strndup(p, len);
	return p + len;
}

/* What every server takes for a name, so that none needs quoting. */
static bk_status end_check(const struct s3_endpoint *e, const char *backend, struct bk_error *err)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len = strlen(e->bucket);

	if (len < 3 || len > 63 || e->bucket[strspn(e->bucket, fine)])
		return bk_fail(err, BK_INVALID, 0,
			       "%s: the bucket name '%s' is not 3 to 63 of [a-z0-9.-]", backend,
			       e->bucket);
	if (strlen(e->root) > 600)
		return bk_fail(err, BK_INVALID, 0, "%s: the prefix is longer than 600 bytes",
			       backend);
	return BK_OK;
}

bk_status s3_endpoint_parse(struct s3_endpoint *out, const char *backend, const char *url,
			    const char *bucket, const char *prefix, const char *space,
			    struct bk_error *err)
{
	const char *path = end_host(out, backend, url, err);
	struct s3_buf full = {0};
	size_t len;

	if (!path)
		return err->status;
	while (*path == '/')
		path++;
	len = strcspn(path, "/");
	if (end_given(bucket))
		out->bucket = strdup(bucket);
	else
		out->bucket = len ? strndup(path, len) : strdup("bakeoff");
	if (!end_given(prefix))
		prefix = path[len] == '/' ? path + len + 1 : "";
	out->root = end_root(prefix);
	s3_buf_putf(&full, "%s%s/", out->root ? out->root : "", space);
	out->space = full.data;
	if (!out->host || !out->bucket || !out->root || full.failed)
		return bk_fail(err, BK_NOMEM, 0, "%s: out of memory", backend);
	return end_check(out, backend, err);
}

void s3_endpoint_free(struct s3_endpoint *endpoint)
{
	free(endpoint->host);
	free(endpoint->bucket);
	free(endpoint->root);
	free(endpoint->space);
	memset(endpoint, 0, sizeof(*endpoint));
}

void s3_hide(char *text, const char *const *secrets, size_t n)
{
	size_t i, len;
	char *p;

	for (i = 0; i < n; i++) {
		len = secrets[i] ? strlen(secrets[i]) : 0;
		if (len < 4) /* would make holes in any text */
			continue;
		for (p = text; (p = strstr(p, secrets[i])) != NULL; p++) {
			memmove(p + 1, p + len, strlen(p + len) + 1);
			*p = '*';
		}
	}
}
