/*
 * nodes.c - node operations with every out-parameter watched, and comparison of nodes.
 *
 * The one invariant: two sets of links are the same when their sorted lists, each link once, are.
 */
#include "conform/nodes.h"

#include <stdlib.h>

#define PATTERN 0x5a

/* ---- Making --------------------------------------------------------------------- */

static struct bk_slice named(struct bk_box *b, const char *prefix, const char *fmt, va_list ap)
{
	char text[512];
	size_t n = strlen(prefix);

	memcpy(text, prefix, n);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	return bk_test_copy(&b->arena, bk_slice_str(text));
}

static const char *id_prefix(const struct bk_box *b)
{
	return b->t->own & BK_F_ID_IS_PATH ? "/" : "";
}

struct bk_slice bk_id_named(struct bk_box *b, const char *fmt, ...)
{
	struct bk_slice s;
	va_list ap;

	va_start(ap, fmt);
	s = named(b, id_prefix(b), fmt, ap);
	va_end(ap);
	return s;
}

struct bk_slice bk_path_named(struct bk_box *b, const char *fmt, ...)
{
	struct bk_slice s;
	va_list ap;

	va_start(ap, fmt);
	s = named(b, "/", fmt, ap);
	va_end(ap);
	return s;
}

struct bk_node bk_node_named(struct bk_box *b, const char *fmt, ...)
{
	struct bk_node node;
	va_list ap;

	memset(&node, 0, sizeof(node));
	va_start(ap, fmt);
	node.path = named(b, "/", fmt, ap);
	va_end(ap);
	node.id = node.path;
	if (!(b->t->own & BK_F_ID_IS_PATH)) {
		node.id.data = (const char *)node.id.data + 1;
		node.id.len--;
	}
	return node;
}

void bk_node_link(struct bk_box *b, struct bk_node *node, const char *links)
{
	char *copy = bk_arena_strdup(&b->arena, links), *save = NULL, *word;
	struct bk_link *list = bk_arena_alloc(&b->arena, (strlen(links) + 1) * sizeof(*list));
	size_t n = 0;

	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *sep = strchr(word, '>');

		CHECK(b->t, sep, "the case writes a link without '>': %s", word);
		*sep = '\0';
		list[n].rel = bk_slice_str(word);
		list[n++].target = bk_id_named(b, "%s", sep + 1);
	}
	node->links = n ? list : NULL;
	node->link_count = n;
}

void bk_t_targets(struct bk_box *b, struct bk_at at, const char *names)
{
	char *copy = bk_arena_strdup(&b->arena, names), *save = NULL, *word;

	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		struct bk_node node = bk_node_named(b, "%s", word);

		bk_t_put(b, at, BK_OK, &node, BK_PUT_CREATE);
	}
}

struct bk_node bk_node_copy(struct bk_box *b, const struct bk_node *node)
{
	struct bk_node copy = *node;
	struct bk_link *links = NULL;
	size_t i;

	copy.id = bk_test_copy(&b->arena, node->id);
	copy.parent = bk_test_copy(&b->arena, node->parent);
	copy.path = bk_test_copy(&b->arena, node->path);
	copy.doc = bk_test_copy(&b->arena, node->doc);
	if (node->link_count)
		links = bk_arena_alloc(&b->arena, node->link_count * sizeof(*links));
	for (i = 0; i < node->link_count; i++) {
		links[i].rel = bk_test_copy(&b->arena, node->links[i].rel);
		links[i].target = bk_test_copy(&b->arena, node->links[i].target);
	}
	copy.links = links;
	return copy;
}

/* ---- Calls ---------------------------------------------------------------------- */

#define CALL_WANT(b, at, want, item, text, call)                                                   \
	do {                                                                                       \
		struct bk_error err_;                                                              \
                                                                                                   \
		bk_test_arm(&err_);                                                                \
		bk_test_status((b)->t, at, text, ONE(want), call, item, &err_);                    \
	} while (0)

static bool untouched(const void *p, size_t n)
{
	const unsigned char *bytes = p;
	size_t i;

	for (i = 0; i < n; i++) {
		if (bytes[i] != PATTERN)
			return false;
	}
	return true;
}

void bk_t_put(struct bk_box *b, struct bk_at at, bk_status want, const struct bk_node *node,
	      uint32_t mode)
{
	CALL_WANT(b, at, want, UINT64_MAX, "put", b->ops->node.put(b->s, node, mode, E));
}

void bk_t_get(struct bk_box *b, struct bk_at at, bk_status want, struct bk_node *out,
	      struct bk_slice id, uint32_t fields)
{
	memset(out, PATTERN, sizeof(*out));
	CALL_WANT(b, at, want, UINT64_MAX, "get", b->ops->node.get(out, b->s, id, fields, E));
	if (want < 0 && !untouched(out, sizeof(*out)))
		bk_test_fail(b->t, at, "get: failed and wrote to *out");
}

void bk_t_find(struct bk_box *b, struct bk_at at, bk_status want, struct bk_slice *id,
	       struct bk_slice path)
{
	memset(id, PATTERN, sizeof(*id));
	CALL_WANT(b, at, want, UINT64_MAX, "find", b->ops->node.find(id, b->s, path, E));
	if (want < 0 && !untouched(id, sizeof(*id)))
		bk_test_fail(b->t, at, "find: failed and wrote to *id_out");
}

void bk_t_remove(struct bk_box *b, struct bk_at at, bk_status want, struct bk_slice id)
{
	CALL_WANT(b, at, want, UINT64_MAX, "remove", b->ops->node.remove(b->s, id, E));
}

void bk_t_append(struct bk_box *b, struct bk_at at, bk_status want, struct bk_slice id,
		 struct bk_slice tail, const struct bk_link *links, size_t link_count)
{
	CALL_WANT(b, at, want, UINT64_MAX, "append",
		  b->ops->node.append(b->s, id, tail, links, link_count, E));
}

void bk_t_put_many(struct bk_box *b, struct bk_at at, bk_status want, uint64_t item,
		   const struct bk_node *nodes, size_t n, uint32_t mode)
{
	CALL_WANT(b, at, want, item, "put_many", b->ops->node.put_many(b->s, nodes, n, mode, E));
}

void bk_t_get_many(struct bk_box *b, struct bk_at at, struct bk_node *out,
		   const struct bk_slice *ids, size_t n, uint32_t fields)
{
	size_t from = 0, done, i;

	while (from < n) {
		done = SIZE_MAX;
		memset(out + from, PATTERN, (n - from) * sizeof(*out));
		CALL_WANT(b, at, BK_OK, UINT64_MAX, "get_many",
			  b->ops->node.get_many(out + from, &done, b->s, ids + from, n - from,
						fields, E));
		if (done < 1 || done > n - from)
			bk_test_fail(b->t, at, "get_many: OK with *done %zu of %zu", done,
				     n - from);
		for (i = from; i < from + done; i++) {
			if (out[i].id.len)
				out[i] = bk_node_copy(b, &out[i]);
		}
		from += done;
	}
}

/* ---- Comparing ------------------------------------------------------------------- */

static int link_cmp(const void *pa, const void *pb)
{
	const struct bk_link *a = pa, *b = pb;
	int c = bk_slice_cmp(a->rel, b->rel);

	return c ? c : bk_slice_cmp(a->target, b->target);
}

/* Sorted, each link once. */
static struct bk_link *link_set(struct bk_box *b, const struct bk_node *node, size_t *n)
{
	struct bk_link *set = bk_arena_alloc(&b->arena, (node->link_count + 1) * sizeof(*set));
	size_t i, k = 0;

	if (node->link_count) {
		memcpy(set, node->links, node->link_count * sizeof(*set));
		qsort(set, node->link_count, sizeof(*set), link_cmp);
	}
	for (i = 0; i < node->link_count; i++) {
		if (k == 0 || link_cmp(&set[k - 1], &set[i]) != 0)
			set[k++] = set[i];
	}
	*n = k;
	return set;
}

static void equal_slice(struct bk_box *b, struct bk_at at, const struct bk_node *node,
			const char *what, struct bk_slice want, struct bk_slice got)
{
	size_t i = 0;

	if (bk_slice_eq(want, got))
		return;
	while (i < want.len && i < got.len &&
	       ((const char *)want.data)[i] == ((const char *)got.data)[i])
		i++;
	bk_test_fail(b->t, at, "node %s: %s is %s, should be %s (they differ at byte %zu)",
		     bk_test_show(&b->arena, node->id), what, bk_test_show(&b->arena, got),
		     bk_test_show(&b->arena, want), i);
}

static void equal_links(struct bk_box *b, struct bk_at at, const struct bk_node *want,
			const struct bk_node *got)
{
	size_t n, m, i;
	struct bk_link *w = link_set(b, want, &n), *g = link_set(b, got, &m);

	if (m != got->link_count)
		bk_test_fail(b->t, at, "node %s: a link comes back twice",
			     bk_test_show(&b->arena, want->id));
	if (m != n)
		bk_test_fail(b->t, at, "node %s has %zu links, should have %zu",
			     bk_test_show(&b->arena, want->id), m, n);
	for (i = 0; i < n; i++) {
		if (link_cmp(&w[i], &g[i]) != 0)
			bk_test_fail(b->t, at, "node %s: link %s>%s should be %s>%s",
				     bk_test_show(&b->arena, want->id),
				     bk_test_show(&b->arena, g[i].rel),
				     bk_test_show(&b->arena, g[i].target),
				     bk_test_show(&b->arena, w[i].rel),
				     bk_test_show(&b->arena, w[i].target));
	}
}

void bk_t_equal(struct bk_box *b, struct bk_at at, const struct bk_node *want,
		const struct bk_node *got, uint32_t fields)
{
	struct bk_node none = *want;

	none.parent = none.path = none.doc = bk_slice_of(NULL, 0);
	none.links = NULL;
	none.link_count = 0;
	equal_slice(b, at, want, "id", want->id, got->id);
	equal_slice(b, at, want, "parent", fields & BK_WANT_PATH ? want->parent : none.parent,
		    got->parent);
	equal_slice(b, at, want, "path", fields & BK_WANT_PATH ? want->path : none.path, got->path);
	equal_slice(b, at, want, "doc", fields & BK_WANT_DOC ? want->doc : none.doc, got->doc);
	equal_links(b, at, fields & BK_WANT_LINKS ? want : &none, got);
}

void bk_t_same(struct bk_box *b, struct bk_at at, const struct bk_node *want)
{
	struct bk_node got;
	struct bk_slice id;

	bk_t_get(b, at, BK_OK, &got, want->id, BK_WANT_ALL);
	bk_t_equal(b, at, want, &got, BK_WANT_ALL);
	bk_t_find(b, at, BK_OK, &id, want->path);
	equal_slice(b, at, want, "the id found by path", want->id, id);
}

void bk_t_gone(struct bk_box *b, struct bk_at at, const struct bk_node *node)
{
	struct bk_node got;
	struct bk_slice id;

	bk_t_get(b, at, BK_NOT_FOUND, &got, node->id, BK_WANT_ALL);
	bk_t_find(b, at, BK_NOT_FOUND, &id, node->path);
}
