/*
 * redact.c - passwords in URLs and in key=value lists.
 */
#include "util/redact.h"

#include "util/buf.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Is `key` (len bytes) the name of something secret? */
static bool redact_is_secret(const char *key, size_t len)
{
	static const char *const words[] = {"password", "passwd", "pwd", "secret", "token", NULL};
	size_t i, at;

	for (i = 0; words[i]; i++) {
		size_t n = strlen(words[i]);

		for (at = 0; at + n <= len; at++) {
			if (strncasecmp(key + at, words[i], n) == 0)
				return true;
		}
	}
	return false;
}

/* The '@' that ends the user part of the authority at `p`, or NULL.  The last one counts: an
 * unescaped '@' or '/' inside a password must not show its tail. */
static const char *redact_userinfo_end(const char *p)
{
	const char *end = p + strcspn(p, " \t"), *at = NULL;

	for (; p < end && *p != '?' && *p != '#'; p++) {
		if (*p == '@')
			at = p;
	}
	return at;
}

static const char *redact_authority(struct bk_buf *buf, const char *p)
{
	const char *at = redact_userinfo_end(p), *colon;

	if (!at)
		return p;
	colon = memchr(p, ':', (size_t)(at - p));
	if (!colon)
		return p;
	bk_buf_put(buf, p, (size_t)(colon - p) + 1);
	bk_buf_puts(buf, "*");
	return at;
}

char *bk_redact(const char *text)
{
	struct bk_buf buf = BK_BUF_INIT;
	const char *p = text, *word = text;

	while (*p) {
		if (strncmp(p, "://", 3) == 0) {
			bk_buf_put(&buf, p, 3);
			p = word = redact_authority(&buf, p + 3);
			continue;
		}
		bk_buf_put(&buf, p, 1);
		if (*p == '=' && redact_is_secret(word, (size_t)(p - word))) {
			size_t len = strcspn(++p, "&; \t");

			if (len)
				bk_buf_puts(&buf, "*");
			p += len;
			continue;
		}
		if (!isalnum((unsigned char)*p) && *p != '-' && *p != '_')
			word = p + 1;
		p++;
	}
	return bk_buf_steal(&buf);
}
