/*
 * traffic.h - what the sessions of a repository say they did, added up.
 */
#ifndef BK_REPO_TRAFFIC_H
#define BK_REPO_TRAFFIC_H

#include <bakeoff/backend.h>

struct bk_traffic { /* atomic: workers add side by side */
	uint64_t requests, retries, reconnects, sent_bytes, received_bytes;
};

/* Adds what counters() of an open session says beyond *said, which then holds what it says now.
 * On the session's thread. */
void bk_traffic_add(struct bk_traffic *sum, struct bk_traffic *said,
		    const struct bk_session_ops *ops, struct bk_session *session);

#endif
