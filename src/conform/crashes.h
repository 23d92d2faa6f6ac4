/*
 * crashes.h - a writer that is killed in mid-work, and what must be left of its work.
 *
 * The one invariant: the writer acknowledges a step only after every call of it has answered OK, so
 * acknowledged steps are there, the one after them may be, and later ones were never begun.
 */
#ifndef BK_CONFORM_CRASHES_H
#define BK_CONFORM_CRASHES_H

#include "conform/binaries.h"
#include "conform/txns.h"

struct bk_crash_plan {
	/* Before each round; may be NULL. */
	void (*prepare)(struct bk_box *b, unsigned round);
	/* Step i of a round, by the writer. */
	bk_status (*step)(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err);
	/* After the round: `acked` steps were acknowledged. */
	void (*check)(struct bk_box *b, unsigned round, unsigned acked);
	unsigned steps_max;
};

/* A few rounds: write, die at a random moment, open again, check this round and those before.  With
 * a way to crash the server, every other round does that instead of killing the writer. */
void bk_test_crash(struct bk_test *t, const struct bk_crash_plan *plan, uint32_t durability);

#endif
