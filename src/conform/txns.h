/*
 * txns.h - begin, commit and rollback as the cases call them.
 */
#ifndef BK_CONFORM_TXNS_H
#define BK_CONFORM_TXNS_H

#include "conform/nodes.h"

/* begin() at the store's own isolation; the one in force must be named. */
void bk_t_begin(struct bk_box *b, struct bk_at at, uint32_t flags);
/* begin() at `wanted`; false when that is UNSUPPORTED. */
bool bk_t_begin_at(struct bk_box *b, struct bk_at at, uint32_t wanted, uint32_t flags);

#define BEGIN(b)    bk_t_begin(b, AT, 0)
#define COMMIT(b)   WANT((b)->t, BK_OK, (b)->ops->txn.commit((b)->s, E))
#define ROLLBACK(b) WANT((b)->t, BK_OK, (b)->ops->txn.rollback((b)->s, E))

#endif
