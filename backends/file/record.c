/*
 * record.c - the records of a node's file, written and read; see record.h.
 *
 * The one invariant: the parser believes no length before it has compared it with what is left.
 */
#include "record.h"

#include "hash.h"

#include <stdlib.h>

#define BUF_KEEP ((size_t)16 << 20)

bool file_buf_room(struct file_buf *buf, size_t more)
{
	size_t need = buf->len + more, cap = buf->cap ? buf->cap : 4096;
	char *data;

	if (need <= buf->cap)
		return true;
	while (cap < need)
		cap += cap / 2;
	data = realloc(buf->data, cap);
	if (!data)
		return false;
	buf->data = data;
	buf->cap = cap;
	return true;
}

void file_buf_free(struct file_buf *buf)
{
	free(buf->data);
	buf->data = NULL;
	buf->len = buf->cap = 0;
}

void file_buf_reuse(struct file_buf *buf)
{
	if (buf->cap > BUF_KEEP)
		file_buf_free(buf);
	buf->len = 0;
}

/* ---- Writing --------------------------------------------------------------- */

static char *rec_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static char *rec_num(char *p, const char *label, uint64_t value, int digits)
{
	p = rec_text(p, label);
	file_hex(p, value, digits);
	return p + digits;
}

static char *rec_bytes(char *p, struct bk_slice s, char end)
{
	if (s.len)
		memcpy(p, s.data, s.len);
	p[s.len] = end;
	return p + s.len + 1;
}

static size_t rec_links_size(const struct bk_node *node)
{
	size_t bytes = 0;

	for (size_t i = 0; i < node->link_count; i++)
		bytes += 10 + node->links[i].rel.len + 1 + node->links[i].target.len + 1;
	return bytes;
}

bool file_record_encode(struct file_buf *out, const struct bk_node *node, uint64_t version)
{
	size_t links = rec_links_size(node);
	size_t size = FILE_RECORD_HEAD + node->id.len + node->parent.len + node->path.len + 3 +
		      links + node->doc.len + 1 + FILE_RECORD_TRAILER;
	char *start, *p;

	if (!file_buf_room(out, size))
		return false;
	start = p = out->data + out->len;
	p = rec_num(p, node->id.len ? "bk1 put v=" : "bk1 add v=", version, 16);
	p = rec_num(p, " id=", node->id.len, 4);
	p = rec_num(p, " up=", node->parent.len, 4);
	p = rec_num(p, " path=", node->path.len, 4);
	p = rec_num(p, " links=", node->link_count, 8);
	p = rec_num(p, " bytes=", links, 8);
	p = rec_num(p, " doc=", node->doc.len, 8);
	*p++ = '\n';
	p = rec_bytes(p, node->id, '\n');
	p = rec_bytes(p, node->parent, '\n');
	p = rec_bytes(p, node->path, '\n');
	for (size_t i = 0; i < node->link_count; i++) {
		p = rec_num(p, "", node->links[i].rel.len, 4);
		p = rec_num(p, " ", node->links[i].target.len, 4);
		*p++ = ' ';
		p = rec_bytes(p, node->links[i].rel, ' ');
		p = rec_bytes(p, node->links[i].target, '\n');
	}
	p = rec_bytes(p, node->doc, '\n');
	uint64_t check = file_hash(0, bk_slice_of(start, (size_t)(p - start)));
	p = rec_num(p, "end ", size, 8);
	p = rec_num(p, " ", check, 16);
	*p++ = '\n';
	out->len += (size_t)(p - start);
	return true;
}

/* ---- Reading --------------------------------------------------------------- */

/* A number of fixed width behind a label; false when either is not as it should be. */
static bool rec_read(const char **p, const char *label, int digits, uint64_t *value)
{
	size_t n = strlen(label);
	uint64_t v = 0;

	if (memcmp(*p, label, n) != 0)
		return false;
	*p += n;
	for (int i = 0; i < digits; i++) {
		unsigned char c = (unsigned char)(*p)[i];

		if (c >= '0' && c <= '9')
			v = v << 4 | (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (unsigned)(c - 'a' + 10);
		else
			return false;
	}
	*p += digits;
	*value = v;
	return true;
}

bool file_record_trailer(const char tail[FILE_RECORD_TRAILER], uint64_t *size, uint64_t *check)
{
	const char *p = tail;

	return rec_read(&p, "end ", 8, size) && rec_read(&p, " ", 16, check) && *p == '\n';
}

struct rec_head {
	uint64_t version, id, up, path, links, link_bytes, doc;
	size_t size;
	bool put;
};

/* The head of a record of which `left` bytes are there. */
static bool rec_read_head(struct rec_head *h, const char *p, size_t left)
{
	if (left < FILE_RECORD_HEAD + 4 + FILE_RECORD_TRAILER)
		return false;
	h->put = p[4] == 'p';
	if (!rec_read(&p, h->put ? "bk1 put v=" : "bk1 add v=", 16, &h->version) ||
	    !rec_read(&p, " id=", 4, &h->id) || !rec_read(&p, " up=", 4, &h->up) ||
	    !rec_read(&p, " path=", 4, &h->path) || !rec_read(&p, " links=", 8, &h->links) ||
	    !rec_read(&p, " bytes=", 8, &h->link_bytes) || !rec_read(&p, " doc=", 8, &h->doc) ||
	    *p != '\n')
		return false;
	h->size = (size_t)(FILE_RECORD_HEAD + h->id + h->up + h->path + 3 + h->link_bytes + h->doc +
			   1 + FILE_RECORD_TRAILER);
	return h->size <= left;
}

static bool rec_whole(struct rec_head *h, const char *p, size_t left)
{
	uint64_t size, check;

	return rec_read_head(h, p, left) &&
	       file_record_trailer(p + h->size - FILE_RECORD_TRAILER, &size, &check) &&
	       size == h->size &&
	       check == file_hash(0, bk_slice_of(p, h->size - FILE_RECORD_TRAILER));
}

static bk_status rec_read_links(struct file_parsed *parsed, const struct rec_head *h, const char *p)
{
	const char *end = p + h->link_bytes;
	size_t need = parsed->link_count + (size_t)h->links;

	if (need > parsed->link_cap) {
		size_t cap = parsed->link_cap ? parsed->link_cap : 16;
		struct bk_link *links;

		while (cap < need)
			cap += cap / 2;
		links = realloc(parsed->links, cap * sizeof(*links));
		if (!links)
			return BK_NOMEM;
		parsed->links = links;
		parsed->link_cap = cap;
	}
	for (uint64_t i = 0; i < h->links; i++) {
		struct bk_link *link = &parsed->links[parsed->link_count];
		uint64_t rel, target;

		if (end - p < 12 || !rec_read(&p, "", 4, &rel) || !rec_read(&p, " ", 4, &target) ||
		    (uint64_t)(end - p) < 1 + rel + 1 + target + 1)
			return BK_CORRUPT;
		link->rel = bk_slice_of(p + 1, (size_t)rel);
		link->target = bk_slice_of(p + 1 + rel + 1, (size_t)target);
		p += 1 + rel + 1 + target + 1;
		parsed->link_count++;
	}
	return p == end ? BK_OK : BK_CORRUPT;
}

static bk_status rec_take_doc(struct file_parsed *parsed, struct bk_slice piece)
{
	struct file_buf *joined = &parsed->joined;

	if (parsed->records == 1) {
		parsed->doc = piece;
		return BK_OK;
	}
	if (piece.len == 0)
		return BK_OK;
	if (parsed->doc.data != joined->data || !joined->data) {
		file_buf_reuse(joined);
		if (!file_buf_room(joined, parsed->doc.len + piece.len))
			return BK_NOMEM;
		if (parsed->doc.len)
			memcpy(joined->data, parsed->doc.data, parsed->doc.len);
		joined->len = parsed->doc.len;
	}
	if (!file_buf_room(joined, piece.len))
		return BK_NOMEM;
	memcpy(joined->data + joined->len, piece.data, piece.len);
	joined->len += piece.len;
	parsed->doc = bk_slice_of(joined->data, joined->len);
	return BK_OK;
}

static bk_status rec_take(struct file_parsed *parsed, const struct rec_head *h, const char *p,
			  uint32_t want)
{
	bk_status status = BK_OK;

	p += FILE_RECORD_HEAD;
	parsed->records++;
	parsed->version = h->version;
	if (h->put) {
		parsed->id = bk_slice_of(p, (size_t)h->id);
		parsed->parent = bk_slice_of(p + h->id + 1, (size_t)h->up);
		parsed->path = bk_slice_of(p + h->id + 1 + h->up + 1, (size_t)h->path);
	}
	p += h->id + 1 + h->up + 1 + h->path + 1;
	if ((want & BK_WANT_LINKS) && h->links)
		status = rec_read_links(parsed, h, p);
	if (status == BK_OK && (want & BK_WANT_DOC))
		status = rec_take_doc(parsed, bk_slice_of(p + h->link_bytes, (size_t)h->doc));
	return status;
}

/* What is behind the last whole record: an append cut short, or damage to what was whole?  One cut
 * short is the beginning of a record, so the file does not end as a record does. */
static bool rec_is_torn(const char *p, size_t left)
{
	struct rec_head h;
	uint64_t size, check;

	if (left < FILE_RECORD_TRAILER)
		return true;
	return !rec_read_head(&h, p, left) &&
	       (!file_record_trailer(p + left - FILE_RECORD_TRAILER, &size, &check) || size > left);
}

bk_status file_record_parse(struct file_parsed *parsed, uint32_t want)
{
	const char *data = parsed->image.data;
	size_t len = parsed->image.len, at = 0;
	struct rec_head h;

	parsed->id = parsed->parent = parsed->path = parsed->doc = bk_slice_of(NULL, 0);
	parsed->link_count = parsed->records = 0;
	parsed->version = 0;
	while (at < len && rec_whole(&h, data + at, len - at)) {
		bk_status status;

		if (h.put != (at == 0))
			return BK_CORRUPT;
		status = rec_take(parsed, &h, data + at, want);
		if (status != BK_OK)
			return status;
		at += h.size;
	}
	parsed->valid_len = at;
	if (at == 0 || (!parsed->lenient && !rec_is_torn(data + at, len - at)))
		return BK_CORRUPT;
	if (!(want & BK_WANT_PATH))
		parsed->parent = parsed->path = bk_slice_of(NULL, 0);
	return BK_OK;
}

void file_parsed_free(struct file_parsed *parsed)
{
	file_buf_free(&parsed->image);
	file_buf_free(&parsed->joined);
	free(parsed->links);
	parsed->links = NULL;
	parsed->link_cap = 0;
}
