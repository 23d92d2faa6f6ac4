/*
 * l3.h - the backend that leaves S3 to libs3.
 *
 * libs3 moves only while it is called: each session has a request context of its own and drives it
 * with select(), so that a deadline and cancel() can end what is on its way.
 *
 * The one invariant: a request context that was given up is destroyed as a whole; what it calls
 * back then finds its memory still there.
 */
#ifndef BK_S3_LIBS3_L3_H
#define BK_S3_LIBS3_L3_H

#include "s3-common/bytes.h"
#include "s3-common/own.h"
#include "s3-common/pace.h"

#include <libs3.h>

#define L3_NAME       "s3-libs3"
#define L3_BINARY_MAX (UINT64_C(5) << 30) /* one PUT: libs3 2.0 knows no parts */
#define L3_PAGE       1000

struct l3_options {
	struct s3_access access;
	uint8_t insecure_tls;
};

struct l3_link { /* one thread's */
	const struct bk_store *store;
	S3RequestContext *context;
	struct s3_pace pace;
	int wake_fd;       /* an eventfd: cancel() */
	uint64_t moved_ns; /* when a byte last moved */
};

/* One request and what came of it.  `begin` hands it to libs3. */
struct l3_call {
	struct l3_link *link;
	const char *what;   /* for error texts: "get" */
	const char *bucket; /* NULL: the store's */
	const char *key;    /* the object's, or NULL */
	void (*begin)(struct l3_call *call);
	bool changes; /* when the answer is lost, the outcome is unknown */
	/* what `begin` needs */
	const char *prefix, *marker;
	int most;
	const void *body;
	size_t body_len, body_at;
	uint64_t from, count;
	const char *if_match;
	struct bk_reader *reader;
	/* the answer */
	bool done, head;
	S3Status status;
	char message[240];
	uint64_t length;
	char etag[128];
	struct s3_buf text;   /* a small object */
	struct s3_page *page; /* of a listing */
	bool failed;
};

struct bk_reader {
	struct bk_session *session;
	bool open;
	struct l3_call call;
	struct s3_buf key;
	char etag[128];
	uint64_t total, at, end;
	unsigned tried;
	struct s3_intake in; /* grows: libs3 cannot be told to wait */
};

struct bk_writer {
	struct bk_session *session;
	bool open;
	struct s3_buf key;
	struct s3_hold hold;
	uint64_t declared_bytes, written_bytes;
};

struct bk_cursor {
	struct bk_session *session;
	struct s3_cursor list;
};

struct bk_session {
	struct bk_store *store;
	struct l3_link link;
	struct l3_call call;
	struct s3_buf key;
	struct bk_cursor cursor;
	struct bk_reader reader;
	struct bk_writer writer;
};

struct bk_store {
	const struct l3_options *options;
	struct s3_site site;
	struct l3_link link; /* the control thread's */
	struct l3_call call;
};

extern const struct bk_backend l3_backend;
extern const struct bk_option l3_option_table[];
extern const struct bk_store_ops l3_store_ops;
extern const struct bk_session_ops l3_session_ops;
extern const struct bk_binary_ops l3_binary_ops;

/* ---- link.c */
bk_status l3_link_init(struct l3_link *link, const struct bk_store *store, uint64_t timeout_ns,
		       struct bk_error *err);
void l3_link_free(struct l3_link *link);
void l3_link_enter(struct l3_link *link);
void l3_link_cancel(struct l3_link *link); /* any thread */
/* Ends whatever is on its way. */
void l3_link_reset(struct l3_link *link);
bk_status l3_link_drive(struct l3_link *link, bool (*enough)(void *ctx), void *ctx,
			uint64_t wake_ns, const char *what, struct bk_error *err);
/* Before a further try; counts it. */
bk_status l3_link_wait_again(struct l3_link *link, unsigned tried, const char *what,
			     struct bk_error *err);

/* ---- call.c */
/* From the request to its whole answer, tries again included. */
bk_status l3_call(struct l3_call *call, struct bk_error *err);
/* Once: until its head is there, or it is done. */
bk_status l3_start(struct l3_call *call, struct bk_error *err);
/* What a call that is done comes to; *again: a further try makes sense. */
bk_status l3_outcome(bool *again, struct l3_call *call, unsigned tried, struct bk_error *err);
bool l3_is_missing(const struct l3_call *call); /* no such object or bucket */
void l3_call_free(struct l3_call *call);

/* ---- requests.c: what `begin` may be */
void l3_begin_head(struct l3_call *call);
void l3_begin_get(struct l3_call *call);
void l3_begin_put(struct l3_call *call);
void l3_begin_delete(struct l3_call *call);
void l3_begin_list(struct l3_call *call);
void l3_begin_test(struct l3_call *call);
void l3_begin_create(struct l3_call *call);
void l3_begin_remove(struct l3_call *call);

/* ---- doors.c */
struct l3_hand { /* what the doors work with */
	struct l3_link *link;
	struct l3_call *call;
};
struct own_doors l3_doors(struct l3_hand *hand); /* lives as long as *hand */

/* ---- key.c: the object's key of a binary's, and back. */
bk_status l3_key_full(struct s3_buf *out, const struct bk_store *store, struct bk_slice key,
		      struct bk_error *err);
size_t l3_key_own(struct s3_buf *out, const struct s3_site *site, struct bk_slice full);
size_t l3_key_most(const struct bk_store *store);

/* ---- read.c, write.c */
bk_status l3_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
		       uint64_t offset, uint64_t len, struct bk_binary_info *info,
		       struct bk_error *err);
bk_status l3_read(struct bk_reader *r, void *buf, size_t cap, size_t *n, struct bk_error *err);
void l3_read_close(struct bk_reader *r);

bk_status l3_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			uint64_t size_bytes, uint32_t mode, struct bk_error *err);
bk_status l3_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err);
bk_status l3_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err);
void l3_abort(struct bk_writer *w);

bk_status l3_head(struct bk_session *s, const char *what, const char *full_key,
		  struct bk_error *err);

#endif
