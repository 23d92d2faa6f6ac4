/*
 * doc_row.c - document layout: the stored form of a row, and the lists inside it.
 *
 *   u8 format (1)  u8 exists  u64 version  parent  path  document
 *   u32 count, u32 bytes, entries: links; then children; then referrers
 *
 * Numbers are big-endian; parent, path and document are u32 length + bytes; an entry is u16 length
 * + relation, u16 length + id.  What comes from the table is checked: every length stays inside.
 */
#include "doc.h"

#define DOC_FORMAT 1

bk_status doc_corrupt(struct bk_error *err, const char *what)
{
	return bk_fail(err, BK_CORRUPT, 0, "%s: a row of table document is not in this format",
		       what);
}

/* ---- lists ------------------------------------------------------------------------------ */

void doc_entry_add(struct pg_buffer *b, struct bk_slice rel, struct bk_slice id)
{
	pg_buffer_u16(b, (uint16_t)rel.len);
	pg_buffer_add(b, rel.data, rel.len);
	pg_buffer_u16(b, (uint16_t)id.len);
	pg_buffer_add(b, id.data, id.len);
}

static bool row_piece(struct bk_slice *out, struct bk_slice list, size_t *at)
{
	const unsigned char *p = (const unsigned char *)list.data + *at;
	size_t len;

	if (list.len - *at < 2)
		return false;
	len = (size_t)p[0] << 8 | p[1];
	if (list.len - *at - 2 < len)
		return false;
	*out = bk_slice_of(p + 2, len);
	*at += 2 + len;
	return true;
}

bool doc_entry_next(struct doc_entry *out, struct bk_slice list, size_t *at)
{
	return *at < list.len && row_piece(&out->rel, list, at) && row_piece(&out->id, list, at);
}

void doc_list_add(struct doc_list *list, struct bk_slice rel, struct bk_slice id)
{
	doc_entry_add(&list->bytes, rel, id);
	list->count++;
}

static bool row_search(const struct doc_list *list, struct bk_slice rel, struct bk_slice id,
		       size_t *begin, size_t *end)
{
	struct bk_slice bytes = pg_buffer_slice(&list->bytes);
	struct doc_entry e;
	size_t at = 0;

	for (*begin = 0; doc_entry_next(&e, bytes, &at); *begin = at) {
		if (bk_slice_eq(e.rel, rel) && bk_slice_eq(e.id, id)) {
			*end = at;
			return true;
		}
	}
	return false;
}

void doc_list_remove(struct doc_list *list, struct bk_slice rel, struct bk_slice id)
{
	size_t begin, end;

	if (!row_search(list, rel, id, &begin, &end))
		return;
	memmove(list->bytes.data + begin, list->bytes.data + end, list->bytes.len - end);
	list->bytes.len -= end - begin;
	list->count--;
}

/* ---- stored form
 * ---------------------------------------------------------------------------------- */

static void row_put_bytes(struct pg_buffer *b, struct bk_slice v)
{
	pg_buffer_u32(b, (uint32_t)v.len);
	pg_buffer_add(b, v.data, v.len);
}

static void row_put_list(struct pg_buffer *b, const struct doc_list *list)
{
	pg_buffer_u32(b, list->count);
	row_put_bytes(b, pg_buffer_slice(&list->bytes));
}

void doc_row_encode(struct pg_buffer *out, const struct doc_row *r)
{
	char head[2] = {DOC_FORMAT, r->exists ? 1 : 0};

	pg_buffer_add(out, head, sizeof(head));
	pg_buffer_u64(out, r->version);
	row_put_bytes(out, doc_row_parent(r));
	row_put_bytes(out, doc_row_path(r));
	row_put_bytes(out, pg_buffer_slice(&r->doc));
	row_put_list(out, &r->links);
	row_put_list(out, &r->children);
	row_put_list(out, &r->referrers);
}

static bool row_get_u32(uint32_t *out, struct bk_slice v, size_t *at)
{
	if (v.len - *at < 4)
		return false;
	*out = pg_get_u32((const char *)v.data + *at);
	*at += 4;
	return true;
}

static bool row_get_bytes(struct bk_slice *out, struct bk_slice v, size_t *at)
{
	uint32_t len;

	if (!row_get_u32(&len, v, at) || v.len - *at < len)
		return false;
	*out = bk_slice_of((const char *)v.data + *at, len);
	*at += len;
	return true;
}

bool doc_value_decode(struct doc_value *out, struct bk_slice stored)
{
	const char *p = stored.data;
	size_t at = 10;

	if (stored.len < at || p[0] != DOC_FORMAT)
		return false;
	out->exists = p[1] != 0;
	out->version = pg_get_u64(p + 2);
	return row_get_bytes(&out->parent, stored, &at) && row_get_bytes(&out->path, stored, &at) &&
	       row_get_bytes(&out->doc, stored, &at) &&
	       row_get_u32(&out->link_count, stored, &at) &&
	       row_get_bytes(&out->links, stored, &at) &&
	       row_get_u32(&out->child_count, stored, &at) &&
	       row_get_bytes(&out->children, stored, &at) &&
	       row_get_u32(&out->referrer_count, stored, &at) &&
	       row_get_bytes(&out->referrers, stored, &at) && at == stored.len;
}
