/*
 * walk.h - a cursor and its levels: walk.c opens and delivers, walk_step.c goes along.
 */
#ifndef LDB_WALK_H
#define LDB_WALK_H

#include "ldb.h"

struct ldb_hits { /* with the bytes they point to */
	struct bk_hit *v;
	size_t count, cap;
	struct ldb_arena arena;
};

/* One step of the walk: a page of nodes to go on from, and the range of the one being expanded. */
struct ldb_level {
	struct bk_step step;
	struct ldb_buf rel;
	struct ldb_iter it;
	struct ldb_hits feed;
	size_t at;     /* in feed */
	size_t prefix; /* bytes of a key before the relation or child */
	uint32_t page; /* size of the next feed */
	bool in_range;
};

struct bk_cursor {
	struct bk_session *session;
	struct ldb_view view;
	leveldb_readoptions_t *ro;
	const leveldb_snapshot_t *snapshot; /* NULL inside a transaction, which has its own */
	struct ldb_level *levels;
	size_t level_count, level_cap;
	struct ldb_iter nodes; /* for paths, and for whether a target exists */
	struct ldb_hits page;
	size_t at;
	uint32_t page_size;
	struct ldb_buf scratch;
	uint32_t want;
	bool open, end, cut;
};

/* The size of a page after one of `page`: four times as much, up to `max`.  0: none yet. */
uint32_t ldb_page_after(uint32_t page, uint32_t first, uint32_t max);

bool ldb_hits_add(struct ldb_hits *h, struct bk_slice id);
void ldb_hits_reset(struct ldb_hits *h);
void ldb_hits_free(struct ldb_hits *h);

/* Sorts by id and drops what does not exist; fills in paths when asked. */
bk_status ldb_hits_existing(struct bk_cursor *c, struct ldb_hits *h, bool want_path,
			    struct bk_error *err);
/* Adds up to `max` hits of this level to `out`; none: the walk is at its end. */
bk_status ldb_level_pull(struct bk_cursor *c, size_t level, struct ldb_hits *out, size_t max,
			 struct bk_error *err);
/* Inside a transaction, before a page: find every place again, as the overlay may have grown. */
bk_status ldb_levels_again(struct bk_cursor *c, struct bk_error *err);

#endif
