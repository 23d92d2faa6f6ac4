/*
 * pace.h - one thread's time and count: the deadline of its call, cancel, the wait before a further
 * try, and what a session reports of it.
 *
 * The one invariant: a wait never outlasts the deadline, a stall, a cancel or a wake-up time.
 */
#ifndef BK_S3_PACE_H
#define BK_S3_PACE_H

#include "site.h"

#include <stdatomic.h>

struct s3_pace {
	const struct s3_site *site;
	atomic_bool cancelled;
	uint64_t timeout_ns;  /* of one call; 0: none */
	uint64_t deadline_ns; /* of the call that is on; 0: none */
	uint64_t random;
	uint64_t requests, retries, bytes_sent, bytes_received;
};

uint64_t s3_now_ns(void);

void s3_pace_init(struct s3_pace *pace, const struct s3_site *site, uint64_t timeout_ns);
/* A call of the harness begins, its deadline runs.  true: an earlier one was cancelled. */
bool s3_pace_enter(struct s3_pace *pace);
void s3_pace_cancel(struct s3_pace *pace); /* any thread; waking it is the transport's */

/* OK: wait, at most until *until_ns; END: it is `wake_ns` (0: never).  Else the call's end: it was
 * cancelled, its time is over, or since `moved_ns` (UINT64_MAX: nothing is on its way) nothing has
 * moved for as long as the options allow. */
bk_status s3_pace_check(uint64_t *until_ns, struct s3_pace *pace, uint64_t wake_ns,
			uint64_t moved_ns, const char *what, struct bk_error *err);

/* How long to wait before try `tried` + 1: full jitter. */
uint64_t s3_pace_jitter_ns(struct s3_pace *pace, unsigned tried);

void s3_pace_tell_tries(const struct s3_pace *pace, const struct bk_sink *sink);
void s3_pace_tell_bytes(const struct s3_pace *pace, const struct bk_sink *sink);

#endif
