/*
 * ops.h - every operation of every table, in one list: where it stands, when it must be there, and
 * the stub that stands in for it.
 *
 * The one invariant: the list is complete; an operation added to the ABI gets its line here.
 */
#ifndef BK_PLUGIN_OPS_H
#define BK_PLUGIN_OPS_H

#include "plugin/plugin.h"

struct bk_op {
	const char *name;   /* "node.get_many" */
	size_t offset;      /* into struct bk_tables */
	uint64_t table_bit; /* the feature that says its table is there; 0: always */
	uint64_t bit;       /* the feature that it is for; 0: its table's */
	void (*stub)(void); /* answers UNSUPPORTED */
	bool optional;      /* may be missing though its table is there */
};
extern const struct bk_op bk_ops[]; /* ends with name NULL */

bool bk_op_is_there(const struct bk_tables *tables, const struct bk_op *op);

/* Every operation that is not there becomes its stub. */
void bk_ops_fill(struct bk_tables *tables);

#endif
