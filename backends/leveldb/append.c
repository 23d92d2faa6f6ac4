/*
 * append.c - what an append changes.
 *
 * LevelDB has no merge, so a growing document becomes a row of segments under rising numbers: an
 * append writes its tail, its links and the node's small entry, however long the document is.
 * Only while all of it is tiny does it stay in the entry, so that short nodes are read at once.
 */
#include "ldb.h"

static void grow_doc(struct bk_session *s, struct ldb_head *h, struct bk_slice id,
		     struct bk_slice tail)
{
	if (!(h->flags & LDB_HEAD_SEGMENTS)) {
		if (h->doc_len + tail.len <= LDB_INLINE_APPEND) {
			ldb_buf_reset(&s->grown);
			ldb_buf_add(&s->grown, h->doc.data, h->doc.len);
			ldb_buf_add(&s->grown, tail.data, tail.len);
			s->oom |= s->grown.failed;
			h->doc = ldb_buf_slice(&s->grown);
			h->doc_len = h->doc.len;
			return;
		}
		h->flags |= LDB_HEAD_SEGMENTS;
		h->segments = ldb_sink_segments(s, id, 0, h->doc);
	}
	h->segments = ldb_sink_segments(s, id, h->segments, tail);
	h->doc_len += tail.len;
}

/* s->links: the links to add, sorted. */
static bk_status grow_links(struct bk_session *s, struct ldb_head *h, struct bk_slice id,
			    struct bk_error *err)
{
	bk_status status;
	size_t i;

	for (i = 0; i < s->links.count; i++)
		ldb_sink_link(s, id, &s->links.v[i], true);
	if (h->flags & LDB_HEAD_SPREAD)
		return BK_OK;
	status = ldb_links_from_head(&s->links, h, id, err);
	if (status != BK_OK)
		return status;
	ldb_links_sort(&s->links);
	if (!ldb_links_encode(&s->enc, &s->links, LDB_INLINE_APPEND)) {
		h->flags |= LDB_HEAD_SPREAD;
		return BK_OK;
	}
	s->oom |= s->enc.failed;
	h->links = ldb_buf_slice(&s->enc);
	h->link_count = s->links.count;
	return BK_OK;
}

bk_status ldb_apply_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			   const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	char text[LDB_NAME_TEXT];
	struct ldb_value v = {0};
	struct ldb_head h;
	bk_status status = BK_OK;
	int found;

	s->links.count = 0;
	if (!ldb_links_add(&s->links, links, link_count))
		return ldb_nomem(err);
	ldb_links_sort(&s->links);
	found = ldb_look_node(s, &v, id, ldb_hash(LDB_KEY_NODE, id), err);
	if (found < 0)
		return (bk_status)found;
	if (!found)
		return ldb_no_node(err, id);
	if (!ldb_head_read(&h, v.bytes))
		status = ldb_head_corrupt(err, id);
	else if (h.doc_len + tail.len > LDB_DOC_MAX)
		status = bk_fail(err, BK_TOO_LARGE, 0,
				 "the document of node '%s' would have %llu bytes; the limit is %u",
				 ldb_name(text, id), (unsigned long long)(h.doc_len + tail.len),
				 LDB_DOC_MAX);
	if (status == BK_OK) {
		grow_doc(s, &h, id, tail);
		status = grow_links(s, &h, id, err);
	}
	if (status == BK_OK) {
		h.version = ldb_version_next(s->store);
		ldb_sink_head(s, id, &h);
	}
	ldb_value_free(&v);
	return status;
}
