/*
 * check.h - the parts of the check layer.
 *
 * The one invariant: a handle of the check layer stays readable until its store is closed, so that
 * late use is found and named instead of being undefined.
 */
#ifndef BK_LAYER_CHECK_H
#define BK_LAYER_CHECK_H

#include "layer/pass.h"

#include <pthread.h>
#include <stdatomic.h>

/* One borrowed view. */
struct bk_check_view {
	struct bk_check_view *next;
	const void *theirs; /* where the backend keeps it */
	void *was;          /* what it was when it was handed out */
	void *ours;         /* what the harness got: `was`, or an array with slices of our own */
	size_t len;
};

struct bk_check_views {
	struct bk_check_view *list;
};

struct bk_store {
	struct bk_pass_store pass;
	uint64_t features; /* native, emulated or looped */
	uint32_t threads;
	atomic_int in_control;     /* control calls under way */
	atomic_int sessions_count; /* open */
	pthread_mutex_t lock;      /* of the list */
	struct bk_session *sessions;
};

enum bk_check_txn { BK_TXN_CLOSED, BK_TXN_OPEN, BK_TXN_UNKNOWN };

struct bk_session {
	struct bk_pass_session pass;
	struct bk_store *store;
	struct bk_session *next; /* in the store's list */
	pthread_t thread;
	bool closed;
	enum bk_check_txn txn;
	struct bk_check_views views;
	struct bk_cursor *cursors; /* all, the open one first if there is one */
	struct bk_writer *writers;
	struct bk_reader *readers;
	char breach[256]; /* found where nothing could be answered; told by the next call */
};

struct bk_cursor {
	struct bk_session *session;
	struct bk_cursor *next, *inner;
	bool open, is_list, children, want_path;
	struct bk_check_views views;
};

struct bk_writer {
	struct bk_session *session;
	struct bk_writer *next, *inner;
	bool open;
	uint64_t declared_bytes, written_bytes;
};

struct bk_reader {
	struct bk_session *session;
	struct bk_reader *next, *inner;
	bool open;
	uint64_t left_bytes; /* until END is due */
};

/* ---- The harness's side: what is wrong here ends the process ----------- */

_Noreturn void bk_check_die(const char *op, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Thread and life of the session; its views lapse, unless a handle of its own is called.  A status
 * other than OK is a breach by the backend, found late. */
bk_status bk_check_enter(struct bk_session *s, const char *op, struct bk_error *err);
bk_status bk_check_enter_handle(struct bk_session *s, const char *op, struct bk_error *err);
void bk_check_thread(const struct bk_session *s, const char *op);
void bk_check_slice(const char *op, const char *what, struct bk_slice slice);
void bk_check_links(const char *op, const struct bk_link *links, size_t n);

/* ---- The backend's side: what is wrong here is answered INTERNAL ------- */

bk_status bk_check_breach(struct bk_error *err, const char *op, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* An error to hand to the backend: touched when it should not be, it shows. */
void bk_check_error_arm(struct bk_error *armed);
/* Status and error together.  `end`: BK_END is an answer too. */
bk_status bk_check_answer(bk_status st, const struct bk_error *armed, bool end, const char *op,
			  struct bk_error *err);

/* Replace a view by a copy of our own, remembered in `views`.  False: it is NULL with a length, or
 * there is no memory. */
bool bk_check_keep(struct bk_slice *view, struct bk_check_views *views);
bool bk_check_keep_links(struct bk_node *node, struct bk_check_views *views);
/* All views of the list lapse: poisoned and freed.  False: the backend has changed one before. */
bool bk_check_lapse(struct bk_check_views *views);

/* A pointer that no backend returns, to see whether it was written. */
#define BK_CHECK_UNWRITTEN ((void *)(uintptr_t)0x5a5a5a50u)
/* `raw` is what the backend answered, `st` what the checks so far have made of it. */
bool bk_check_found(bk_status st, bk_status raw); /* a breach, which is to be told first */
bk_status bk_check_handle(bk_status st, bk_status raw, const void *handle, const char *op,
			  struct bk_error *err);

/* ---- Across the files -------------------------------------------------- */

struct bk_cursor *bk_check_cursor_new(struct bk_session *s, const char *op);
bk_status bk_check_cursor_enter(struct bk_cursor *c, bool is_list, size_t cap, const char *op,
				struct bk_error *err);
void bk_check_cursor_end(struct bk_cursor *c, bool is_list, const char *op);

bk_status bk_check_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			     const struct bk_step *steps, size_t n_steps, uint32_t want,
			     struct bk_error *err);
bk_status bk_check_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			     struct bk_error *err);
void bk_check_walk_close(struct bk_cursor *c);

extern const struct bk_node_ops bk_check_node_ops;
extern const struct bk_binary_ops bk_check_binary_ops;
bk_status bk_check_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			   struct bk_error *err);
void bk_check_counters(struct bk_session *s, const struct bk_sink *sink);

#endif
