/*
 * child.h - what runs in the process of a case.  Private to process.c.
 */
#ifndef BK_CONFORM_CHILD_H
#define BK_CONFORM_CHILD_H

#include "conform/process.h"

/* Called in the process just forked: runs `what` on the spaces of case `index`, in `folder`, and
 * exits.  What it finds goes through `channel` as struct bk_report. */
_Noreturn void bk_child_run(struct bk_runner *p, const struct bk_case *what, size_t index,
			    const char *folder, int channel);

/* Cases that are in no group.  The probe tells what the store offers; the sweep removes from a
 * server what a case that ended early left there. */
void bk_child_probe(struct bk_test *t);
void bk_child_sweep(struct bk_test *t);

#endif
