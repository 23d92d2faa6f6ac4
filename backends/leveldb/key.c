/*
 * key.c - keys.  One letter says what an entry is; README.md draws them all.
 *
 * Inside a key every name but the last stands behind its length in two bytes (big-endian), so that
 * no id is a prefix of another's range, whatever bytes it holds.
 */
#include "data.h"

/* Room for a whole key, with its tag in place; NULL: out of memory. */
static char *start(struct ldb_buf *b, char tag, size_t len)
{
	ldb_buf_reset(b);
	if (b->cap < len && !ldb_buf_reserve(b, len))
		return NULL;
	b->len = len;
	b->data[0] = tag;
	return b->data + 1;
}

static char *write_bytes(char *p, struct bk_slice name)
{
	if (name.len)
		memcpy(p, name.data, name.len);
	return p + name.len;
}

static char *write_sized(char *p, struct bk_slice name)
{
	p[0] = (char)(name.len >> 8);
	p[1] = (char)name.len;
	return write_bytes(p + 2, name);
}

void ldb_key_prefix(struct ldb_buf *b, char tag, struct bk_slice name)
{
	char *p = start(b, tag, 3 + name.len);

	if (p)
		write_sized(p, name);
}

void ldb_key_child(struct ldb_buf *b, struct bk_slice parent, struct bk_slice id)
{
	char *p = start(b, LDB_KEY_CHILD, 3 + parent.len + id.len);

	if (p)
		write_bytes(write_sized(p, parent), id);
}

void ldb_key_link_prefix(struct ldb_buf *b, char tag, struct bk_slice near, struct bk_slice rel)
{
	char *p = start(b, tag, 3 + near.len + (rel.len ? 2 + rel.len : 0));

	if (!p)
		return;
	p = write_sized(p, near);
	if (rel.len)
		write_sized(p, rel);
}

void ldb_key_link(struct ldb_buf *b, char tag, struct bk_slice near, struct bk_slice rel,
		  struct bk_slice far)
{
	char *p = start(b, tag, 3 + near.len + 2 + rel.len + far.len);

	if (p)
		write_bytes(write_sized(write_sized(p, near), rel), far);
}

void ldb_key_segment(struct ldb_buf *b, struct bk_slice id, uint32_t number)
{
	char *p = start(b, LDB_KEY_SEGMENT, 3 + id.len + 4);
	int i;

	if (!p)
		return;
	p = write_sized(p, id);
	for (i = 0; i < 4; i++)
		p[i] = (char)(number >> (24 - 8 * i));
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
