/*
 * document.c - reads and writes the records of a document; a length is checked before it is used.
 */
#include "repo/document.h"

#include <bakeoff/backend_util.h>

#include <string.h>

#define HEAD 7u

void bk_doc_put(struct bk_buf *buf, char kind, struct bk_slice predicate, struct bk_slice object)
{
	unsigned char head[HEAD];

	head[0] = (unsigned char)kind;
	head[1] = (unsigned char)predicate.len;
	head[2] = (unsigned char)(predicate.len >> 8);
	head[3] = (unsigned char)object.len;
	head[4] = (unsigned char)(object.len >> 8);
	head[5] = (unsigned char)(object.len >> 16);
	head[6] = (unsigned char)(object.len >> 24);
	bk_buf_put(buf, head, sizeof(head));
	bk_buf_put(buf, predicate.data, predicate.len);
	bk_buf_put(buf, object.data, object.len);
}

void bk_doc_puts(struct bk_buf *buf, char kind, const char *predicate, const char *object)
{
	bk_doc_put(buf, kind, bk_slice_str(predicate), bk_slice_str(object));
}

int bk_doc_next(struct bk_doc_record *out, struct bk_slice *rest)
{
	const unsigned char *p = rest->data;
	size_t predicate_len, object_len;

	if (rest->len == 0)
		return 0;
	if (rest->len < HEAD)
		return -1;
	predicate_len = (size_t)p[1] | (size_t)p[2] << 8;
	object_len = (size_t)p[3] | (size_t)p[4] << 8 | (size_t)p[5] << 16 | (size_t)p[6] << 24;
	if (rest->len - HEAD < predicate_len || rest->len - HEAD - predicate_len < object_len)
		return -1;
	if (!strchr("TLUD", p[0]) || p[0] == 0)
		return -1;
	out->kind = (char)p[0];
	out->predicate = bk_slice_of(p + HEAD, predicate_len);
	out->object = bk_slice_of(p + HEAD + predicate_len, object_len);
	rest->data = p + HEAD + predicate_len + object_len;
	rest->len -= HEAD + predicate_len + object_len;
	return 1;
}

int bk_doc_find(struct bk_doc_record *out, struct bk_slice doc, char kind, const char *predicate)
{
	struct bk_slice wanted = bk_slice_str(predicate);
	int rc;

	while ((rc = bk_doc_next(out, &doc)) > 0) {
		if (out->kind == kind && bk_slice_eq(out->predicate, wanted))
			return 1;
	}
	return rc;
}
