/*
 * transfer.c - one request on its way: handed to libcurl, counted at its end.
 *
 * The one invariant: libcurl is the transport and no more: it follows no redirect, adds no header
 * that changes the meaning, knows no proxy, and its path stays as it was signed.
 */
#include "http.h"

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

/* ---- The request ------------------------------------------------------------------------------
 */

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
	s3_answer_listen(t);
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
	s3_answer_reset(&t->answer);
	t->body = request->body;
	t->body_len = request->body_len;
	t->body_at = 0;
	t->begun = 0;
	t->done = t->head = t->paused = t->closes = false;
	t->result = CURLE_OK;
	t->why[0] = '\0';
	if (t->sink)
		t->sink(t->sink_ctx, NULL, 0);
}

bk_status s3_transfer_start(struct s3_transfer *t, struct s3_link *link,
			    const struct s3_request *request, struct bk_error *err)
{
	t->link = link;
	if (!trf_prepare(t))
		return bk_fail(err, BK_NOMEM, 0, "s3: out of memory");
	trf_reset(t, request);
	if (!s3_request_write(t, request))
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
