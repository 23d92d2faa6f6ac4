/*
 * check.c - arguments against the contract and against the store's limits.
 *
 * The one invariant: what has passed here is stored as it is.
 */
#include "mem.h"

bk_status mem_check_name(struct bk_error *err, const char *what, struct bk_slice s)
{
	if (s.len == 0)
		return bk_fail(err, BK_INVALID, 0, "mem: an empty %s", what);
	if (s.len > MEM_NAME_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "mem: a %s of %zu bytes; the limit is %u",
			       what, s.len, MEM_NAME_MAX);
	return BK_OK;
}

/* Length of the character at p, 0 if it is not UTF-8 (overlong forms and surrogates are not). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	size_t i;

	if (n == 0 || n > left || p[0] > 0xf4)
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bk_status mem_check_text(struct bk_error *err, const char *what, struct bk_slice s)
{
	const unsigned char *p = s.data;
	size_t i, n;
	bk_status st = mem_check_name(err, what, s);

	if (st)
		return st;
	for (i = 0; i < s.len; i += n) {
		n = utf8_length(p + i, s.len - i);
		if (n == 0 || p[i] == 0)
			return bk_fail(err, BK_INVALID, 0,
				       "mem: a %s that is not UTF-8 without NUL (byte %zu)", what,
				       i);
	}
	return BK_OK;
}

bk_status mem_check_links(struct bk_error *err, const struct bk_link *links, size_t n)
{
	bk_status st;
	size_t i;

	for (i = 0; i < n; i++) {
		st = mem_check_name(err, "relation", links[i].rel);
		if (!st)
			st = mem_check_name(err, "link target", links[i].target);
		if (st)
			return st;
	}
	return BK_OK;
}

bk_status mem_check_node(struct bk_error *err, const struct bk_node *node, uint32_t mode)
{
	bk_status st;

	if (mode < BK_PUT_CREATE || mode > BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "mem: put: no such mode: %u", mode);
	st = mem_check_name(err, "id", node->id);
	if (!st && node->parent.len)
		st = mem_check_name(err, "parent id", node->parent);
	if (!st)
		st = mem_check_text(err, "path", node->path);
	if (!st)
		st = mem_check_links(err, node->links, node->link_count);
	if (!st && node->doc.len > MEM_DOC_MAX)
		st = bk_fail(err, BK_TOO_LARGE, 0,
			     "mem: a document of %zu bytes; the limit is %llu", node->doc.len,
			     (unsigned long long)MEM_DOC_MAX);
	return st;
}
