/*
 * links.c - a set of links made of what the caller gave.
 *
 * The one invariant: in s->links, links to one target stand together, and none is there twice.
 */
#include "node.h"

#include <stdlib.h>

static int links_cmp(const void *a, const void *b)
{
	const struct bk_link *x = a, *y = b;
	int c = bk_slice_cmp(x->target, y->target);

	return c ? c : bk_slice_cmp(x->rel, y->rel);
}

static bk_status links_check(const struct bk_link *link, struct bk_error *err)
{
	if (link->rel.len == 0 || link->target.len == 0)
		return bk_fail(err, BK_INVALID, 0, "a link has an empty %s",
			       link->rel.len ? "target" : "relation");
	if (link->rel.len > FILE_REL_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "a relation has %zu bytes, at most %u are allowed", link->rel.len,
			       FILE_REL_MAX);
	return file_check_id(link->target, err);
}

bk_status file_links_take(struct bk_session *s, const struct bk_link *links, size_t count,
			  size_t *n, struct bk_error *err)
{
	size_t kept = 0;

	if (count > s->link_cap) {
		struct bk_link *more = realloc(s->links, count * sizeof(*more));

		if (!more)
			return bk_fail(err, BK_NOMEM, 0, "out of memory for %zu links", count);
		s->links = more;
		s->link_cap = count;
	}
	for (size_t i = 0; i < count; i++) {
		bk_status status = links_check(&links[i], err);

		if (status != BK_OK)
			return status;
		s->links[i] = links[i];
	}
	if (count > 1)
		qsort(s->links, count, sizeof(*s->links), links_cmp);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || links_cmp(&s->links[kept - 1], &s->links[i]) != 0)
			s->links[kept++] = s->links[i];
	}
	*n = kept;
	return BK_OK;
}

bool file_links_have(const struct bk_link *sorted, size_t n, const struct bk_link *link)
{
	return n && bsearch(link, sorted, n, sizeof(*sorted), links_cmp) != NULL;
}

void file_links_stripes(struct file_stripes *set, const struct bk_link *links, size_t n)
{
	for (size_t i = 0; i < n; i++)
		file_stripes_add(set, links[i].target);
}
