/*
 * read_many.c - get_many: many nodes through one iterator, in the order of their keys.
 *
 * One iterator is one moment of the store, and neighbours share blocks.  What the answer holds is
 * bounded: when a window's documents are too large, it is read again in the caller's order until
 * the bound is reached, because the answer must be a prefix.
 */
#include "ldb.h"

#include <stdlib.h>

#define WINDOW 1024u

struct slot {
	struct bk_slice id;
	uint32_t at;
};

struct ldb_many {
	struct slot order[WINDOW];
	struct ldb_links links;
};

static int slot_cmp(const void *a, const void *b)
{
	return bk_slice_cmp(((const struct slot *)a)->id, ((const struct slot *)b)->id);
}

/* Move what lies in scratch memory to where it can stay. */
static bool keep(struct bk_session *s, struct ldb_head *h, struct ldb_links *links, bool spread,
		 struct bk_node *node)
{
	struct bk_link *copy;

	if (spread && node->doc.data && node->doc.data == s->lent->doc.data &&
	    !ldb_arena_copy(&s->lent->arena, &node->doc, h->doc))
		return false;
	if (!node->link_count)
		return true;
	copy = ldb_arena_alloc(&s->lent->arena, links->count * sizeof(*copy));
	if (!copy)
		return false;
	memcpy(copy, links->v, links->count * sizeof(*copy));
	node->links = copy;
	return true;
}

static bk_status read_one(struct bk_session *s, struct ldb_iter *it, struct bk_node *out,
			  struct bk_slice id, uint32_t want, struct bk_error *err)
{
	struct ldb_links *links = &s->many->links;
	struct bk_node node = {0};
	struct bk_slice copy, key;
	struct ldb_head h;
	bk_status status = BK_OK;
	bool spread;

	s->requests++;
	ldb_key_plain(&s->key, LDB_KEY_NODE, id);
	if (s->key.failed)
		return ldb_nomem(err);
	if (!ldb_iter_find(it, ldb_buf_slice(&s->key))) {
		status = ldb_iter_status(it, s->store, err);
		if (status == BK_OK)
			*out = node;
		return status;
	}
	if (!ldb_arena_copy(&s->lent->arena, &key, it->key) ||
	    !ldb_arena_copy(&s->lent->arena, &copy, it->value))
		return ldb_nomem(err);
	if (!ldb_head_read(&h, copy))
		return ldb_head_corrupt(err, id);
	id = bk_slice_of((const char *)key.data + 1, key.len - 1);
	links->count = 0;
	spread = ldb_is_spread(&h, want);
	if (spread)
		status = ldb_read_spread(s, it, &h, links, id, want, err);
	if (status == BK_OK)
		status = ldb_fill_node(&node, &h, links, id, want, err);
	if (status == BK_OK && !keep(s, &h, links, spread, &node))
		status = ldb_nomem(err);
	if (status == BK_OK)
		*out = node;
	return status;
}

/* *fits: all n are in `out`.  Else it was too much, and `out` is to be read in order. */
static bk_status read_sorted(bool *fits, struct bk_node *out, struct bk_session *s,
			     struct ldb_iter *it, const struct bk_slice *ids, uint32_t n,
			     uint32_t want, struct bk_error *err)
{
	struct slot *order = s->many->order;
	bk_status status = BK_OK;
	uint32_t i;

	for (i = 0; i < n; i++) {
		order[i].id = ids[i];
		order[i].at = i;
	}
	qsort(order, n, sizeof(*order), slot_cmp);
	*fits = true;
	for (i = 0; i < n && status == BK_OK; i++) {
		if (s->lent->arena.used > LDB_VIEWS_MAX) {
			*fits = false;
			break;
		}
		status = read_one(s, it, &out[order[i].at], order[i].id, want, err);
	}
	return status;
}

static bk_status read_in_order(size_t *done, struct bk_node *out, struct bk_session *s,
			       struct ldb_iter *it, const struct bk_slice *ids, uint32_t n,
			       uint32_t want, struct bk_error *err)
{
	bk_status status = BK_OK;
	uint32_t i;

	ldb_arena_reset(&s->lent->arena);
	for (i = 0; i < n && status == BK_OK && s->lent->arena.used <= LDB_VIEWS_MAX; i++)
		status = read_one(s, it, &out[i], ids[i], want, err);
	if (status == BK_OK)
		*done = i;
	return status;
}

bk_status ldb_node_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			    const struct bk_slice *ids, size_t n, uint32_t want,
			    struct bk_error *err)
{
	uint32_t count = n < WINDOW ? (uint32_t)n : WINDOW, i;
	bk_status status = BK_OK;
	struct ldb_iter it;
	bool fits;

	if (n == 0)
		return bk_fail(err, BK_INVALID, 0, "get_many of no ids");
	ldb_lent_lapse(s);
	if (!s->many)
		s->many = calloc(1, sizeof(*s->many));
	if (!s->many)
		return ldb_nomem(err);
	for (i = 0; i < count && status == BK_OK; i++)
		status = ldb_check_name(err, ids[i], "an id");
	if (status != BK_OK)
		return status;
	ldb_iter_init(&it, ldb_session_view(s));
	status = read_sorted(&fits, out, s, &it, ids, count, want, err);
	if (status == BK_OK && fits)
		*done = count;
	else if (status == BK_OK)
		status = read_in_order(done, out, s, &it, ids, count, want, err);
	ldb_iter_free(&it);
	return status;
}

void ldb_many_free(struct ldb_many *many)
{
	if (many)
		ldb_links_free(&many->links);
	free(many);
}
