/*
 * resp.c - Redis's protocol: a command is an array of strings, a reply one of five things.
 */
#include "rediskv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int resp_dial(const struct rkv_options *o)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons((uint16_t)o->port)};
	int fd = socket(o->host ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return -1;
	if (o->host) {
		inet_pton(AF_INET, o->host, &sin.sin_addr);
		r = connect(fd, (struct sockaddr *)&sin, sizeof(sin));
	} else {
		snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", o->socket ? o->socket : "");
		r = connect(fd, (struct sockaddr *)&sun, sizeof(sun));
	}
	if (r != 0) {
		r = errno;
		close(fd);
		errno = r;
		return -1;
	}
	return fd;
}

bk_status rkv_connect(struct rkv_conn *conn, const struct rkv_options *options,
		      struct bk_error *err)
{
	struct bk_slice auth[2] = {bk_slice_str("AUTH"), {"", 0}}, ping = bk_slice_str("PING");
	struct rkv_reply reply;
	bk_status st = BK_OK;

	memset(conn, 0, sizeof(*conn));
	conn->fd = resp_dial(options);
	if (conn->fd < 0)
		return bk_fail(err, BK_UNAVAILABLE, errno, "redis at %s: %s",
			       options->host     ? options->host
			       : options->socket ? options->socket
						 : "(no socket)",
			       strerror(errno));
	if (options->host && options->password) {
		auth[1] = bk_slice_str(options->password);
		st = rkv_command(conn, &reply, auth, 2, err);
	}
	if (st == BK_OK)
		st = rkv_command(conn, &reply, &ping, 1, err);
	if (st != BK_OK)
		rkv_disconnect(conn);
	return st;
}

void rkv_disconnect(struct rkv_conn *conn)
{
	if (conn->fd >= 0)
		close(conn->fd);
	free(conn->buf);
	conn->fd = -1;
	conn->buf = NULL;
}

static bk_status resp_lost(struct bk_error *err)
{
	return bk_fail(err, BK_UNAVAILABLE, errno, "redis: the connection was lost");
}

static bk_status resp_send(struct rkv_conn *conn, const void *data, size_t len,
			   struct bk_error *err)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = send(conn->fd, p, len, MSG_NOSIGNAL);

		if (n <= 0)
			return resp_lost(err);
		p += n;
		len -= (size_t)n;
	}
	return BK_OK;
}

/* At least `want` unread bytes in the buffer. */
static bk_status resp_fill(struct rkv_conn *conn, size_t want, struct bk_error *err)
{
	while (conn->len - conn->at < want) {
		ssize_t n;

		if (conn->cap - conn->len < want + 4096) {
			char *more = realloc(conn->buf, conn->cap + want + 65536);

			if (!more)
				return bk_fail(err, BK_NOMEM, 0, "out of memory");
			conn->buf = more;
			conn->cap += want + 65536;
		}
		n = recv(conn->fd, conn->buf + conn->len, conn->cap - conn->len, 0);
		if (n <= 0)
			return resp_lost(err);
		conn->len += (size_t)n;
	}
	return BK_OK;
}

/* A line without its end; `at` is behind it. */
static bk_status resp_line(struct rkv_conn *conn, size_t *from, size_t *len, struct bk_error *err)
{
	size_t seen = 0;
	bk_status st;

	for (;;) {
		char *end = conn->len - conn->at > seen ? memchr(conn->buf + conn->at + seen, '\n',
								 conn->len - conn->at - seen)
							: NULL;

		if (end) {
			*from = conn->at;
			*len = (size_t)(end - (conn->buf + conn->at));
			conn->at += *len + 1;
			*len -= *len > 0;
			return BK_OK;
		}
		seen = conn->len - conn->at;
		st = resp_fill(conn, seen + 1, err);
		if (st != BK_OK)
			return st;
	}
}

bk_status rkv_element(struct rkv_conn *conn, struct rkv_reply *reply, struct bk_error *err)
{
	size_t from, len;
	bk_status st = resp_line(conn, &from, &len, err);

	if (st != BK_OK)
		return st;
	reply->type = conn->buf[from];
	reply->text = conn->buf + from + 1;
	reply->len = len - 1;
	reply->number = strtoll(reply->text, NULL, 10);
	if (reply->type == '-')
		return bk_fail(err, BK_IO, 0, "redis: %.*s", (int)reply->len, reply->text);
	if (reply->type != '$')
		return BK_OK;
	if (reply->number < 0) {
		reply->type = 0;
		return BK_OK;
	}
	st = resp_fill(conn, (size_t)reply->number + 2, err);
	if (st != BK_OK)
		return st;
	reply->text = conn->buf + conn->at;
	reply->len = (size_t)reply->number;
	conn->at += reply->len + 2;
	return BK_OK;
}

bk_status rkv_command(struct rkv_conn *conn, struct rkv_reply *reply, const struct bk_slice *words,
		      size_t n, struct bk_error *err)
{
	char head[48];
	bk_status st;
	size_t i;

	conn->at = conn->len = 0;
	snprintf(head, sizeof(head), "*%zu\r\n", n);
	st = resp_send(conn, head, strlen(head), err);
	for (i = 0; st == BK_OK && i < n; i++) {
		snprintf(head, sizeof(head), "$%zu\r\n", words[i].len);
		st = resp_send(conn, head, strlen(head), err);
		if (st == BK_OK)
			st = resp_send(conn, words[i].data, words[i].len, err);
		if (st == BK_OK)
			st = resp_send(conn, "\r\n", 2, err);
	}
	return st == BK_OK ? rkv_element(conn, reply, err) : st;
}
