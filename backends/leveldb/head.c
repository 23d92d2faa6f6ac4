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
#include "data.h"
#include "error.h"

#define NUMBER_MAX 10u /* bytes that a number may take */

static char *write_number(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

static char *write_bytes(char *p, struct bk_slice s)
{
	if (s.len)
		memcpy(p, s.data, s.len);
	return p + s.len;
}

static char *write_sized(char *p, struct bk_slice s)
{
	return write_bytes(write_number(p, s.len), s);
}

/* What is left to read.  Once something did not fit, `bad` stays and nothing more is taken. */
struct reader {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t take_long_number(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift;

	for (shift = 0; r->p < r->end && shift < 64; shift += 7) {
		v |= (uint64_t)(*r->p & 0x7f) << shift;
		if (!(*r->p++ & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

static inline uint64_t take_number(struct reader *r)
{
	if (r->p < r->end && !(*r->p & 0x80))
		return *r->p++;
	return take_long_number(r);
}

static inline struct bk_slice take_sized(struct reader *r)
{
	uint64_t len = take_number(r);
	const uint8_t *p = r->p;

	if (len > (uint64_t)(r->end - p)) {
		r->bad = true;
		len = 0;
	}
	r->p = p + len;
	return bk_slice_of(p, (size_t)len);
}

bool ldb_head_read(struct ldb_head *out, struct bk_slice value)
{
	struct reader r = {value.data, (const uint8_t *)value.data + value.len, false};
	uint64_t n;

	if (value.len < 9 || (r.p[0] & ~(LDB_HEAD_SEGMENTS | LDB_HEAD_SPREAD)))
		return false;
	out->flags = r.p[0];
	out->version = (uint64_t)r.p[1] | (uint64_t)r.p[2] << 8 | (uint64_t)r.p[3] << 16 |
		       (uint64_t)r.p[4] << 24 | (uint64_t)r.p[5] << 32 | (uint64_t)r.p[6] << 40 |
		       (uint64_t)r.p[7] << 48 | (uint64_t)r.p[8] << 56;
	r.p += 9;
	out->parent = take_sized(&r);
	out->path = take_sized(&r);
	out->doc_len = take_number(&r);
	n = out->flags & LDB_HEAD_SEGMENTS ? take_number(&r) : 0;
	if (n > UINT32_MAX)
		return false;
	out->segments = (uint32_t)n;
	out->links = bk_slice_of(NULL, 0);
	n = 0;
	if (!(out->flags & LDB_HEAD_SPREAD)) {
		n = take_number(&r);
		out->links = take_sized(&r);
		if (n > out->links.len)
			return false;
	}
	out->link_count = (size_t)n;
	out->doc = bk_slice_of(r.p, (size_t)(r.end - r.p));
	if (r.bad)
		return false;
	return out->doc.len == (out->flags & LDB_HEAD_SEGMENTS ? 0 : out->doc_len);
}

void ldb_head_write(struct ldb_buf *b, const struct ldb_head *h)
{
	size_t room = 9 + 6 * NUMBER_MAX + h->parent.len + h->path.len + h->links.len + h->doc.len;
	char *p;
	int i;

	ldb_buf_reset(b);
	if (b->cap < room && !ldb_buf_reserve(b, room))
		return;
	p = b->data;
	*p++ = (char)h->flags;
	for (i = 0; i < 8; i++)
		*p++ = (char)(h->version >> 8 * i);
	p = write_sized(write_sized(p, h->parent), h->path);
	p = write_number(p, h->doc_len);
	if (h->flags & LDB_HEAD_SEGMENTS)
		p = write_number(p, h->segments);
	if (!(h->flags & LDB_HEAD_SPREAD))
		p = write_sized(write_number(p, h->link_count), h->links);
	if (!(h->flags & LDB_HEAD_SEGMENTS))
		p = write_bytes(p, h->doc);
	b->len = (size_t)(p - b->data);
}

void ldb_head_add_link(struct ldb_buf *b, const struct bk_link *link)
{
	size_t room = 2 * NUMBER_MAX + link->rel.len + link->target.len;
	char *p;

	if (b->cap - b->len < room && !ldb_buf_reserve(b, room))
		return;
	p = write_sized(write_sized(b->data + b->len, link->rel), link->target);
	b->len = (size_t)(p - b->data);
}

bool ldb_head_links(const struct ldb_head *h, struct bk_link *out)
{
	struct reader r = {h->links.data, (const uint8_t *)h->links.data + h->links.len, false};
	size_t i;

	for (i = 0; i < h->link_count; i++) {
		out[i].rel = take_sized(&r);
		out[i].target = take_sized(&r);
	}
	return !r.bad && r.p == r.end;
}

bk_status ldb_head_corrupt(struct bk_error *err, struct bk_slice id)
{
	char text[LDB_NAME_TEXT];

	return bk_fail(err, BK_CORRUPT, 0, "the entry of node '%s' does not check out",
		       ldb_name(text, id));
}
