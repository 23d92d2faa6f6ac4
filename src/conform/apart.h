/*
 * apart.h - a part of a case in a process of its own.
 *
 * A store's library may keep a thread of its own once a store has been opened.  A process that is
 * then forked has the library's memory and not its thread, and waits for ever when that is needed
 * (a compaction that is due).  So a case that forks writers opens no store itself: it has that done
 * apart.
 */
#ifndef BK_CONFORM_APART_H
#define BK_CONFORM_APART_H

#include "conform/test.h"

/* Runs fn(t, ctx) in a child and waits for it.  A check that fails there, a skip or a signal ends
 * the case as it would here.  Stores that it opened are to be shut by it. */
void bk_test_apart(struct bk_test *t, void (*fn)(struct bk_test *t, void *ctx), void *ctx);

/* `size` bytes of zeros that what runs apart and the case both see; until the case ends. */
void *bk_test_shared(struct bk_test *t, size_t size);

#endif
