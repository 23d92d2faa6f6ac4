/*
 * cases.c - the table of groups, in the order in which they run.
 */
#include "conform/case.h"

#include <stddef.h>

const struct bk_group *const bk_conform_groups[] = {
	&bk_group_abi,
	&bk_group_abi_absent,
	&bk_group_options,
	&bk_group_lifecycle,
	&bk_group_lifecycle_marks,
	&bk_group_lifecycle_life,
	&bk_group_node,
	&bk_group_node_bytes,
	&bk_group_node_many,
	&bk_group_links,
	&bk_group_walk,
	&bk_group_walk_pages,
	&bk_group_txn,
	&bk_group_txn_more,
	&bk_group_binary,
	&bk_group_binary_more,
	&bk_group_errors,
	&bk_group_errors_world,
	&bk_group_threads,
	&bk_group_threads_more,
	&bk_group_crash,
	&bk_group_crash_machine,
	&bk_group_model,
	NULL,
};
