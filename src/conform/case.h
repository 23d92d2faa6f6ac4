/*
 * case.h - what a case and a group are; the table of all groups.
 *
 * The one invariant: a case is a const descriptor and a function; all state hangs on bk_test.
 */
#ifndef BK_CONFORM_CASE_H
#define BK_CONFORM_CASE_H

#include <stddef.h>
#include <stdint.h>

struct bk_test;

#define BK_CASE_TWO     (1u << 0) /* needs two sessions at once */
#define BK_CASE_THREADS (1u << 1) /* the same, from threads of their own */
#define BK_CASE_FOLDER  (1u << 2) /* needs a store that lives in a folder of ours */
#define BK_CASE_FREE_ID (1u << 3) /* needs ids that are not paths */

struct bk_case {
	const char *name; /* without its group */
	const char *what; /* one line: what it shows */
	void (*fn)(struct bk_test *t);
	uint64_t needs; /* BK_F_*: in force, looped ones included */
	uint64_t own;   /* BK_F_*: the backend's own, native or emulated */
	uint64_t lacks; /* BK_F_*: must not be the backend's own */
	uint32_t flags; /* BK_CASE_* */
};

struct bk_group {
	const char *name;
	const struct bk_case *cases; /* ends with name NULL */
};

extern const struct bk_group *const bk_conform_groups[]; /* ends with NULL */

/* A group may be spread over several tables of the same name. */
extern const struct bk_group bk_group_abi, bk_group_abi_absent, bk_group_options,
	bk_group_lifecycle, bk_group_lifecycle_marks, bk_group_lifecycle_life, bk_group_node,
	bk_group_node_bytes, bk_group_node_many, bk_group_links, bk_group_walk, bk_group_walk_pages,
	bk_group_txn, bk_group_txn_more, bk_group_binary, bk_group_binary_more, bk_group_errors,
	bk_group_errors_world, bk_group_threads, bk_group_threads_more, bk_group_crash,
	bk_group_crash_machine, bk_group_model;

#endif
