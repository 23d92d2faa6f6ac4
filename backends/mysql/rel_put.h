/*
 * rel_put.h - a batch of nodes on its way into the relational layout.
 *
 * The one invariant: items[0, count) are distinct ids in the caller's order, and all of them pass
 * before anything of the batch is written.
 */
#ifndef BK_MYSQL_REL_PUT_H
#define BK_MYSQL_REL_PUT_H

#include "rel.h"

struct my_item {
	const struct bk_node *node;
	const struct bk_link **links; /* sorted, each once */
	size_t link_count;
	uint64_t n, parent, old_segs;
	bool create;
};
struct my_batch {
	struct bk_session *s;
	const struct bk_node *nodes;
	struct my_item *items;
	size_t count;
	uint32_t mode;
};

/* rel_plan.c: fills items; on a failure that belongs to one node sets count to its index and
 * answers the failure, so that the nodes before it can still be tried. */
bk_status my_batch_plan(struct my_batch *b, struct bk_error *err);
/* rel_write.c */
bk_status my_batch_write(struct my_batch *b, struct bk_error *err);
/* The item whose id or path somebody else has; count when there is none. */
bk_status my_batch_taken(size_t *out, struct my_batch *b, struct bk_error *err);

/* rel_links.c */
bk_status my_links_sort(struct my_batch *b, struct bk_error *err);
/* Deletes what the replaced nodes no longer have, inserts what is new. */
bk_status my_links_write(struct my_batch *b, struct bk_error *err);

#endif
