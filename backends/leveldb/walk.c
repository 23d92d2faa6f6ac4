/*
 * walk.c - cursors: pages of hits out of a chain of ranges (walk_step.c).
 *
 * A cursor outside a transaction reads one snapshot from open to close.  Memory is bounded by
 * pages, however many hits there are: each level holds one page of places to go on from.
 */
#include "walk.h"

#include <stdlib.h>

#define STEPS_MAX  1024u
#define PAGE_FIRST 128u /* small, so that the first hit comes early */
#define PAGE_MAX   4096u

bool ldb_cursor_is_open(const struct bk_session *s)
{
	return s->cursor && s->cursor->open;
}

static void free_iters(struct bk_cursor *c)
{
	size_t i;

	for (i = 0; i < c->level_count; i++)
		ldb_iter_free(&c->levels[i].it);
	ldb_iter_free(&c->nodes);
}

void ldb_cursor_cut(struct bk_session *s)
{
	if (!ldb_cursor_is_open(s) || s->cursor->snapshot)
		return;
	free_iters(s->cursor);
	s->cursor->cut = true;
}

static void free_level(struct ldb_level *l)
{
	ldb_iter_free(&l->it);
	ldb_hits_free(&l->feed);
	ldb_buf_free(&l->rel);
}

void ldb_cursor_free(struct bk_cursor *c)
{
	size_t i;

	if (!c)
		return;
	ldb_walk_close(c);
	for (i = 0; i < c->level_cap; i++)
		free_level(&c->levels[i]);
	free(c->levels);
	ldb_hits_free(&c->page);
	ldb_buf_free(&c->scratch);
	if (c->ro)
		leveldb_readoptions_destroy(c->ro);
	free(c);
}

static struct bk_cursor *cursor_of(struct bk_session *s)
{
	if (!s->cursor) {
		s->cursor = calloc(1, sizeof(*s->cursor));
		if (!s->cursor)
			return NULL;
		s->cursor->session = s;
		s->cursor->ro = leveldb_readoptions_create();
		leveldb_readoptions_set_verify_checksums(s->cursor->ro,
							 s->store->opts->verify_checksums);
	}
	return s->cursor;
}

static bool make_levels(struct bk_cursor *c, const struct bk_step *steps, size_t n)
{
	size_t i;

	if (n > c->level_cap) {
		struct ldb_level *levels = realloc(c->levels, n * sizeof(*levels));

		if (!levels)
			return false;
		memset(levels + c->level_cap, 0, (n - c->level_cap) * sizeof(*levels));
		c->levels = levels;
		c->level_cap = n;
	}
	for (i = 0; i < n; i++) {
		struct ldb_level *l = &c->levels[i];

		l->step = steps[i];
		ldb_buf_reset(&l->rel);
		if (steps[i].dir != BK_CHILDREN)
			ldb_buf_add(&l->rel, steps[i].rel.data, steps[i].rel.len);
		if (l->rel.failed)
			return false;
		l->step.rel = ldb_buf_slice(&l->rel);
		l->page = 0;
		l->at = 0;
		l->in_range = false;
		ldb_hits_reset(&l->feed);
	}
	c->level_count = n;
	return true;
}

static bk_status check_steps(struct bk_error *err, const struct bk_step *steps, size_t n)
{
	size_t i;

	if (n == 0)
		return bk_fail(err, BK_INVALID, 0, "a walk needs a step");
	if (n > STEPS_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "a walk of %zu steps; the limit is %u", n,
			       STEPS_MAX);
	for (i = 0; i < n; i++) {
		if (steps[i].dir < BK_CHILDREN || steps[i].dir > BK_IN)
			return bk_fail(err, BK_INVALID, 0, "step %zu: direction %u is unknown", i,
				       steps[i].dir);
		if (steps[i].dir != BK_CHILDREN && steps[i].rel.len > LDB_NAME_MAX)
			return bk_fail(err, BK_TOO_LARGE, 0,
				       "step %zu: the relation has %zu bytes; the limit is %u", i,
				       steps[i].rel.len, LDB_NAME_MAX);
	}
	return BK_OK;
}

static struct ldb_view view_of(struct bk_cursor *c)
{
	struct bk_session *s = c->session;
	struct ldb_view view = ldb_session_view(s);

	if (!s->txn.active) {
		c->snapshot = leveldb_create_snapshot(view.db);
		leveldb_readoptions_set_snapshot(c->ro, c->snapshot);
		view.ro = c->ro;
	}
	return view;
}

bk_status ldb_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			const struct bk_step *steps, size_t n_steps, uint32_t want,
			struct bk_error *err)
{
	bk_status status = ldb_check_name(err, start, "the start's id");
	struct bk_cursor *c = cursor_of(s);
	size_t i;

	if (status == BK_OK)
		status = check_steps(err, steps, n_steps);
	if (status != BK_OK)
		return status;
	if (!c)
		return ldb_nomem(err);
	if (c->open)
		return bk_fail(err, BK_STATE, 0, "a cursor is open already");
	ldb_buf_reset(&c->scratch);
	ldb_buf_add(&c->scratch, start.data, start.len);
	if (c->scratch.failed || !make_levels(c, steps, n_steps) ||
	    !ldb_hits_add(&c->levels[0].feed, ldb_buf_slice(&c->scratch)))
		return ldb_nomem(err);
	ldb_hits_reset(&c->page);
	c->want = want;
	c->at = 0;
	c->end = false;
	c->cut = false;
	c->view = view_of(c);
	for (i = 0; i < n_steps; i++)
		ldb_iter_init(&c->levels[i].it, c->view);
	ldb_iter_init(&c->nodes, c->view);
	c->page_size = c->view.overlay ? 1 : PAGE_FIRST;
	c->open = true;
	atomic_fetch_add(&s->store->pinned, 1);
	/* Only in-links can lead on from a node that is not there. */
	if (steps[0].dir == BK_IN)
		status = ldb_hits_existing(c, &c->levels[0].feed, false, err);
	if (status != BK_OK)
		ldb_walk_close(c);
	else
		*out = c;
	return status;
}

/* Paths for the hits of a page, and away with those that lead nowhere. */
static bk_status resolve(struct bk_cursor *c, struct bk_error *err)
{
	uint32_t dir = c->levels[c->level_count - 1].step.dir;
	bool want_path = (c->want & BK_WANT_PATH) != 0;

	if (dir == BK_OUT || (dir == BK_IN && want_path))
		return ldb_hits_existing(c, &c->page, want_path, err);
	return BK_OK;
}

static bk_status next_page(struct bk_cursor *c, size_t cap, struct bk_error *err)
{
	/* What the transaction writes between two pages must show: nothing is read ahead. */
	size_t size = c->view.overlay ? cap : c->page_size;
	bk_status status = BK_OK;

	if (c->view.overlay)
		status = ldb_levels_again(c, err);
	do {
		if (status != BK_OK)
			return status;
		ldb_hits_reset(&c->page);
		c->at = 0;
		status = ldb_level_pull(c, c->level_count - 1, &c->page, size, err);
		if (status == BK_OK && c->page.count == 0)
			c->end = true;
		else if (status == BK_OK)
			status = resolve(c, err);
	} while (status != BK_OK || (c->page.count == 0 && !c->end));
	c->page_size = ldb_page_after(c->page_size, PAGE_FIRST, PAGE_MAX);
	return status;
}

bk_status ldb_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			struct bk_error *err)
{
	size_t count;
	bk_status status = BK_OK;

	if (!c->open || c->cut)
		return bk_fail(err, BK_STATE, 0, "the cursor %s",
			       c->open ? "was left open by a transaction that has ended"
				       : "is closed");
	if (cap == 0)
		return bk_fail(err, BK_INVALID, 0, "no room for a hit");
	if (c->at == c->page.count && !c->end)
		status = next_page(c, cap, err);
	if (status != BK_OK)
		return status;
	count = c->page.count - c->at;
	if (count > cap)
		count = cap;
	if (count)
		memcpy(out, c->page.v + c->at, count * sizeof(*out));
	c->at += count;
	*n = count;
	return count ? BK_OK : BK_END;
}

void ldb_walk_close(struct bk_cursor *c)
{
	if (!c || !c->open)
		return;
	free_iters(c);
	if (c->snapshot) {
		leveldb_readoptions_set_snapshot(c->ro, NULL);
		leveldb_release_snapshot(c->view.db, c->snapshot);
		c->snapshot = NULL;
	}
	c->open = false;
	atomic_fetch_sub(&c->session->store->pinned, 1);
}
