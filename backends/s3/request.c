/*
 * request.c - a request in writing: its URL and its signed headers.
 *
 * The one invariant: what is signed is byte for byte what is sent.
 */
#include "http.h"

#include <time.h>

static int req_by_name(const void *a, const void *b)
{
	return strcmp(((const struct s3_param *)a)->name, ((const struct s3_param *)b)->name);
}

static void req_query(struct s3_buf *out, const struct s3_request *request)
{
	struct s3_param sorted[S3_QUERY_MAX];
	size_t n = 0, i;

	while (n < S3_QUERY_MAX && request->query[n].name)
		n++;
	memcpy(sorted, request->query, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), req_by_name);
	for (i = 0; i < n; i++) {
		s3_buf_puts(out, i ? "&" : "");
		s3_buf_put_encoded(out, bk_slice_str(sorted[i].name), false);
		s3_buf_puts(out, "=");
		if (sorted[i].value)
			s3_buf_put_encoded(out, bk_slice_str(sorted[i].value), false);
	}
}

/* The parts of the URL within t->url. */
struct req_target {
	size_t host, path, query; /* where they begin; query == len: none */
};

static void req_url(struct req_target *at, struct s3_transfer *t, const struct s3_request *request)
{
	const struct s3_config *c = t->link->config;
	bool in_host = request->bucket && c->site.access->addressing == S3_VIRTUAL_HOST;
	struct s3_buf *url = &t->url;

	s3_buf_reset(url);
	s3_buf_puts(url, c->site.at.tls ? "https://" : "http://");
	at->host = url->len;
	if (in_host)
		s3_buf_putf(url, "%s.", request->bucket);
	s3_buf_puts(url, c->site.at.host);
	at->path = url->len;
	s3_buf_puts(url, "/");
	if (request->bucket && !in_host) {
		s3_buf_put_encoded(url, bk_slice_str(request->bucket), false);
		if (request->key.len)
			s3_buf_puts(url, "/");
	}
	s3_buf_put_encoded(url, request->key, true);
	at->query = url->len;
	if (request->query[0].name) {
		s3_buf_puts(url, "?");
		req_query(url, request);
	}
}

static bool req_add_line(struct s3_transfer *t, const char *name, const char *value)
{
	struct s3_buf *line = &t->link->signer.text;
	struct curl_slist *more;

	s3_buf_reset(line);
	s3_buf_putf(line, "%s: %s", name, value);
	more = line->failed ? NULL : curl_slist_append(t->lines, line->data);
	if (more)
		t->lines = more;
	return more != NULL;
}

static bool req_sign(struct s3_transfer *t, const struct s3_request *request,
		     const struct req_target *at)
{
	const struct s3_config *c = t->link->config;
	struct s3_header headers[S3_HEADERS_MAX + 4];
	char hash[S3_HASH_HEX], date[20], host[400];
	struct s3_buf path = {0};
	size_t n = 0, i;
	time_t now = time(NULL);
	struct tm tm;
	bool ok;

	gmtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(host, sizeof(host), "%.*s", (int)(at->path - at->host), t->url.data + at->host);
	if ((request->flags & S3_PAYLOAD) && !c->sign_payload)
		memcpy(hash, S3_UNSIGNED, sizeof(S3_UNSIGNED));
	else if (request->body_len)
		s3_sha256_hex(hash, &t->link->signer, request->body, request->body_len);
	else
		memcpy(hash, s3_hash_of_nothing, S3_HASH_HEX);
	for (i = 0; i < S3_HEADERS_MAX && request->headers[i].name; i++)
		headers[n++] =
			(struct s3_header){request->headers[i].name, request->headers[i].value};
	headers[n++] = (struct s3_header){"host", host};
	headers[n++] = (struct s3_header){"x-amz-content-sha256", hash};
	headers[n++] = (struct s3_header){"x-amz-date", date};
	if (c->options->session_token && c->options->session_token[0])
		headers[n++] =
			(struct s3_header){"x-amz-security-token", c->options->session_token};
	s3_buf_put(&path, t->url.data + at->path, at->query - at->path);
	s3_buf_reset(&t->authorization);
	s3_sign(&t->authorization, &t->link->signer, request->method, s3_buf_str(&path),
		at->query < t->url.len ? t->url.data + at->query + 1 : "", headers, n, hash, date);
	ok = !path.failed && !t->authorization.failed;
	for (i = 0; i < n; i++)
		ok = ok && req_add_line(t, headers[i].name, headers[i].value);
	ok = ok && req_add_line(t, "Authorization", s3_buf_str(&t->authorization));
	ok = ok && req_add_line(t, "Expect", ""); /* no question before the body: one way less */
	s3_buf_free(&path);
	return ok;
}

bool s3_request_write(struct s3_transfer *t, const struct s3_request *request)
{
	struct req_target at;

	curl_slist_free_all(t->lines);
	t->lines = NULL;
	req_url(&at, t, request);
	return !t->url.failed && req_sign(t, request, &at);
}
