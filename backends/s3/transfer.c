/*
 * transfer.c - one request on its way: signed, handed to libcurl, its answer taken in.
 *
 * The one invariant: libcurl is the transport and no more: it follows no redirect, adds no header
 * that changes the meaning, knows no proxy, and its path stays as it was signed.
 */
#include "http.h"

#include <strings.h>
#include <time.h>

#define TRF_BUFFER (128L * 1024)

/* ---- What libcurl calls ------------------------------------------------------------------------
 */

static size_t trf_give(char *to, size_t size, size_t n, void *ctx)
{
	struct s3_transfer *t = ctx;
	size_t room = size * n, left = t->body_len - t->body_at;

	if (left < room)
		room = left;
	memcpy(to, t->body + t->body_at, room);
	t->body_at += room;
	t->moved_ns = s3_now_ns();
	return room;
}

/* On a connection that was used before and breaks without an answer libcurl sends the request once
 * more, unasked and uncounted; a create would then find what it has made itself.  So a body cannot
 * be gone back in, and a second beginning is refused: trying again is for call.c. */
static int trf_seek(void *ctx, curl_off_t offset, int origin)
{
	return CURL_SEEKFUNC_FAIL;
}

#if LIBCURL_VERSION_NUM >= 0x075000
static int trf_begins(void *ctx, char *remote, char *local, int remote_port, int local_port)
{
	struct s3_transfer *t = ctx;

	return t->begun++ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}
#endif

static size_t trf_take(char *data, size_t size, size_t n, void *ctx)
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

static bool trf_is(const char *line, size_t len, const char *name, const char **value,
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

static void trf_copy(char *out, size_t cap, const char *value, size_t len)
{
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
		value++;
		len -= 2;
	}
	len = len < cap - 1 ? len : cap - 1;
	memcpy(out, value, len);
	out[len] = '\0';
}

static void trf_number(uint64_t *out, const char *value, size_t len)
{
	char text[32], *end;

	trf_copy(text, sizeof(text), value, len);
	if (text[0] >= '0' && text[0] <= '9') {
		uint64_t n = strtoull(text, &end, 10);

		if (*end == '\0')
			*out = n;
	}
}

/* "bytes FROM-TO/TOTAL" */
static void trf_range(struct s3_answer *a, const char *value, size_t len)
{
	const char *slash = memchr(value, '/', len), *dash = memchr(value, '-', len);

	if (dash && len > 6 && strncasecmp(value, "bytes ", 6) == 0)
		trf_number(&a->from, value + 6, (size_t)(dash - value - 6));
	if (slash)
		trf_number(&a->total, slash + 1, (size_t)(value + len - slash - 1));
}

static void trf_header(struct s3_transfer *t, const char *line, size_t len)
{
	struct s3_answer *a = &t->answer;
	const char *v;
	size_t n;

	if (trf_is(line, len, "content-length", &v, &n))
		trf_number(&a->length, v, n);
	else if (trf_is(line, len, "content-range", &v, &n))
		trf_range(a, v, n);
	else if (trf_is(line, len, "etag", &v, &n)) {
		trf_copy(a->etag, sizeof(a->etag), v, n);
		a->etag_bare = n > 0 && v[0] != '"';
	} else if (trf_is(line, len, "server", &v, &n))
		trf_copy(a->server, sizeof(a->server), v, n);
	else if (trf_is(line, len, "x-amz-request-id", &v, &n))
		trf_copy(a->request_id, sizeof(a->request_id), v, n);
	else if (trf_is(line, len, "location", &v, &n))
		trf_copy(a->location, sizeof(a->location), v, n);
	else if (trf_is(line, len, "x-amz-bucket-region", &v, &n))
		trf_copy(a->region, sizeof(a->region), v, n);
	else if (trf_is(line, len, "connection", &v, &n))
		t->closes = n == 5 && strncasecmp(v, "close", 5) == 0;
	else if (len > 6 && strncasecmp(line, "x-rgw-", 6) == 0)
		a->ceph = true;
}

static size_t trf_line(char *line, size_t size, size_t n, void *ctx)
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
	trf_header(t, line, len);
	return len;
}

/* ---- The request ------------------------------------------------------------------------------
 */

static int trf_by_name(const void *a, const void *b)
{
	return strcmp(((const struct s3_param *)a)->name, ((const struct s3_param *)b)->name);
}

static void trf_query(struct s3_buf *out, const struct s3_request *request)
{
	struct s3_param sorted[S3_QUERY_MAX];
	size_t n = 0, i;

	while (n < S3_QUERY_MAX && request->query[n].name)
		n++;
	memcpy(sorted, request->query, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), trf_by_name);
	for (i = 0; i < n; i++) {
		s3_buf_puts(out, i ? "&" : "");
		s3_buf_put_encoded(out, bk_slice_str(sorted[i].name), false);
		s3_buf_puts(out, "=");
		if (sorted[i].value)
			s3_buf_put_encoded(out, bk_slice_str(sorted[i].value), false);
	}
}

/* The parts of the URL within t->url. */
struct trf_target {
	size_t host, path, query; /* where they begin; query == len: none */
};

static void trf_url(struct trf_target *at, struct s3_transfer *t, const struct s3_request *request)
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
		trf_query(url, request);
	}
}

static bool trf_add_line(struct s3_transfer *t, const char *name, const char *value)
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

static bool trf_sign(struct s3_transfer *t, const struct s3_request *request,
		     const struct trf_target *at)
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
		ok = ok && trf_add_line(t, headers[i].name, headers[i].value);
	ok = ok && trf_add_line(t, "Authorization", s3_buf_str(&t->authorization));
	ok = ok && trf_add_line(t, "Expect", ""); /* no question before the body: one way less */
	s3_buf_free(&path);
	return ok;
}

/* What is the same for every request on this handle. */
static bool trf_prepare(struct s3_transfer *t)
{
	const struct s3_options *o = t->link->config->options;
	CURL *e;

	if (t->easy)
		return true;
	e = t->easy = curl_easy_init();
	if (!e)
		return false;
	curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_USERAGENT, "bakeoff");
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, TRF_BUFFER);
	curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, TRF_BUFFER);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)(o->connect_timeout_us / 1000 + 1));
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->why);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, trf_line);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, trf_take);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(e, CURLOPT_READFUNCTION, trf_give);
	curl_easy_setopt(e, CURLOPT_READDATA, t);
	curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, trf_seek);
#if LIBCURL_VERSION_NUM >= 0x075000
	curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, trf_begins);
	curl_easy_setopt(e, CURLOPT_PREREQDATA, t);
#endif
	if (o->ca_file && o->ca_file[0]) { /* these, and not the system's folder beside them */
		curl_easy_setopt(e, CURLOPT_CAINFO, o->ca_file);
		curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
	}
	return true;
}

static void trf_method(struct s3_transfer *t, const struct s3_request *request)
{
	bool up = strcmp(request->method, "PUT") == 0 || strcmp(request->method, "POST") == 0;

	curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, NULL);
	curl_easy_setopt(t->easy, CURLOPT_UPLOAD, 0L);
	curl_easy_setopt(t->easy, CURLOPT_NOBODY, 0L);
	if (strcmp(request->method, "HEAD") == 0) {
		curl_easy_setopt(t->easy, CURLOPT_NOBODY, 1L);
		return;
	}
	curl_easy_setopt(t->easy, CURLOPT_HTTPGET, 1L);
	if (up) {
		curl_easy_setopt(t->easy, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(t->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body_len);
	}
	curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static void trf_reset(struct s3_transfer *t, const struct s3_request *request)
{
	struct s3_buf body = t->answer.body;

	s3_buf_reset(&body);
	memset(&t->answer, 0, sizeof(t->answer));
	t->answer.body = body;
	t->answer.length = t->answer.from = t->answer.total = UINT64_MAX;
	t->body = request->body;
	t->body_len = request->body_len;
	t->body_at = 0;
	t->begun = 0;
	t->done = t->head = t->paused = t->closes = false;
	t->result = CURLE_OK;
	t->why[0] = '\0';
	curl_slist_free_all(t->lines);
	t->lines = NULL;
	if (t->sink)
		t->sink(t->sink_ctx, NULL, 0);
}

bk_status s3_transfer_start(struct s3_transfer *t, struct s3_link *link,
			    const struct s3_request *request, struct bk_error *err)
{
	struct trf_target at;

	t->link = link;
	if (!trf_prepare(t))
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	trf_reset(t, request);
	trf_url(&at, t, request);
	if (t->url.failed || !trf_sign(t, request, &at))
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	trf_method(t, request);
	curl_easy_setopt(t->easy, CURLOPT_URL, t->url.data);
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->lines);
	t->moved_ns = s3_now_ns();
	t->reuses = link->idle > 0;
	if (t->reuses)
		link->idle--;
	if (curl_multi_add_handle(link->multi, t->easy) != CURLM_OK)
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	link->pace.requests++;
	t->active = true;
	t->next = link->active;
	link->active = t;
	return BK_OK;
}

/* ---- Its end ----------------------------------------------------------------------------------
 */

static void trf_count(struct s3_transfer *t)
{
	struct s3_counters *c = &t->link->counters;
	curl_off_t up = 0, down = 0, connect_us = 0, tls_us = 0;
	long connects = 0, head = 0, sent = 0;

	curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &up);
	curl_easy_getinfo(t->easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
	curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
	curl_easy_getinfo(t->easy, CURLINFO_HEADER_SIZE, &head);
	curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
	t->link->pace.bytes_sent += (uint64_t)up + (uint64_t)sent;
	t->link->pace.bytes_received += (uint64_t)down + (uint64_t)head;
	if (connects > 0 && (t->reuses || t->link->lost > 0)) {
		c->reconnects += (uint64_t)connects;
		if (!t->reuses)
			t->link->lost--;
	}
	if (connects > 0 && !t->link->connected && t->answer.status) {
		curl_easy_getinfo(t->easy, CURLINFO_CONNECT_TIME_T, &connect_us);
		curl_easy_getinfo(t->easy, CURLINFO_APPCONNECT_TIME_T, &tls_us);
		c->connect_ns = (uint64_t)connect_us * 1000;
		c->tls_ns = tls_us > connect_us ? (uint64_t)(tls_us - connect_us) * 1000 : 0;
		t->link->connected = true;
	}
	if (t->done && t->result == CURLE_OK && !t->closes)
		t->link->idle++;
	else
		t->link->lost++;
}

void s3_transfer_drop(struct s3_transfer *t)
{
	struct s3_transfer **p;

	if (!t->active)
		return;
	trf_count(t);
	curl_multi_remove_handle(t->link->multi, t->easy);
	for (p = &t->link->active; *p && *p != t; p = &(*p)->next)
		;
	if (*p)
		*p = t->next;
	t->active = false;
}

void s3_transfer_resume(struct s3_transfer *t)
{
	if (!t->paused)
		return;
	t->paused = false;
	t->moved_ns = s3_now_ns();
	curl_easy_pause(t->easy, CURLPAUSE_CONT);
}

void s3_transfer_free(struct s3_transfer *t)
{
	s3_transfer_drop(t);
	if (t->easy)
		curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->lines);
	s3_buf_free(&t->url);
	s3_buf_free(&t->authorization);
	s3_buf_free(&t->answer.body);
	memset(t, 0, sizeof(*t));
}
