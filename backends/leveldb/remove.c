/*
 * remove.c - what a removal changes: the node's entry, its path, its place among its parent's
 * children, its out-links with their other ends, its segments.  Links that point at it stay.
 */
#include "ldb.h"

static bk_status sink_removal(struct bk_session *s, struct bk_slice id, const struct ldb_head *h,
			      struct bk_error *err)
{
	bk_status status = ldb_old_links(s, &s->old_links, id, h, err);
	uint32_t n;
	size_t i;

	if (status != BK_OK)
		return status;
	ldb_key_plain(&s->key, LDB_KEY_NODE, id);
	ldb_sink_delete(s, &s->key);
	ldb_key_plain(&s->key, LDB_KEY_PATH, h->path);
	ldb_sink_delete(s, &s->key);
	if (h->parent.len) {
		ldb_key_child(&s->key, h->parent, id);
		ldb_sink_delete(s, &s->key);
	}
	for (i = 0; i < s->old_links.count; i++)
		ldb_sink_link(s, id, &s->old_links.v[i], false);
	for (n = 0; n < h->segments; n++) {
		ldb_key_segment(&s->key, id, n);
		ldb_sink_delete(s, &s->key);
	}
	return BK_OK;
}

bk_status ldb_apply_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	char text[LDB_NAME_TEXT];
	struct ldb_value v = {0};
	struct ldb_head h;
	bool children = false;
	bk_status status;
	int found = ldb_look_node(s, &v, id, ldb_hash(LDB_KEY_NODE, id), err);

	if (found < 0)
		return (bk_status)found;
	if (!found)
		return ldb_no_node(err, id);
	status = ldb_has_children(s, &children, id, err);
	if (status == BK_OK && children)
		status = bk_fail(err, BK_IN_USE, 0, "node '%s' still has children",
				 ldb_name(text, id));
	if (status == BK_OK && !ldb_head_read(&h, v.bytes))
		status = ldb_head_corrupt(err, id);
	if (status == BK_OK)
		status = sink_removal(s, id, &h, err);
	ldb_value_free(&v);
	return status;
}
