/*
 * read.c - get and find.
 *
 * One lookup reads a node: parent, path, links and a document of ordinary size stand in its entry,
 * and what the caller sees lies in the memory that LevelDB handed out.  Only long documents and
 * long sets of links take a scan, and then everything is read through one iterator, which is one
 * moment in the store's life.
 */
#include "ldb.h"

/* The segments of a document, one behind the other, in s->lent->doc. */
static bk_status read_segments(struct bk_session *s, struct ldb_iter *it, const struct ldb_head *h,
			       struct bk_slice id, struct bk_error *err)
{
	bk_status status;

	ldb_buf_reset(&s->lent->doc);
	ldb_key_prefix(&s->key, LDB_KEY_SEGMENT, id);
	if (s->key.failed || h->doc_len > SIZE_MAX || !ldb_buf_reserve(&s->lent->doc, h->doc_len))
		return ldb_nomem(err);
	s->requests++;
	for (ldb_iter_seek(it, ldb_buf_slice(&s->key), s->key.len); it->valid; ldb_iter_next(it))
		ldb_buf_add(&s->lent->doc, it->value.data, it->value.len);
	status = ldb_iter_status(it, s->store, err);
	if (status == BK_OK && s->lent->doc.failed)
		status = ldb_nomem(err);
	if (status == BK_OK && s->lent->doc.len != h->doc_len)
		status = ldb_head_corrupt(err, id);
	return status;
}

bool ldb_is_spread(const struct ldb_head *h, uint32_t want)
{
	return ((want & BK_WANT_DOC) && (h->flags & LDB_HEAD_SEGMENTS)) ||
	       ((want & BK_WANT_LINKS) && (h->flags & LDB_HEAD_SPREAD));
}

bk_status ldb_fill_node(struct bk_node *out, const struct ldb_head *h, struct ldb_links *links,
			struct bk_slice id, uint32_t want, struct bk_error *err)
{
	if ((want & BK_WANT_LINKS) && !(h->flags & LDB_HEAD_SPREAD)) {
		bk_status status = ldb_links_from_head(links, h, id, err);

		if (status != BK_OK)
			return status;
	}
	memset(out, 0, sizeof(*out));
	out->id = id;
	out->version = h->version;
	if (want & BK_WANT_PATH) {
		out->parent = h->parent;
		out->path = h->path;
	}
	if (want & BK_WANT_DOC)
		out->doc = h->doc;
	if (want & BK_WANT_LINKS) {
		out->links = links->v;
		out->link_count = links->count;
	}
	return BK_OK;
}

bk_status ldb_read_spread(struct bk_session *s, struct ldb_iter *it, struct ldb_head *h,
			  struct ldb_links *links, struct bk_slice id, uint32_t want,
			  struct bk_error *err)
{
	bk_status status = BK_OK;

	if ((want & BK_WANT_DOC) && (h->flags & LDB_HEAD_SEGMENTS)) {
		status = read_segments(s, it, h, id, err);
		h->doc = ldb_buf_slice(&s->lent->doc);
	}
	if (status == BK_OK && (want & BK_WANT_LINKS) && (h->flags & LDB_HEAD_SPREAD))
		status = ldb_scan_links(s, it, links, &s->lent->arena, id, err);
	return status;
}

/* The entry is read once more, through the iterator that reads the rest. */
static bk_status get_spread(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			    uint32_t want, struct bk_error *err)
{
	struct ldb_iter it;
	struct ldb_head h;
	struct bk_slice copy;
	bk_status status;

	ldb_iter_init(&it, ldb_session_view(s));
	s->requests++;
	ldb_key_plain(&s->key, LDB_KEY_NODE, id);
	if (s->key.failed) {
		status = ldb_nomem(err);
	} else if (!ldb_iter_find(&it, ldb_buf_slice(&s->key))) {
		status = ldb_iter_status(&it, s->store, err);
		if (status == BK_OK)
			status = ldb_no_node(err, id);
	} else if (!ldb_arena_copy(&s->lent->arena, &copy, it.value)) {
		status = ldb_nomem(err);
	} else if (!ldb_head_read(&h, copy)) {
		status = ldb_head_corrupt(err, id);
	} else {
		status = ldb_read_spread(s, &it, &h, &s->lent->links, id, want, err);
		if (status == BK_OK)
			status = ldb_fill_node(out, &h, &s->lent->links, id, want, err);
	}
	ldb_iter_free(&it);
	return status;
}

bk_status ldb_node_get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		       struct bk_error *err)
{
	struct ldb_head h;
	bk_status status = ldb_check_name(err, id, "the id");
	int found;

	if (status != BK_OK)
		return status;
	ldb_lent_lapse(s);
	ldb_key_plain(&s->lent->key, LDB_KEY_NODE, id);
	found = ldb_look(s, &s->lent->held, &s->lent->key, err);
	if (found < 0)
		return (bk_status)found;
	if (found == 0)
		return ldb_no_node(err, id);
	if (!ldb_head_read(&h, s->lent->held.bytes))
		return ldb_head_corrupt(err, id);
	id = bk_slice_of(s->lent->key.data + 1, s->lent->key.len - 1);
	s->lent->links.count = 0;
	if (ldb_is_spread(&h, want))
		return get_spread(out, s, id, want, err);
	return ldb_fill_node(out, &h, &s->lent->links, id, want, err);
}

bk_status ldb_node_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			struct bk_error *err)
{
	char text[LDB_NAME_TEXT];
	bk_status status = ldb_check_path(err, path);
	int found;

	if (status != BK_OK)
		return status;
	ldb_lent_lapse(s);
	ldb_key_plain(&s->key, LDB_KEY_PATH, path);
	found = ldb_look(s, &s->lent->held, &s->key, err);
	if (found < 0)
		return (bk_status)found;
	if (found == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "no node with path '%s'",
			       ldb_name(text, path));
	*id_out = s->lent->held.bytes;
	return BK_OK;
}
