/*
 * head.c - a node's own entry.
 *
 *   flags      1 byte    SEGMENTS, SPREAD
 *   version    8 bytes   little-endian
 *   parent     length, bytes
 *   path       length, bytes
 *   doc_len    number    of the whole document, wherever it stands
 *   segments   number    with SEGMENTS only: how many have been written
 *   links      number of links, length in bytes, then relation and target each behind its length;
 *              sorted; without SPREAD only
 *   doc        to the end; without SEGMENTS only
 *
 * Numbers and lengths are seven bits a byte, low ones first.  What comes in from disk is checked
 * in full: a length that points outside is corruption, not a crash.
 */
#include "ldb.h"

static void add_number(struct ldb_buf *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	while (v >= 0x80) {
		bytes[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	bytes[n++] = (uint8_t)v;
	ldb_buf_add(b, bytes, n);
}

static void add_sized(struct ldb_buf *b, struct bk_slice s)
{
	add_number(b, s.len);
	ldb_buf_add(b, s.data, s.len);
}

static bool take_number(struct bk_slice *rest, uint64_t *out)
{
	const uint8_t *p = rest->data;
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < rest->len && i < 10; i++) {
		v |= (uint64_t)(p[i] & 0x7f) << 7 * i;
		if (!(p[i] & 0x80)) {
			*rest = bk_slice_of(p + i + 1, rest->len - i - 1);
			*out = v;
			return true;
		}
	}
	return false;
}

static bool take_bytes(struct bk_slice *rest, uint64_t len, struct bk_slice *out)
{
	const char *p = rest->data;

	if (len > rest->len)
		return false;
	*out = bk_slice_of(p, (size_t)len);
	*rest = bk_slice_of(p + len, rest->len - (size_t)len);
	return true;
}

static bool take_sized(struct bk_slice *rest, struct bk_slice *out)
{
	uint64_t len;

	return take_number(rest, &len) && take_bytes(rest, len, out);
}

bool ldb_head_read(struct ldb_head *out, struct bk_slice value)
{
	const uint8_t *p = value.data;
	uint64_t n, count;
	int i;

	if (value.len < 9 || (p[0] & ~(LDB_HEAD_SEGMENTS | LDB_HEAD_SPREAD)))
		return false;
	memset(out, 0, sizeof(*out));
	out->flags = p[0];
	for (i = 8; i >= 1; i--)
		out->version = out->version << 8 | p[i];
	value = bk_slice_of(p + 9, value.len - 9);
	if (!take_sized(&value, &out->parent) || !take_sized(&value, &out->path) ||
	    !take_number(&value, &out->doc_len))
		return false;
	if (out->flags & LDB_HEAD_SEGMENTS) {
		if (!take_number(&value, &n) || n > UINT32_MAX)
			return false;
		out->segments = (uint32_t)n;
	}
	if (!(out->flags & LDB_HEAD_SPREAD)) {
		if (!take_number(&value, &count) || !take_sized(&value, &out->links) ||
		    count > out->links.len)
			return false;
		out->link_count = (size_t)count;
	}
	if (out->flags & LDB_HEAD_SEGMENTS)
		return value.len == 0;
	out->doc = value;
	return value.len == out->doc_len;
}

void ldb_head_write(struct ldb_buf *b, const struct ldb_head *h)
{
	uint8_t front[9] = {(uint8_t)h->flags};
	int i;

	for (i = 0; i < 8; i++)
		front[1 + i] = (uint8_t)(h->version >> 8 * i);
	ldb_buf_reset(b);
	ldb_buf_add(b, front, sizeof(front));
	add_sized(b, h->parent);
	add_sized(b, h->path);
	add_number(b, h->doc_len);
	if (h->flags & LDB_HEAD_SEGMENTS)
		add_number(b, h->segments);
	if (!(h->flags & LDB_HEAD_SPREAD)) {
		add_number(b, h->link_count);
		add_sized(b, h->links);
	}
	if (!(h->flags & LDB_HEAD_SEGMENTS))
		ldb_buf_add(b, h->doc.data, h->doc.len);
}

void ldb_head_add_link(struct ldb_buf *b, const struct bk_link *link)
{
	add_sized(b, link->rel);
	add_sized(b, link->target);
}

bool ldb_head_take_link(struct bk_slice *rest, struct bk_link *out)
{
	return take_sized(rest, &out->rel) && take_sized(rest, &out->target);
}

bk_status ldb_head_corrupt(struct bk_error *err, struct bk_slice id)
{
	char text[LDB_NAME_TEXT];

	return bk_fail(err, BK_CORRUPT, 0, "the entry of node '%s' does not check out",
		       ldb_name(text, id));
}
