/*
 * url.c - taking a server's URL apart.
 */
#include "service/url.h"

#include "util/buf.h"

#include <bakeoff/backend_util.h>

#include <ctype.h>
#include <stdlib.h>

static int url_hex(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

static char *url_decode(const char *text, size_t len)
{
	struct bk_buf out = BK_BUF_INIT;
	size_t i;

	bk_buf_puts(&out, "");
	for (i = 0; i < len; i++) {
		char c = text[i];

		if (c == '%' && i + 2 < len && url_hex(text[i + 1]) >= 0 &&
		    url_hex(text[i + 2]) >= 0) {
			c = (char)(url_hex(text[i + 1]) * 16 + url_hex(text[i + 2]));
			i += 2;
		}
		bk_buf_put(&out, &c, 1);
	}
	return bk_buf_steal(&out);
}

void bk_url_free(struct bk_url *url)
{
	free(url->scheme);
	free(url->user);
	free(url->password);
	free(url->host);
	free(url->port);
	free(url->path);
	free(url->query);
	memset(url, 0, sizeof(*url));
}

/* user:password@ at the front of the authority */
static void url_userinfo(struct bk_url *url, const char **p, const char *end)
{
	const char *at = end, *colon;

	while (at > *p && at[-1] != '@')
		at--;
	if (at == *p) {
		url->user = strdup("");
		url->password = strdup("");
		return;
	}
	colon = memchr(*p, ':', (size_t)(at - 1 - *p));
	url->user = url_decode(*p, (size_t)((colon ? colon : at - 1) - *p));
	url->password = colon ? url_decode(colon + 1, (size_t)(at - 1 - colon - 1)) : strdup("");
	*p = at;
}

static void url_host_port(struct bk_url *url, const char *p, const char *end)
{
	const char *colon = NULL, *q;

	if (p < end && *p == '[') { /* [::1]:5432 */
		q = memchr(p, ']', (size_t)(end - p));
		if (q) {
			url->host = url_decode(p + 1, (size_t)(q - p - 1));
			colon = q + 1 < end && q[1] == ':' ? q + 1 : NULL;
			url->port = colon ? url_decode(colon + 1, (size_t)(end - colon - 1))
					  : strdup("");
			return;
		}
	}
	colon = memchr(p, ':', (size_t)(end - p));
	url->host = url_decode(p, (size_t)((colon ? colon : end) - p));
	url->port = colon ? url_decode(colon + 1, (size_t)(end - colon - 1)) : strdup("");
}

bk_status bk_url_parse(struct bk_url *out, const char *text, struct bk_error *err)
{
	struct bk_url url;
	const char *p = strstr(text, "://"), *end, *query;

	memset(&url, 0, sizeof(url));
	if (!p || p == text)
		return bk_fail(err, BK_INVALID, 0,
			       "not a URL: expected SCHEME://USER@HOST:PORT/NAME");
	url.scheme = strndup(text, (size_t)(p - text));
	p += 3;
	end = p + strcspn(p, "/?");
	query = strchr(p, '?');
	url_userinfo(&url, &p, end);
	url_host_port(&url, p, end);
	if (*end == '/')
		url.path = url_decode(end + 1, query ? (size_t)(query - end - 1) : strlen(end + 1));
	else
		url.path = strdup("");
	url.query = strdup(query ? query + 1 : "");
	if (!url.scheme || !url.user || !url.password || !url.host || !url.port || !url.path ||
	    !url.query) {
		bk_url_free(&url);
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	*out = url;
	return BK_OK;
}

/* key=value at `p`; returns its length. */
static size_t url_pair(const char *p, size_t *key_len)
{
	size_t len = strcspn(p, "&");

	*key_len = strcspn(p, "=&");
	return len;
}

char *bk_url_query(const struct bk_url *url, const char *key)
{
	const char *p = url->query;
	size_t len, key_len;

	while (*p) {
		len = url_pair(p, &key_len);
		if (key_len == strlen(key) && memcmp(p, key, key_len) == 0 && key_len < len)
			return url_decode(p + key_len + 1, len - key_len - 1);
		p += len + (p[len] == '&');
	}
	return NULL;
}

char *bk_url_query_without(const struct bk_url *url, const char *const *keys)
{
	struct bk_buf out = BK_BUF_INIT;
	const char *p = url->query;
	size_t len, key_len, i;

	bk_buf_puts(&out, "");
	while (*p) {
		len = url_pair(p, &key_len);
		for (i = 0; keys[i]; i++) {
			if (strlen(keys[i]) == key_len && memcmp(keys[i], p, key_len) == 0)
				break;
		}
		if (!keys[i] && len > 0)
			bk_buf_putf(&out, "%s%.*s", out.len ? "&" : "", (int)len, p);
		p += len + (p[len] == '&');
	}
	return bk_buf_steal(&out);
}
