/*
 * links.c - sets of links.  A sorted set is in the order of its keys in the out-range, so that the
 * set given and the set stored can be compared in one pass.
 */
#include "data.h"
#include "error.h"

#include <stdlib.h>

static int sized_cmp(struct bk_slice a, struct bk_slice b)
{
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return a.len ? memcmp(a.data, b.data, a.len) : 0;
}

int ldb_link_cmp(const struct bk_link *a, const struct bk_link *b)
{
	int c = sized_cmp(a->rel, b->rel);

	return c ? c : bk_slice_cmp(a->target, b->target);
}

static int link_cmp(const void *a, const void *b)
{
	return ldb_link_cmp(a, b);
}

static bool ldb_links_room(struct ldb_links *l, size_t n)
{
	size_t cap = l->cap ? l->cap : 16;
	struct bk_link *v;

	if (l->cap - l->count >= n)
		return true;
	while (cap - l->count < n)
		cap *= 2;
	v = realloc(l->v, cap * sizeof(*v));
	if (!v)
		return false;
	l->v = v;
	l->cap = cap;
	return true;
}

bool ldb_links_add(struct ldb_links *l, const struct bk_link *links, size_t n)
{
	if (!ldb_links_room(l, n))
		return false;
	if (n)
		memcpy(l->v + l->count, links, n * sizeof(*links));
	l->count += n;
	return true;
}

void ldb_links_sort(struct ldb_links *l)
{
	size_t i, kept = 1;

	if (l->count < 2)
		return;
	qsort(l->v, l->count, sizeof(*l->v), link_cmp);
	for (i = 1; i < l->count; i++) {
		if (ldb_link_cmp(&l->v[kept - 1], &l->v[i]) != 0)
			l->v[kept++] = l->v[i];
	}
	l->count = kept;
}

bool ldb_links_encode(struct ldb_buf *b, const struct ldb_links *l, size_t max)
{
	size_t i;

	ldb_buf_reset(b);
	for (i = 0; i < l->count; i++) {
		if (b->len + l->v[i].rel.len + l->v[i].target.len > max)
			return false;
		ldb_head_add_link(b, &l->v[i]);
	}
	return true;
}

bk_status ldb_links_from_head(struct ldb_links *l, const struct ldb_head *h, struct bk_slice id,
			      struct bk_error *err)
{
	if (!ldb_links_room(l, h->link_count))
		return ldb_nomem(err);
	if (!ldb_head_links(h, l->v + l->count))
		return ldb_head_corrupt(err, id);
	l->count += h->link_count;
	return BK_OK;
}

void ldb_links_free(struct ldb_links *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
