/*
 * null.h - the backend that keeps nothing: the price of the harness, a planted slowdown, a planted
 * failure.
 *
 * The one invariant: an operation allocates nothing; all handles lie in the session.
 */
#ifndef BK_NULL_NULL_H
#define BK_NULL_NULL_H

#include <bakeoff/backend.h>
#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum null_kind { /* in the order of the choices of option fail-on */
		 NULL_ANY,
		 NULL_READ,
		 NULL_WRITE,
		 NULL_COMMIT,
		 NULL_OPEN,
		 NULL_MAKE,
		 NULL_SESSION,
		 NULL_SETTLE,
};

struct null_options {
	uint64_t delay_us;
	uint32_t delay_mode; /* enum null_delay */
	uint32_t delay_on;   /* enum null_kind */
	uint64_t fail_every, fail_from;
	uint32_t fail_on;     /* enum null_kind */
	uint32_t fail_status; /* index into the table of fault.c */
};

enum null_delay { NULL_SPIN, NULL_SLEEP };

struct bk_store {
	const struct null_options *options;
	uint64_t control_calls; /* [control] */
};

struct bk_cursor {
	struct bk_session *session;
	bool open;
};

struct bk_writer {
	struct bk_session *session;
	uint64_t declared_bytes, written_bytes;
	bool open;
};

struct bk_reader { /* nothing can be read, so none is ever open */
	char unused;
};

struct bk_session {
	const struct null_options *options;
	uint64_t calls, timeout_ns;
	bool plain; /* neither delay nor failure is asked for */
	bool in_txn;
	struct bk_cursor cursor;
	struct bk_writer writer;
	/* For cancel() against a call that sleeps. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	atomic_bool cancelled;
};

extern const char *const null_kind_names[], *const null_status_names[];

/* Delay and failure as the options say.  BK_OK, or *err is filled in. */
bk_status null_call_slow(struct bk_session *s, enum null_kind kind, struct bk_error *err);
bk_status null_control(struct bk_store *store, enum null_kind kind, struct bk_error *err);
void null_cancel(struct bk_session *s);

static inline bk_status null_call(struct bk_session *s, enum null_kind kind, struct bk_error *err)
{
	return s->plain ? BK_OK : null_call_slow(s, kind, err);
}

/* An answer that is given often: no formatting. */
static inline bk_status null_fail(struct bk_error *err, bk_status status, const char *message)
{
	size_t n = strlen(message);

	err->status = status;
	err->vendor_code = 0;
	err->item = UINT64_MAX;
	err->flags = 0;
	err->sqlstate[0] = '\0';
	memcpy(err->message, message, n + 1);
	return status;
}

extern const struct bk_txn_ops null_txn_ops;
extern const struct bk_node_ops null_node_ops;
extern const struct bk_binary_ops null_binary_ops;

#endif
