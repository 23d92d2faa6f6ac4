/*
 * cases.c - the table of groups, in the order in which they run.
 */
#include "conform/case.h"

const struct bk_group *const bk_conform_groups[] = {
	&bk_group_abi,   &bk_group_options, &bk_group_lifecycle, &bk_group_node,
	&bk_group_links, &bk_group_walk,    &bk_group_txn,       &bk_group_binary,
	&bk_group_errors, &bk_group_threads, &bk_group_crash,     &bk_group_model,
	NULL,
};
