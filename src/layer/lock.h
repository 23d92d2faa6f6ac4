/*
 * lock.h - the parts of the lock layer.
 *
 * The one invariant: see lock.c.
 */
#ifndef BK_LAYER_LOCK_H
#define BK_LAYER_LOCK_H

#include "layer/pass.h"

#include <pthread.h>

struct bk_store {
	struct bk_pass_store pass;
	pthread_mutex_t lock;
};

struct bk_cursor {
	struct bk_session *session;
	struct bk_cursor *c;
};

struct bk_writer {
	struct bk_session *session;
	struct bk_writer *w;
};

struct bk_reader {
	struct bk_session *session;
	struct bk_reader *r;
};

struct bk_session {
	struct bk_pass_session pass;
	pthread_mutex_t *lock; /* the store's */
	struct bk_cursor cursor;
	struct bk_writer writer;
	struct bk_reader reader;
};

/* bk_lock_enter(l); return bk_lock_leave(l, call); */
static inline void bk_lock_enter(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
}

static inline bk_status bk_lock_leave(pthread_mutex_t *lock, bk_status st)
{
	pthread_mutex_unlock(lock);
	return st;
}

extern const struct bk_node_ops bk_lock_node_ops;     /* lock_data.c */
extern const struct bk_binary_ops bk_lock_binary_ops; /* lock_data.c */

#endif
