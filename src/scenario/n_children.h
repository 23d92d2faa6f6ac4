/*
 * n_children.h - the data set of many children: n-children reads their parent, child-reads each
 * child.
 */
#ifndef BK_SCENARIO_N_CHILDREN_H
#define BK_SCENARIO_N_CHILDREN_H

#include "scenario/reading.h"

#define BK_CHILDREN_PARENT "parent"

uint64_t bk_children_bytes(const struct bk_case *c);
bk_status bk_children_load(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err);
/* The path of child i, into buf; its title is bk_loading_title("Child", i). */
void bk_children_path(struct bk_buf *buf, const struct bk_env *env,
		      const struct bk_hierarchy *hierarchy, uint64_t i);

#endif
