/*
 * traffic.h - what the sessions of a repository said they did: added up as each closes.
 */
#ifndef BK_REPO_TRAFFIC_H
#define BK_REPO_TRAFFIC_H

#include <bakeoff/backend.h>

struct bk_traffic { /* atomic: workers close side by side */
	uint64_t requests, retries, reconnects, sent_bytes, received_bytes;
};

/* Adds what counters() of an open session says. */
void bk_traffic_add(struct bk_traffic *traffic, const struct bk_session_ops *ops,
		    struct bk_session *session);

#endif
