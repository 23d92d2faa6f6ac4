/*
 * key.c - keys.  One letter says what an entry is; README.md draws them all.
 *
 * Inside a key every name but the last stands behind its length in two bytes (big-endian), so that
 * no id is a prefix of another's range, whatever bytes it holds.
 */
#include "ldb.h"

static void start(struct ldb_buf *b, char tag)
{
	ldb_buf_reset(b);
	ldb_buf_add(b, &tag, 1);
}

static void add_sized(struct ldb_buf *b, struct bk_slice name)
{
	const uint8_t len[2] = {(uint8_t)(name.len >> 8), (uint8_t)name.len};

	ldb_buf_add(b, len, 2);
	ldb_buf_add(b, name.data, name.len);
}

void ldb_key_plain(struct ldb_buf *b, char tag, struct bk_slice name)
{
	start(b, tag);
	ldb_buf_add(b, name.data, name.len);
}

void ldb_key_prefix(struct ldb_buf *b, char tag, struct bk_slice name)
{
	start(b, tag);
	add_sized(b, name);
}

void ldb_key_child(struct ldb_buf *b, struct bk_slice parent, struct bk_slice id)
{
	ldb_key_prefix(b, LDB_KEY_CHILD, parent);
	ldb_buf_add(b, id.data, id.len);
}

void ldb_key_link_prefix(struct ldb_buf *b, char tag, struct bk_slice near, struct bk_slice rel)
{
	ldb_key_prefix(b, tag, near);
	if (rel.len)
		add_sized(b, rel);
}

void ldb_key_link(struct ldb_buf *b, char tag, struct bk_slice near, struct bk_slice rel,
		  struct bk_slice far)
{
	ldb_key_prefix(b, tag, near);
	add_sized(b, rel);
	ldb_buf_add(b, far.data, far.len);
}

void ldb_key_segment(struct ldb_buf *b, struct bk_slice id, uint32_t number)
{
	const uint8_t n[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16),
			      (uint8_t)(number >> 8), (uint8_t)number};

	ldb_key_prefix(b, LDB_KEY_SEGMENT, id);
	ldb_buf_add(b, n, 4);
}

bool ldb_key_take(struct bk_slice *rest, struct bk_slice *out)
{
	const uint8_t *p = rest->data;
	size_t len;

	if (rest->len < 2)
		return false;
	len = (size_t)p[0] << 8 | p[1];
	if (rest->len - 2 < len)
		return false;
	*out = bk_slice_of(p + 2, len);
	*rest = bk_slice_of(p + 2 + len, rest->len - 2 - len);
	return true;
}
