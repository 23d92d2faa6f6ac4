/*
 * rediskv.h - binaries as strings in Redis: a backend outside the tree, for the tests of services.
 *
 * The one invariant: keys are SPACE:KEY, and a set named {SPACE} lists them.
 */
#ifndef REDISKV_H
#define REDISKV_H

#include <bakeoff/backend.h>
#include <bakeoff/backend_util.h>

#include <stdbool.h>

struct rkv_options {
	const char *socket, *host, *password, *bin_dir;
	uint64_t port;
	const char *maxmemory;
};

/* ---- resp.c: the protocol */
struct rkv_conn {
	int fd;
	char *buf;
	size_t len, cap, at;
};
struct rkv_reply {      /* borrowed from the connection until the next command */
	char type;      /* + - : $ * or 0: nil */
	int64_t number; /* integer; length of an array */
	const char *text;
	size_t len;
};
bk_status rkv_connect(struct rkv_conn *conn, const struct rkv_options *options,
		      struct bk_error *err);
void rkv_disconnect(struct rkv_conn *conn);
/* One command of `n` words, and the head of its reply; an error reply is a failure. */
bk_status rkv_command(struct rkv_conn *conn, struct rkv_reply *reply, const struct bk_slice *words,
		      size_t n, struct bk_error *err);
/* The next element of an array. */
bk_status rkv_element(struct rkv_conn *conn, struct rkv_reply *reply, struct bk_error *err);

/* ---- store.c, binary.c, service.c */
struct bk_store {
	const struct rkv_options *options;
	const struct bk_store_config *config;
	struct rkv_conn conn;
};
struct bk_writer {
	struct bk_session *session;
	char *data;
	size_t len, cap;
	uint64_t size_bytes;
	uint32_t mode;
	char key[512];
	size_t key_len;
};
struct bk_reader {
	char *data;
	size_t len, at;
};
struct bk_cursor {
	struct rkv_conn *conn;
	char *keys; /* one after the other, NUL-terminated */
	size_t len, at;
	struct bk_session *session;
};
struct bk_session {
	struct bk_store *store;
	struct rkv_conn conn;
};
extern const struct bk_store_ops rkv_store_ops;
extern const struct bk_session_ops rkv_session_ops;
extern const struct bk_binary_ops rkv_binary_ops;
extern const struct bk_service rkv_service;
extern const struct bk_option rkv_options[];

#endif
