/*
 * answer.c - what libcurl receives, taken in: the status, the headers that matter, the body.
 *
 * The one invariant: the body of a 200 or 206 goes to the sink where there is one; everything else
 * is held, up to a limit.
 */
#include "http.h"

#include <strings.h>

static size_t ans_take(char *data, size_t size, size_t n, void *ctx)
{
	struct s3_transfer *t = ctx;
	size_t len = size * n, took;

	t->moved_ns = s3_now_ns();
	if (t->sink && (t->answer.status == 200 || t->answer.status == 206)) {
		took = t->sink(t->sink_ctx, data, len);
		if (took == S3_PAUSE) {
			t->paused = true;
			return CURL_WRITEFUNC_PAUSE;
		}
		return took;
	}
	if (t->answer.body.len + len > S3_ANSWER_MAX)
		return 0;
	s3_buf_put(&t->answer.body, data, len);
	return t->answer.body.failed ? 0 : len;
}

static bool ans_is(const char *line, size_t len, const char *name, const char **value,
		   size_t *value_len)
{
	size_t n = strlen(name);

	if (len <= n || line[n] != ':' || strncasecmp(line, name, n) != 0)
		return false;
	for (n++; n < len && (line[n] == ' ' || line[n] == '\t'); n++)
		;
	while (len > n && (unsigned char)line[len - 1] <= ' ')
		len--;
	*value = line + n;
	*value_len = len - n;
	return true;
}

static void ans_copy(char *out, size_t cap, const char *value, size_t len)
{
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
		value++;
		len -= 2;
	}
	len = len < cap - 1 ? len : cap - 1;
	memcpy(out, value, len);
	out[len] = '\0';
}

static void ans_number(uint64_t *out, const char *value, size_t len)
{
	char text[32], *end;

	ans_copy(text, sizeof(text), value, len);
	if (text[0] >= '0' && text[0] <= '9') {
		uint64_t n = strtoull(text, &end, 10);

		if (*end == '\0')
			*out = n;
	}
}

/* "bytes FROM-TO/TOTAL" */
static void ans_range(struct s3_answer *a, const char *value, size_t len)
{
	const char *slash = memchr(value, '/', len), *dash = memchr(value, '-', len);

	if (dash && len > 6 && strncasecmp(value, "bytes ", 6) == 0)
		ans_number(&a->from, value + 6, (size_t)(dash - value - 6));
	if (slash)
		ans_number(&a->total, slash + 1, (size_t)(value + len - slash - 1));
}

static void ans_header(struct s3_transfer *t, const char *line, size_t len)
{
	struct s3_answer *a = &t->answer;
	const char *v;
	size_t n;

	if (ans_is(line, len, "content-length", &v, &n))
		ans_number(&a->length, v, n);
	else if (ans_is(line, len, "content-range", &v, &n))
		ans_range(a, v, n);
	else if (ans_is(line, len, "etag", &v, &n)) {
		ans_copy(a->etag, sizeof(a->etag), v, n);
		a->etag_bare = n > 0 && v[0] != '"';
	} else if (ans_is(line, len, "server", &v, &n))
		ans_copy(a->server, sizeof(a->server), v, n);
	else if (ans_is(line, len, "x-amz-request-id", &v, &n))
		ans_copy(a->request_id, sizeof(a->request_id), v, n);
	else if (ans_is(line, len, "location", &v, &n))
		ans_copy(a->location, sizeof(a->location), v, n);
	else if (ans_is(line, len, "x-amz-bucket-region", &v, &n))
		ans_copy(a->region, sizeof(a->region), v, n);
	else if (ans_is(line, len, "connection", &v, &n))
		t->closes = n == 5 && strncasecmp(v, "close", 5) == 0;
	else if (len > 6 && strncasecmp(line, "x-rgw-", 6) == 0)
		a->ceph = true;
}

static size_t ans_line(char *line, size_t size, size_t n, void *ctx)
{
	struct s3_transfer *t = ctx;
	size_t len = size * n;
	const char *status;

	t->moved_ns = s3_now_ns();
	if (len > 12 && memcmp(line, "HTTP/", 5) == 0) {
		status = memchr(line, ' ', len);
		t->answer.status = status ? strtol(status + 1, NULL, 10) : 0;
		return len;
	}
	if (len <= 2 && (line[0] == '\r' || line[0] == '\n')) {
		t->head = t->answer.status >= 200; /* 1xx: the real head follows */
		return len;
	}
	ans_header(t, line, len);
	return len;
}

void s3_answer_listen(struct s3_transfer *t)
{
	curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, ans_line);
	curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, ans_take);
	curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
}

void s3_answer_reset(struct s3_answer *a)
{
	struct s3_buf body = a->body;

	s3_buf_reset(&body);
	memset(a, 0, sizeof(*a));
	a->body = body;
	a->length = a->from = a->total = UINT64_MAX;
}
