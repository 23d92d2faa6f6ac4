/*
 * walks.c - walks, page by page, and comparison of what they reached.
 *
 * The one invariant: hits are compared as multisets; their order means nothing.
 */
#include "conform/nodes.h"

#include <stdlib.h>

#define PATTERN  0x5a
#define CAP_MOST 512

struct bk_step bk_children(void)
{
	struct bk_step step = {bk_slice_of(NULL, 0), BK_CHILDREN, 0};

	return step;
}

static struct bk_step step_along(const char *rel, uint32_t dir)
{
	struct bk_step step = {bk_slice_of(NULL, 0), dir, 0};

	if (rel)
		step.rel = bk_slice_str(rel);
	return step;
}

struct bk_step bk_out(const char *rel)
{
	return step_along(rel, BK_OUT);
}

struct bk_step bk_in(const char *rel)
{
	return step_along(rel, BK_IN);
}

/* ---- Calls -------------------------------------------------------------------------- */

struct bk_cursor *bk_t_walk_open(struct bk_box *b, struct bk_at at, struct bk_slice start,
				 const struct bk_step *steps, size_t n_steps, uint32_t fields)
{
	struct bk_cursor *c = (struct bk_cursor *)b;
	struct bk_error err_;

	bk_test_arm(&err_);
	bk_test_status(b->t, at, "walk_open", ONE(BK_OK),
		       b->ops->node.walk_open(&c, b->s, start, steps, n_steps, fields, E),
		       UINT64_MAX, &err_);
	if (!c || c == (struct bk_cursor *)b)
		bk_test_fail(b->t, at, "walk_open: OK without a cursor");
	return c;
}

void bk_hits_add(struct bk_box *b, struct bk_hits *hits, struct bk_hit hit)
{
	if (hits->count == hits->cap) {
		size_t cap = hits->cap ? hits->cap * 2 : 64;
		struct bk_hit *more = bk_arena_alloc(&b->arena, cap * sizeof(*more));

		if (hits->count)
			memcpy(more, hits->at, hits->count * sizeof(*more));
		hits->at = more;
		hits->cap = cap;
	}
	hit.id = bk_test_copy(&b->arena, hit.id);
	hit.path = bk_test_copy(&b->arena, hit.path);
	hit.rel = bk_test_copy(&b->arena, hit.rel);
	hits->at[hits->count++] = hit;
}

bool bk_t_walk_next(struct bk_box *b, struct bk_at at, struct bk_cursor *c, size_t cap,
		    struct bk_hits *hits)
{
	struct bk_hit page[CAP_MOST];
	struct bk_error err_;
	size_t n = SIZE_MAX, i;
	bk_status st;

	cap = cap > CAP_MOST ? CAP_MOST : cap;
	memset(page, PATTERN, sizeof(page));
	bk_test_arm(&err_);
	st = b->ops->node.walk_next(c, page, cap, &n, E);
	bk_test_status(b->t, at, "walk_next", TWO(BK_OK, BK_END), st, UINT64_MAX, &err_);
	if (st == BK_END) {
		if (n != 0 && n != SIZE_MAX)
			bk_test_fail(b->t, at, "walk_next: END with %zu hits", n);
		return false;
	}
	if (n < 1 || n > cap)
		bk_test_fail(b->t, at, "walk_next: OK with *n %zu, room was for %zu", n, cap);
	for (i = 0; i < n; i++) {
		if (page[i].id.len == 0)
			bk_test_fail(b->t, at, "walk_next: a hit without an id");
		bk_hits_add(b, hits, page[i]);
	}
	return true;
}

void bk_t_walk(struct bk_box *b, struct bk_at at, struct bk_hits *hits, struct bk_slice start,
	       const struct bk_step *steps, size_t n_steps, uint32_t fields, size_t cap)
{
	struct bk_cursor *c;

	memset(hits, 0, sizeof(*hits));
	c = bk_t_walk_open(b, at, start, steps, n_steps, fields);
	while (bk_t_walk_next(b, at, c, cap, hits))
		;
	b->ops->node.walk_close(c);
}

/* ---- Comparing ------------------------------------------------------------------------ */

static int hit_cmp(const void *pa, const void *pb)
{
	const struct bk_hit *a = pa, *b = pb;
	int c = bk_slice_cmp(a->id, b->id);

	if (c == 0)
		c = bk_slice_cmp(a->rel, b->rel);
	return c ? c : bk_slice_cmp(a->path, b->path);
}

static struct bk_hit *hits_sorted(struct bk_box *b, const struct bk_hits *hits, uint32_t fields)
{
	struct bk_hit *list = bk_arena_alloc(&b->arena, (hits->count + 1) * sizeof(*list));
	size_t i;

	for (i = 0; i < hits->count; i++) {
		list[i] = hits->at[i];
		if (!(fields & BK_WANT_PATH))
			list[i].path = bk_slice_of(NULL, 0);
	}
	qsort(list, hits->count, sizeof(*list), hit_cmp);
	return list;
}

static const char *hit_show(struct bk_box *b, const struct bk_hit *hit)
{
	return bk_arena_printf(&b->arena, "%s by %s with path %s", bk_test_show(&b->arena, hit->id),
			       bk_test_show(&b->arena, hit->rel),
			       bk_test_show(&b->arena, hit->path));
}

void bk_t_hits(struct bk_box *b, struct bk_at at, const struct bk_hits *want,
	       const struct bk_hits *got, uint32_t fields)
{
	struct bk_hit *w = hits_sorted(b, want, fields), *g = hits_sorted(b, got, BK_WANT_PATH);
	size_t i;

	for (i = 0; i < want->count && i < got->count; i++) {
		int c = hit_cmp(&w[i], &g[i]);

		if (c < 0)
			break;
		if (c > 0)
			bk_test_fail(b->t, at,
				     "the walk reaches %s, which it should not (or not again)",
				     hit_show(b, &g[i]));
	}
	if (i < want->count)
		bk_test_fail(b->t, at, "the walk misses %s (%zu hits, should be %zu)",
			     hit_show(b, &w[i]), got->count, want->count);
	if (i < got->count)
		bk_test_fail(b->t, at, "the walk reaches %s too (%zu hits, should be %zu)",
			     hit_show(b, &g[i]), got->count, want->count);
}

void bk_t_hits_named(struct bk_box *b, struct bk_at at, const struct bk_hits *got,
		     const char *names)
{
	char *copy = bk_arena_strdup(&b->arena, names), *save = NULL, *word;
	struct bk_hits want;

	memset(&want, 0, sizeof(want));
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *sep = strchr(word, '>');
		struct bk_hit hit;

		memset(&hit, 0, sizeof(hit));
		if (sep) {
			*sep = '\0';
			hit.rel = bk_slice_str(word);
			word = sep + 1;
		}
		hit.id = bk_id_named(b, "%s", word);
		bk_hits_add(b, &want, hit);
	}
	bk_t_hits(b, at, &want, got, 0);
}

void bk_t_reaches(struct bk_box *b, struct bk_at at, struct bk_slice start, struct bk_step step,
		  const char *names)
{
	struct bk_hits hits;

	bk_t_walk(b, at, &hits, start, &step, 1, 0, 64);
	bk_t_hits_named(b, at, &hits, names);
}
