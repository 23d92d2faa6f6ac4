/*
 * workers.h - threads of a case, each with a session of its own.
 *
 * The one invariant: a session is opened, used and closed by one thread.
 */
#ifndef BK_CONFORM_WORKERS_H
#define BK_CONFORM_WORKERS_H

#include "conform/test.h"

struct bk_worker {
	struct bk_box box;
	unsigned index;
	void *shared; /* of the case */
};

/* `n` threads on one store; all have their sessions before the first begins.  Returns when all
 * have ended. */
void bk_test_workers(struct bk_test *t, struct bk_layered *l, unsigned n,
		     void (*fn)(struct bk_worker *w), void *shared);
/* As many as the store's sessions and `most` allow; at least 2. */
unsigned bk_test_worker_count(const struct bk_test *t, unsigned most);

/* One thread beside the case's own, with a session of its own. */
struct bk_aside;
struct bk_aside *bk_test_aside(struct bk_test *t, struct bk_layered *l, uint64_t timeout_ns,
			       void (*fn)(struct bk_worker *w), void *shared);
bool bk_test_aside_done(const struct bk_aside *aside); /* its function has returned */
void bk_test_aside_join(struct bk_aside *aside);

#endif
