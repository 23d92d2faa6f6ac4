/*
 * doc_row.c - document layout: a node's row as bytes.
 *
 *   1 byte   format, 1
 *   1 byte   1: a node; 0: only referred to
 *   then as lengths and bytes, each length 7 bits a byte, least significant first:
 *   version (as a length), parent, path, document, links, children, referrers; each of the last
 *   three is preceded by the number of its entries.
 *
 * The one invariant: decoding checks every length against what is left.
 */
#include "doc.h"

#define FORMAT 1

static bool get_num(uint64_t *out, const char **p, const char *end)
{
	unsigned shift = 0;

	*out = 0;
	while (*p < end && shift < 64) {
		unsigned char c = (unsigned char)*(*p)++;

		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
		shift += 7;
	}
	return false;
}

static size_t put_num(char *out, uint64_t v)
{
	size_t n = 0;

	while (v >= 0x80) {
		out[n++] = (char)(v | 0x80);
		v >>= 7;
	}
	out[n++] = (char)v;
	return n;
}

static bool get_bytes(struct bk_slice *out, const char **p, const char *end)
{
	uint64_t len;

	if (!get_num(&len, p, end) || len > (uint64_t)(end - *p))
		return false;
	*out = bk_slice_of(*p, (size_t)len);
	*p += len;
	return true;
}

static bool get_entries(struct my_entries *out, const char **p, const char *end)
{
	struct bk_slice bytes;
	uint64_t count;

	if (!get_num(&count, p, end) || !get_bytes(&bytes, p, end) || count > bytes.len)
		return false;
	out->data = bytes.data;
	out->len = bytes.len;
	out->count = (size_t)count;
	out->room = 0;
	return true;
}

bk_status my_row_decode(struct my_row *out, struct bk_slice from, struct bk_error *err)
{
	const char *p = from.data, *end = p + from.len;

	if (from.len < 2 || p[0] != FORMAT)
		goto corrupt;
	out->there = p[1] == 1;
	p += 2;
	if (!get_num(&out->version, &p, end) || !get_bytes(&out->parent, &p, end) ||
	    !get_bytes(&out->path, &p, end) || !get_bytes(&out->doc, &p, end) ||
	    !get_entries(&out->links, &p, end) || !get_entries(&out->children, &p, end) ||
	    !get_entries(&out->referrers, &p, end) || p != end)
		goto corrupt;
	return BK_OK;
corrupt:
	return bk_fail(err, BK_CORRUPT, 0, "mysql: a row of the document layout does not decode");
}

static bool add_num(struct my_buf *out, uint64_t v)
{
	char digits[10];

	return my_buf_add(out, digits, put_num(digits, v));
}

static bool add_bytes(struct my_buf *out, const void *data, size_t len)
{
	return add_num(out, len) && my_buf_add(out, data, len);
}

static bool add_entries(struct my_buf *out, const struct my_entries *list)
{
	return add_num(out, list->count) && add_bytes(out, list->data, list->len);
}

bool my_row_encode(struct my_buf *out, const struct my_row *row)
{
	const char head[2] = {FORMAT, row->there ? 1 : 0};

	out->len = 0;
	return my_buf_add(out, head, 2) && add_num(out, row->version) &&
	       add_bytes(out, row->parent.data, row->parent.len) &&
	       add_bytes(out, row->path.data, row->path.len) &&
	       add_bytes(out, row->doc.data, row->doc.len) && add_entries(out, &row->links) &&
	       add_entries(out, &row->children) && add_entries(out, &row->referrers);
}

bool my_entry(struct bk_slice *out, const char **p, const char *end)
{
	return *p < end && get_bytes(out, p, end);
}

bool my_entries_add(struct my_entries *list, struct my_arena *a, const struct bk_slice *parts,
		    unsigned n)
{
	size_t more = 0;
	char *data, *w;
	unsigned i;

	for (i = 0; i < n; i++)
		more += parts[i].len + 10;
	/* Room for as much again, so that adding many to one row copies it a few times only. */
	if (list->room < more) {
		size_t room = list->len + more * 4;

		data = my_alloc(a, list->len + room);
		if (!data)
			return false;
		if (list->len)
			memcpy(data, list->data, list->len);
		list->data = data;
		list->room = room;
	}
	data = (char *)(uintptr_t)list->data + list->len;
	for (w = data, i = 0; i < n; i++) {
		w += put_num(w, parts[i].len);
		if (parts[i].len)
			memcpy(w, parts[i].data, parts[i].len);
		w += parts[i].len;
	}
	list->len += (size_t)(w - data);
	list->room -= (size_t)(w - data);
	list->count++;
	return true;
}

bool my_entries_remove(struct my_entries *list, struct my_arena *a, const struct bk_slice *parts,
		       unsigned n)
{
	const char *p = my_entries_begin(list), *end = p + list->len, *from;
	char *data;
	unsigned i;

	while (p < end) {
		bool same = true;

		from = p;
		for (i = 0; i < n; i++) {
			struct bk_slice part;

			if (!my_entry(&part, &p, end))
				return true;
			same = same && bk_slice_eq(part, parts[i]);
		}
		if (!same)
			continue;
		/* What was decoded may be shared: cut a copy. */
		data = my_alloc(a, list->len);
		if (!data)
			return false;
		memcpy(data, list->data, (size_t)(from - list->data));
		memcpy(data + (from - list->data), p, (size_t)(end - p));
		list->len -= (size_t)(p - from);
		list->data = data;
		list->room = (size_t)(p - from);
		list->count--;
		return true;
	}
	return true;
}
