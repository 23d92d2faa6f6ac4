/*
 * rel_bulk.h - creating many nodes of the relational layout at once: what put_many is made of.
 */
#ifndef BK_PG_REL_BULK_H
#define BK_PG_REL_BULK_H

#include "pg.h"

/* A parent that stands earlier in the batch need not be looked up; any other must be stored. */
enum bulk_parent { BULK_EARLIER, BULK_LATER, BULK_OUTSIDE };
enum bulk_parent bulk_parent_of(const struct pg_map *map, const struct bk_node *nodes, size_t i);

/* Id to the first index, in session->map. */
void bulk_map_ids(struct bk_session *s, const struct bk_node *nodes, size_t n);
/* Queue all of it; `item` is what a failure bears. */
void bulk_queue_create(struct bk_session *s, const struct bk_node *nodes, size_t n, uint64_t item);
/* Send all of it by COPY and wait.  Inside a transaction or a savepoint only: it is several
 * commands. */
bk_status bulk_copy(struct bk_session *s, const struct bk_node *nodes, size_t n,
		    struct bk_error *err);

#endif
