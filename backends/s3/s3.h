/*
 * s3.h - store, session and what is open in them.
 *
 * A store is everything below one key prefix of a bucket: BUCKET/[PREFIX/]SPACE/.  The object
 * `.bakeoff` there is the owner mark; every other object is a binary under its key.
 *
 * The one invariant: nothing outside that prefix is ever written or deleted, but for the mark of
 * the bucket itself (own.h) and buckets that are places.
 */
#ifndef BK_S3_S3_H
#define BK_S3_S3_H

#include "http.h"
#include "list.h"
#include "s3-common/bytes.h"
#include "s3-common/own.h"

struct bk_cursor {
	struct bk_session *session;
	struct s3_cursor list;
};

struct bk_reader {
	struct bk_session *session;
	bool open;
	struct s3_transfer transfer;
	struct s3_buf key;
	char etag[128];
	bool etag_bare;
	uint64_t total, at, end;
	unsigned tried;
	struct s3_intake in;
	EVP_MD_CTX *md5; /* of what was read; NULL: not verified */
	bool hashing;
};

struct s3_part {
	struct s3_transfer transfer;
	struct s3_request request;
	struct s3_hold hold;
	char number[12];
	unsigned index; /* from 0 */
	unsigned tried;
	uint64_t again_ns; /* when to try again; 0: it is on its way */
	bool busy;
	unsigned char md5[16];
};

struct bk_writer {
	struct bk_session *session;
	bool open;
	struct s3_buf key, upload_id;
	uint64_t declared_bytes, written_bytes;
	uint32_t mode;
	uint64_t part_bytes;
	struct s3_part *parts; /* as many as may be on their way at once */
	size_t part_slots, current;
	unsigned part_count;
	char (*etags)[80];
	size_t etag_cap;
	bool etag_bare;
	struct bk_error failed; /* status: BK_OK while nothing has */
};

struct s3_orphan { /* an upload that could not be aborted yet */
	struct s3_orphan *next;
	char *key, *upload_id;
	size_t key_len;
};

struct bk_session {
	struct bk_store *store;
	struct s3_link link;
	struct s3_transfer call; /* everything but the reader's and the parts */
	struct s3_buf key;
	struct bk_cursor cursor;
	struct bk_reader reader;
	struct bk_writer writer;
	struct s3_orphan *orphans;
};

struct bk_store {
	const struct bk_host *host;
	struct s3_config config;
	struct s3_link link; /* the control thread's */
	struct s3_transfer call;
	struct s3_buf place_text; /* what list() gave out */
};

/* ---- Across the files -------------------------------------------------- */

extern const struct bk_backend s3_backend;
extern const struct bk_store_ops s3_store_ops;
extern const struct bk_session_ops s3_session_ops;
extern const struct bk_binary_ops s3_binary_ops;
extern const struct bk_place_ops s3_place_ops;

bk_status s3_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
		     struct bk_error *err);

void s3_log(const struct bk_store *store, uint32_t level, const char *line);

/* key.c: INVALID or TOO_LARGE, else the whole key of the object in `out`; and back. */
bk_status s3_key_full(struct s3_buf *out, const struct s3_config *config, struct bk_slice key,
		      struct bk_error *err);
size_t s3_key_own(struct s3_buf *out, const struct s3_site *site, struct bk_slice full);
size_t s3_key_most(const struct s3_config *config);

/* read.c, write.c, parts.c, multipart.c */
bk_status s3_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
		       uint64_t offset, uint64_t len, struct bk_binary_info *info,
		       struct bk_error *err);
bk_status s3_read(struct bk_reader *r, void *buf, size_t cap, size_t *n, struct bk_error *err);
void s3_read_close(struct bk_reader *r);
void s3_reader_free(struct bk_reader *r);

bk_status s3_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			uint64_t size_bytes, uint32_t mode, struct bk_error *err);
bk_status s3_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err);
bk_status s3_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err);
void s3_abort(struct bk_writer *w);
bool s3_writer_init(struct bk_writer *w, struct bk_session *s);
void s3_writer_free(struct bk_writer *w);

struct s3_request s3_parts_request(const struct bk_writer *w, const char *what, const char *method);
bk_status s3_parts_send(struct bk_writer *w, struct bk_error *err); /* the current one, when full */
/* Until no more than `most` are on their way. */
bk_status s3_parts_await(struct bk_writer *w, size_t most, struct bk_error *err);
bk_status s3_parts_finish(struct bk_writer *w, struct bk_error *err);
void s3_parts_abort(struct bk_writer *w, bk_status why);
void s3_orphans_end(struct bk_session *s); /* at the session's end */

/* HEAD: the answer is in s->call. */
bk_status s3_head(struct bk_session *s, const char *what, struct bk_slice full_key,
		  struct bk_error *err);

#endif
