/*
 * net.c - getrandom(), and binding to see what is free.
 */
#include "service/net.h"

#include <bakeoff/backend_util.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bk_status net_bytes(void *out, size_t len, struct bk_error *err)
{
	char *p = out;

	while (len > 0) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return bk_fail(err, BK_IO, errno, "no random numbers: %s", strerror(errno));
		p += n;
		len -= (size_t)n;
	}
	return BK_OK;
}

bk_status bk_net_random(char *out, size_t len, bool lower, struct bk_error *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const unsigned n = lower ? 36 : 62, fair = 256 - 256 % n;
	unsigned char byte;
	size_t i = 0;
	bk_status st = BK_OK;

	while (st == BK_OK && i < len) {
		st = net_bytes(&byte, 1, err);
		if (st == BK_OK && byte < fair)
			out[i++] = letters[byte % n];
	}
	out[i] = '\0';
	return st;
}

bk_status bk_net_uuid(char out[37], struct bk_error *err)
{
	unsigned char b[16];
	bk_status st = net_bytes(b, sizeof(b), err);

	if (st != BK_OK)
		return st;
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		 b[13], b[14], b[15]);
	return BK_OK;
}

/* A socket bound to host and port (0: any); -1. */
static int net_bind(const char *host, uint16_t port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || inet_pton(AF_INET, host, &sin.sin_addr) != 1)
		goto no;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == 0)
		return fd;
no:
	if (fd >= 0)
		close(fd);
	return -1;
}

bk_status bk_net_host(char out[16], bool plain, struct bk_error *err)
{
	unsigned char b[3];
	bk_status st;
	int fd = -1, tries;

	for (tries = 0; !plain && fd < 0 && tries < 3; tries++) {
		st = net_bytes(b, sizeof(b), err);
		if (st != BK_OK)
			return st;
		snprintf(out, 16, "127.%u.%u.%u", 1u + b[0] % 254u, (unsigned)b[1],
			 1u + b[2] % 254u);
		fd = net_bind(out, 0);
	}
	if (fd < 0) {
		snprintf(out, 16, "127.0.0.1");
		fd = net_bind(out, 0);
	}
	if (fd < 0)
		return bk_fail(err, BK_IO, errno, "cannot listen on 127.0.0.1: %s",
			       strerror(errno));
	close(fd);
	return BK_OK;
}

bk_status bk_net_ports(uint16_t *out, size_t n, const char *host, struct bk_error *err)
{
	int fds[8];
	size_t i, made = 0;
	bk_status st = BK_OK;

	/* All bound at once, so that they differ. */
	for (i = 0; st == BK_OK && i < n && i < sizeof(fds) / sizeof(fds[0]); i++) {
		struct sockaddr_in sin;
		socklen_t len = sizeof(sin);

		fds[i] = net_bind(host, 0);
		if (fds[i] < 0 || getsockname(fds[i], (struct sockaddr *)&sin, &len) != 0)
			st = bk_fail(err, BK_IO, errno, "no free port on %s: %s", host,
				     strerror(errno));
		else
			out[i] = ntohs(sin.sin_port);
		made += fds[i] >= 0;
	}
	for (i = 0; i < made; i++)
		close(fds[i]);
	return st;
}

bool bk_net_port_is_free(const char *host, uint16_t port)
{
	int fd = net_bind(host, port);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool net_try(int fd, const struct sockaddr *sa, socklen_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int error = 0;
	socklen_t error_len = sizeof(error);
	bool ok = false;

	if (fd < 0)
		return false;
	if (connect(fd, sa, len) == 0)
		ok = true;
	else if (errno == EINPROGRESS && poll(&p, 1, 100) == 1)
		ok = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_len) == 0 && error == 0;
	close(fd);
	return ok;
}

bool bk_net_connects_unix(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(sun.sun_path))
		return false;
	memcpy(sun.sun_path, path, strlen(path) + 1);
	return net_try(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
		       (struct sockaddr *)&sun, sizeof(sun));
}

bool bk_net_connects(const char *host, uint16_t port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(port)};

	if (inet_pton(AF_INET, host, &sin.sin_addr) != 1)
		return false;
	return net_try(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
		       (struct sockaddr *)&sin, sizeof(sin));
}
