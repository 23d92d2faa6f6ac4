/*
 * wire.c - messages between a keeper and whoever talks to it: JSON in SEQPACKET.
 */
#include "service/keeper.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define WIRE_MAX ((size_t)128 << 10)

bool bk_wire_send(int fd, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	bool sent = false;
	ssize_t n;

	if (text && fd >= 0) {
		do
			n = send(fd, text, strlen(text), MSG_NOSIGNAL);
		while (n < 0 && errno == EINTR);
		sent = n >= 0;
	}
	free(text);
	json_decref(message);
	return sent;
}

json_t *bk_wire_receive(int fd, int flags)
{
	char *text = malloc(WIRE_MAX);
	json_t *message = NULL;
	ssize_t n = -1;

	if (text && fd >= 0)
		n = recv(fd, text, WIRE_MAX, flags);
	if (n > 0)
		message = json_loadb(text, (size_t)n, 0, NULL);
	free(text);
	if (message && !json_is_object(message)) {
		json_decref(message);
		message = NULL;
	}
	return message;
}

/* The bytes that continue a letter that begins with `c`; -1: none begins so. */
static int wire_tail(unsigned char c)
{
	if (c < 0x80)
		return 0;
	if (c >= 0xc2 && c < 0xe0)
		return 1;
	if (c >= 0xe0 && c < 0xf0)
		return 2;
	return c >= 0xf0 && c < 0xf5 ? 3 : -1;
}

char *bk_wire_clean(char *text)
{
	unsigned char *p = (unsigned char *)text;
	json_t *probe;
	int i, tail;

	for (; *p; p++) {
		tail = wire_tail(*p);
		for (i = 1; i <= tail && (p[i] & 0xc0) == 0x80; i++)
			;
		if (tail < 0 || i <= tail)
			*p = '?';
		else
			p += tail;
	}
	/* What is left is rare (surrogates, forms that are too long): then no letter is trusted. */
	probe = json_string(text);
	for (p = (unsigned char *)text; !probe && *p; p++) {
		if (*p >= 0x80)
			*p = '?';
	}
	json_decref(probe);
	return text;
}

json_t *bk_wire_failure(const struct bk_error *failure)
{
	struct bk_error copy = *failure, *err = &copy;

	bk_wire_clean(err->message);
	return json_pack("{s:s, s:i, s:I, s:s}", "event", "failed", "status", (int)err->status,
			 "vendor", (json_int_t)err->vendor_code, "message", err->message);
}

bk_status bk_wire_status(const json_t *message, struct bk_error *err)
{
	const char *text = json_string_value(json_object_get(message, "message"));
	bk_status st = (bk_status)json_integer_value(json_object_get(message, "status"));

	if (!message)
		return bk_fail(err, BK_UNAVAILABLE, 0, "the server's keeper is gone");
	if (st >= 0)
		return BK_OK;
	return bk_fail(err, st, json_integer_value(json_object_get(message, "vendor")), "%s",
		       text ? text : "no reason given");
}
