/*
 * write.c - what a put changes, handed to the sink entry by entry.  Nothing is written here: the
 * caller holds the locks, and the sink becomes one WriteBatch, so a node, its path, its place
 * among its parent's children and its links appear together or not at all.
 */
#include "ldb.h"

static void ldb_sink_put(struct bk_session *s, const struct ldb_buf *key, struct bk_slice value)
{
	if (key->failed) {
		s->oom = true;
	} else if (s->sink) {
		ldb_overlay_set(s->sink, ldb_buf_slice(key), value, LDB_ENTRY_PUT);
	} else {
		leveldb_writebatch_put(s->batch, key->data, key->len, value.data, value.len);
		s->batch_bytes += key->len + value.len;
	}
}

void ldb_sink_delete(struct bk_session *s, const struct ldb_buf *key)
{
	if (key->failed) {
		s->oom = true;
	} else if (s->sink) {
		ldb_overlay_set(s->sink, ldb_buf_slice(key), bk_slice_of(NULL, 0),
				LDB_ENTRY_DELETE);
	} else {
		leveldb_writebatch_delete(s->batch, key->data, key->len);
		s->batch_bytes += key->len;
	}
}

void ldb_sink_link(struct bk_session *s, struct bk_slice source, const struct bk_link *link,
		   bool add)
{
	ldb_key_link(&s->key, LDB_KEY_OUT, source, link->rel, link->target);
	if (add)
		ldb_sink_put(s, &s->key, bk_slice_of("", 0));
	else
		ldb_sink_delete(s, &s->key);
	ldb_key_link(&s->key, LDB_KEY_IN, link->target, link->rel, source);
	if (add)
		ldb_sink_put(s, &s->key, bk_slice_of("", 0));
	else
		ldb_sink_delete(s, &s->key);
}

uint32_t ldb_sink_segments(struct bk_session *s, struct bk_slice id, uint32_t number,
			   struct bk_slice doc)
{
	const char *p = doc.data;
	size_t left = doc.len;

	while (left > 0) {
		size_t n = left < LDB_SEGMENT ? left : LDB_SEGMENT;

		ldb_key_segment(&s->key, id, number++);
		ldb_sink_put(s, &s->key, bk_slice_of(p, n));
		p += n;
		left -= n;
	}
	return number;
}

void ldb_sink_head(struct bk_session *s, struct bk_slice id, const struct ldb_head *h)
{
	ldb_head_write(&s->val, h);
	ldb_key_plain(&s->key, LDB_KEY_NODE, id);
	if (s->val.failed)
		s->oom = true;
	else
		ldb_sink_put(s, &s->key, ldb_buf_slice(&s->val));
}

/* The node's own entry, and segments for a long document. */
static void sink_node(struct bk_session *s, const struct bk_node *node,
		      const struct ldb_links *links, uint32_t *segments)
{
	struct ldb_head h = {0};

	h.version = ldb_version_next(s->store);
	h.parent = node->parent;
	h.path = node->path;
	h.doc_len = node->doc.len;
	if (node->doc.len > LDB_INLINE_DOC) {
		h.flags |= LDB_HEAD_SEGMENTS;
		h.segments = ldb_sink_segments(s, node->id, 0, node->doc);
	} else {
		h.doc = node->doc;
	}
	if (ldb_links_encode(&s->enc, links, LDB_INLINE_LINKS)) {
		h.links = ldb_buf_slice(&s->enc);
		h.link_count = links->count;
		s->oom |= s->enc.failed;
	} else {
		h.flags |= LDB_HEAD_SPREAD;
	}
	ldb_sink_head(s, node->id, &h);
	*segments = h.segments;
}

bk_status ldb_old_links(struct bk_session *s, struct ldb_links *out, struct bk_slice id,
			const struct ldb_head *h, struct bk_error *err)
{
	struct ldb_iter it;
	bk_status status;

	out->count = 0;
	if (!(h->flags & LDB_HEAD_SPREAD))
		return ldb_links_from_head(out, h, id, err);
	ldb_iter_init(&it, ldb_session_view(s));
	status = ldb_scan_links(s, &it, out, &s->arena, id, err);
	ldb_iter_free(&it);
	return status;
}

static bk_status create(struct bk_session *s, const struct bk_node *node, struct ldb_hashes hashes,
			struct bk_error *err)
{
	char text[LDB_NAME_TEXT];
	struct ldb_value v = {0};
	uint32_t segments;
	size_t i;
	int found;

	found = s->seen && ldb_seen_path(s->seen)
			? 1
			: ldb_look_path(s, &v, node->path, hashes.path, err);
	ldb_value_free(&v);
	if (found < 0)
		return (bk_status)found;
	if (found)
		return bk_fail(err, BK_EXISTS, 0, "path '%s' is taken", ldb_name(text, node->path));
	if (node->parent.len) {
		found = ldb_look_parent(s, node->parent, err);
		if (found < 0)
			return (bk_status)found;
		if (!found)
			return bk_fail(err, BK_NOT_FOUND, 0, "no parent with id '%s'",
				       ldb_name(text, node->parent));
	}
	sink_node(s, node, &s->links, &segments);
	ldb_key_plain(&s->key, LDB_KEY_PATH, node->path);
	ldb_sink_put(s, &s->key, node->id);
	if (node->parent.len) {
		ldb_key_child(&s->key, node->parent, node->id);
		ldb_sink_put(s, &s->key, node->path);
	}
	for (i = 0; i < s->links.count; i++)
		ldb_sink_link(s, node->id, &s->links.v[i], true);
	return BK_OK;
}

/* Both sets are sorted: only what differs is touched. */
static void sink_link_changes(struct bk_session *s, struct bk_slice id, const struct ldb_links *old,
			      const struct ldb_links *new)
{
	size_t i = 0, j = 0;

	while (i < old->count || j < new->count) {
		int c = i == old->count   ? 1
			: j == new->count ? -1
					  : ldb_link_cmp(&old->v[i], &new->v[j]);

		if (c < 0)
			ldb_sink_link(s, id, &old->v[i], false);
		else if (c > 0)
			ldb_sink_link(s, id, &new->v[j], true);
		i += c <= 0;
		j += c >= 0;
	}
}

static bk_status replace(struct bk_session *s, const struct bk_node *node, struct bk_slice stored,
			 struct bk_error *err)
{
	char text[LDB_NAME_TEXT];
	struct ldb_head old;
	uint32_t segments;
	bk_status status;

	if (!ldb_head_read(&old, stored))
		return ldb_head_corrupt(err, node->id);
	if (node->version && node->version != old.version)
		return bk_fail(err, BK_CONFLICT, 0,
			       "node '%s' has version %llu, not the %llu that was asked for",
			       ldb_name(text, node->id), (unsigned long long)old.version,
			       (unsigned long long)node->version);
	if (!bk_slice_eq(node->parent, old.parent) || !bk_slice_eq(node->path, old.path))
		return bk_fail(err, BK_INVALID, 0, "%s of node '%s' never changes",
			       bk_slice_eq(node->path, old.path) ? "the parent" : "the path",
			       ldb_name(text, node->id));
	status = ldb_old_links(s, &s->old_links, node->id, &old, err);
	if (status != BK_OK)
		return status;
	sink_node(s, node, &s->links, &segments);
	for (; segments < old.segments; segments++) {
		ldb_key_segment(&s->key, node->id, segments);
		ldb_sink_delete(s, &s->key);
	}
	sink_link_changes(s, node->id, &s->old_links, &s->links);
	return BK_OK;
}

bk_status ldb_apply_put(struct bk_session *s, const struct bk_node *node, struct ldb_hashes hashes,
			uint32_t mode, struct bk_error *err)
{
	char text[LDB_NAME_TEXT];
	struct ldb_value v = {0};
	bk_status status;
	int found;

	s->links.count = 0;
	if (!ldb_links_add(&s->links, node->links, node->link_count))
		return ldb_nomem(err);
	ldb_links_sort(&s->links);
	found = ldb_look_node(s, &v, node->id, hashes.id, err);
	if (found < 0)
		return (bk_status)found;
	if (found && !(mode & BK_PUT_REPLACE))
		status = bk_fail(err, BK_EXISTS, 0, "id '%s' is taken", ldb_name(text, node->id));
	else if (found)
		status = replace(s, node, v.bytes, err);
	else if (!(mode & BK_PUT_CREATE))
		status = ldb_no_node(err, node->id);
	else
		status = create(s, node, hashes, err);
	ldb_value_free(&v);
	return status;
}
