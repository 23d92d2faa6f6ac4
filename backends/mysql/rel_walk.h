/*
 * rel_walk.h - a walk's state, and the statements that it is made of.
 *
 * The one invariant: at[] is the way to the last hit that was read.
 */
#ifndef BK_MYSQL_REL_WALK_H
#define BK_MYSQL_REL_WALK_H

#include "rel.h"

/* Where one step stands: its row's place in the index, and the node that it reached. */
struct place {
	struct my_buf rel, target; /* OUT: (rel, target); IN: (rel, n) */
	uint64_t n;                /* the node reached; CHILDREN, IN: part of the order too */
};

struct my_hit {
	struct bk_slice id, path, rel;
};

struct my_walk {
	struct bk_session *s;
	struct bk_step *steps; /* owned, with their relations */
	char *start;
	size_t start_len, n_steps;
	uint32_t want;
	struct place *at; /* of the last hit, one a step */
	char **texts;     /* [level]: continues below; [n_steps]: the first page */
	size_t level;     /* steps [0, level) are fixed; n_steps: not begun */
	bool begun, ended;
	size_t page; /* rows to ask for */
	struct my_hit *hits;
	size_t hit_count, hit_next;
};

/* Any relation: the index's order then begins with the relation. */
static inline bool my_step_any(const struct bk_step *step)
{
	return step->dir != BK_CHILDREN && step->rel.len == 0;
}

/* rel_walk_text.c: goes on from step `first`; `bound`: behind the last hit's row of that step.
 * The caller frees it; NULL: out of memory. */
char *my_walk_text(const struct my_walk *c, size_t first, bool bound);
/* Kinds of its columns, for my_rows(); out has room for MY_COLUMNS + 1. */
void my_walk_columns(char *out, const struct my_walk *c, size_t first);

#endif
