/*
 * data.h - what stands in the database: keys, a node's own entry, sets of links.
 */
#ifndef LDB_DATA_H
#define LDB_DATA_H

#include "buf.h"

/* ---- key.c: keys (README.md draws them) --------------------------------------------- */

#define LDB_KEY_STORE   'm'
#define LDB_KEY_NODE    'n'
#define LDB_KEY_PATH    'p'
#define LDB_KEY_CHILD   'c'
#define LDB_KEY_OUT     'o'
#define LDB_KEY_IN      'i'
#define LDB_KEY_SEGMENT 's'

/* Each resets `b` first. */
static inline void ldb_key_plain(struct ldb_buf *b, char tag, struct bk_slice name)
{
	ldb_buf_reset(b);
	if (b->cap < name.len + 1 && !ldb_buf_reserve(b, name.len + 1))
		return;
	b->data[0] = tag;
	if (name.len)
		memcpy(b->data + 1, name.data, name.len);
	b->len = name.len + 1;
}
void ldb_key_prefix(struct ldb_buf *b, char tag,
		    struct bk_slice name); /* child, out, in, segment */
void ldb_key_child(struct ldb_buf *b, struct bk_slice parent, struct bk_slice id);
/* OUT: near is the source, far the target; IN: the other way round. */
void ldb_key_link(struct ldb_buf *b, char tag, struct bk_slice near, struct bk_slice rel,
		  struct bk_slice far);
void ldb_key_link_prefix(struct ldb_buf *b, char tag, struct bk_slice near, struct bk_slice rel);
void ldb_key_segment(struct ldb_buf *b, struct bk_slice id, uint32_t number);
/* Takes two bytes of length and as many bytes off the front of *rest. */
bool ldb_key_take(struct bk_slice *rest, struct bk_slice *out);

/* ---- head.c: a node's own entry ------------------------------------------------------ */

#define LDB_HEAD_SEGMENTS 1u /* the document stands in segments */
#define LDB_HEAD_SPREAD   2u /* the links stand in the out-range only */

struct ldb_head {
	uint32_t flags;
	uint32_t segments; /* number of the next one */
	uint64_t version, doc_len;
	struct bk_slice parent, path;
	struct bk_slice links; /* encoded, sorted */
	size_t link_count;
	struct bk_slice doc;
};
bool ldb_head_read(struct ldb_head *out, struct bk_slice value);
void ldb_head_write(struct ldb_buf *b, const struct ldb_head *h); /* resets b first */
void ldb_head_add_link(struct ldb_buf *b, const struct bk_link *link);
/* The links that stand in the entry: link_count of them. */
bool ldb_head_links(const struct ldb_head *h, struct bk_link *out);
bk_status ldb_head_corrupt(struct bk_error *err, struct bk_slice id);

/* ---- links.c: sets of links ------------------------------------------------------------ */

struct ldb_links { /* views; sorted in key order and free of duplicates after ldb_links_sort() */
	struct bk_link *v;
	size_t count, cap;
};
int ldb_link_cmp(const struct bk_link *a, const struct bk_link *b);
bool ldb_links_add(struct ldb_links *l, const struct bk_link *links, size_t n);
void ldb_links_sort(struct ldb_links *l);
/* Encodes a sorted set; false: more than `max` bytes. */
bool ldb_links_encode(struct ldb_buf *b, const struct ldb_links *l, size_t max);
bk_status ldb_links_from_head(struct ldb_links *l, const struct ldb_head *h, struct bk_slice id,
			      struct bk_error *err);
void ldb_links_free(struct ldb_links *l);

#endif
