/*
 * target.c - from options and a URL to one description of where the server is.
 *
 * The one invariant: an option that was set wins over what the URL says, and no message repeats
 * any part of the URL, since a password may stand in it.
 */
#include "my.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

static bool given(const char *s)
{
	return s && *s;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 32) >= 'a' && (c | 32) <= 'f')
		return (c | 32) - 'a' + 10;
	return -1;
}

/* A percent-decoded copy of [from, to). */
static bk_status decode(char **out, const char *from, const char *to, const char *part,
			struct bk_error *err)
{
	char *copy = malloc((size_t)(to - from) + 1), *w = copy;

	if (!copy)
		return bk_fail(err, BK_NOMEM, ENOMEM, "mysql: out of memory");
	while (from < to) {
		if (*from != '%') {
			*w++ = *from++;
			continue;
		}
		if (to - from < 3 || hex(from[1]) < 0 || hex(from[2]) < 0 ||
		    (hex(from[1]) == 0 && hex(from[2]) == 0)) {
			free(copy);
			return bk_fail(
				err, BK_INVALID, 0,
				"mysql: option 'url': the %s has a '%%' that is not followed "
				"by two hexadecimal digits (write %%25 for a plain one)",
				part);
		}
		*w++ = (char)(hex(from[1]) * 16 + hex(from[2]));
		from += 3;
	}
	*w = '\0';
	free(*out);
	*out = copy;
	return BK_OK;
}

static const char *find_last(const char *from, const char *to, char c)
{
	while (to > from) {
		if (*--to == c)
			return to;
	}
	return NULL;
}

static const char *find_first(const char *from, const char *to, const char *set)
{
	while (from < to && !strchr(set, *from))
		from++;
	return from;
}

static bk_status parse_port(uint32_t *out, const char *from, const char *to, struct bk_error *err)
{
	uint32_t port = 0;

	for (; from < to; from++) {
		if (*from < '0' || *from > '9' ||
		    (port = port * 10 + (uint32_t)(*from - '0')) > 65535)
			return bk_fail(
				err, BK_INVALID, 0,
				"mysql: option 'url': the port is not a number from 1 to 65535");
	}
	*out = port;
	return BK_OK;
}

/* user[:password]@ */
static bk_status parse_user(struct my_target *t, const char *from, const char *to,
			    struct bk_error *err)
{
	const char *colon = find_first(from, to, ":");
	bk_status st = decode(&t->user, from, colon, "user", err);

	if (!st && colon < to)
		st = decode(&t->password, colon + 1, to, "password", err);
	return st;
}

/* host[:port], [::1]:port */
static bk_status parse_host(struct my_target *t, const char *from, const char *to,
			    struct bk_error *err)
{
	const char *end;
	bk_status st;

	if (from < to && *from == '[') {
		end = find_first(from, to, "]");
		if (end == to)
			return bk_fail(
				err, BK_INVALID, 0,
				"mysql: option 'url': the host begins with '[' and lacks ']'");
		st = decode(&t->host, from + 1, end, "host", err);
		end++;
	} else {
		end = find_first(from, to, ":");
		st = decode(&t->host, from, end, "host", err);
	}
	if (st || end == to)
		return st;
	if (*end != ':')
		return bk_fail(
			err, BK_INVALID, 0,
			"mysql: option 'url': after the host there may be ':' and a port only");
	return parse_port(&t->port, end + 1, to, err);
}

static bk_status parse_tls(uint32_t *out, const char *value, struct bk_error *err)
{
	static const char *const names[] = {"off", "on", "verify"};
	uint32_t i;

	for (i = 0; i < 3; i++) {
		if (!strcmp(value, names[i])) {
			*out = i;
			return BK_OK;
		}
	}
	return bk_fail(err, BK_INVALID, 0, "mysql: option 'url': tls is one of off, on, verify");
}

/* ?socket=...&tls=...&tls-ca=... */
static bk_status parse_query(struct my_target *t, const char *p, struct bk_error *err)
{
	const char *end = p + strlen(p);

	while (p < end) {
		const char *stop = find_first(p, end, "&"), *eq = find_first(p, stop, "=");
		char *name = NULL, *value = NULL;
		bk_status st = decode(&name, p, eq, "query", err);

		if (!st)
			st = decode(&value, eq < stop ? eq + 1 : stop, stop, "query", err);
		if (st) {
			/* the reason is in *err */
		} else if (!strcmp(name, "socket")) {
			free(t->socket);
			t->socket = value;
			value = NULL;
		} else if (!strcmp(name, "tls-ca")) {
			free(t->tls_ca);
			t->tls_ca = value;
			value = NULL;
		} else if (!strcmp(name, "tls")) {
			st = parse_tls(&t->tls, value, err);
		} else {
			st = bk_fail(err, BK_INVALID, 0,
				     "mysql: option 'url': after '?' come socket, tls and tls-ca "
				     "only (set other options by their own name)");
		}
		free(name);
		free(value);
		if (st)
			return st;
		p = stop + 1;
	}
	return BK_OK;
}

/* mysql://[user[:password]@][host[:port]][/database][?query] */
static bk_status parse_url(struct my_target *t, const char *url, struct bk_error *err)
{
	const char *p, *end, *at, *slash;
	bk_status st = BK_OK;

	if (!strncmp(url, "mysql://", 8))
		p = url + 8;
	else if (!strncmp(url, "mariadb://", 10))
		p = url + 10;
	else
		return bk_fail(err, BK_INVALID, 0,
			       "mysql: option 'url' begins with neither mysql:// nor mariadb://");
	end = find_first(p, p + strlen(p), "?");
	slash = find_first(p, end, "/");
	at = find_last(p, slash, '@');
	if (at) {
		st = parse_user(t, p, at, err);
		p = at + 1;
	}
	if (!st)
		st = parse_host(t, p, slash, err);
	if (!st && slash < end)
		st = decode(&t->database, slash + 1, end, "database", err);
	if (!st && *end)
		st = parse_query(t, end + 1, err);
	return st;
}

static bk_status replace(char **out, const char *value, struct bk_error *err)
{
	char *copy;

	if (!given(value))
		return BK_OK;
	copy = strdup(value);
	if (!copy)
		return bk_fail(err, BK_NOMEM, ENOMEM, "mysql: out of memory");
	free(*out);
	*out = copy;
	return BK_OK;
}

/* The account of whoever runs this: the library would look into the environment. */
static bk_status default_user(struct my_target *t, struct bk_error *err)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (given(t->user))
		return BK_OK;
	getpwuid_r(geteuid(), &pw, buf, sizeof(buf), &found);
	return replace(&t->user, found ? found->pw_name : "root", err);
}

bk_status my_target_init(struct my_target *out, const struct my_options *o, struct bk_error *err)
{
	bk_status st = BK_OK;

	memset(out, 0, sizeof(*out));
	if (given(o->url))
		st = parse_url(out, o->url, err);
	if (!st)
		st = replace(&out->host, o->host, err);
	if (!st && given(o->host) && !given(o->socket)) {
		free(out->socket); /* a host that was set, over a socket of the URL */
		out->socket = NULL;
	}
	if (!st)
		st = replace(&out->socket, o->socket, err);
	if (!st)
		st = replace(&out->database, o->database, err);
	if (!st)
		st = replace(&out->user, o->user, err);
	if (!st)
		st = replace(&out->password, o->password, err);
	if (!st)
		st = replace(&out->tls_ca, o->tls_ca, err);
	if (!st)
		st = default_user(out, err);
	if (o->port)
		out->port = (uint32_t)o->port;
	if (!out->port)
		out->port = 3306;
	if (o->tls > out->tls)
		out->tls = o->tls;
	out->connect_timeout_s = (uint32_t)((o->connect_timeout_us + 999999) / 1000000);
	if (!st && !given(out->socket) && !given(out->host))
		st = bk_fail(err, BK_INVALID, 0,
			     "mysql: no server named: set option 'socket', 'host' or 'url'");
	if (st)
		my_target_free(out);
	return st;
}

void my_target_free(struct my_target *t)
{
	free(t->host);
	free(t->socket);
	free(t->database);
	free(t->user);
	free(t->password);
	free(t->tls_ca);
	memset(t, 0, sizeof(*t));
}

void my_target_name(const struct my_target *t, char *out, size_t cap)
{
	if (given(t->socket))
		snprintf(out, cap, "socket %s", t->socket);
	else
		snprintf(out, cap, "%s:%u", t->host, (unsigned)t->port);
}
