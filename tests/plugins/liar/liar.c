/*
 * liar.c - the oracle with one lie (LIE, by number), to show that a run catches it: answers that
 * are quick, well-formed and wrong.
 *
 * Its tables are those of bk-mem.so with one or two entries exchanged, put together at the first
 * call; a real backend has constant tables.
 */
#include <bakeoff/backend_util.h>

#include <dlfcn.h>
#include <stdlib.h>

#define DROPS_WRITE     1 /* of each batch the last node is not stored */
#define CORRUPTS_BYTE   2 /* the last byte of each document comes back changed */
#define LOSES_LINK      3 /* of two links one is not stored */
#define CORRUPTS_BINARY 4 /* the first byte of each read comes back changed */
#define LOSES_HIT       5 /* each walk forgets its first hit */

static const struct bk_backend *honest;
static struct bk_backend liar;
static struct bk_node_ops node;
static struct bk_binary_ops binary;

static bk_status put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			  uint32_t mode, struct bk_error *err)
{
	struct bk_node *changed = malloc(n * sizeof(*changed));
	bk_status st;
	size_t i;

	for (i = 0; i < n; i++) {
		changed[i] = nodes[i];
		if (LIE == LOSES_LINK && changed[i].link_count == 2)
			changed[i].link_count = 1;
	}
	st = honest->node->put_many(s, changed, LIE == DROPS_WRITE && n > 1 ? n - 1 : n, mode, err);
	free(changed);
	return st;
}

static bk_status get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		     struct bk_error *err)
{
	static _Thread_local char copy[65536];
	bk_status st = honest->node->get(out, s, id, want, err);

	if (LIE == CORRUPTS_BYTE && st >= 0 && out->doc.len && out->doc.len <= sizeof(copy)) {
		memcpy(copy, out->doc.data, out->doc.len);
		copy[out->doc.len - 1] ^= 1;
		out->doc.data = copy;
	}
	return st;
}

static bk_status walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			   struct bk_error *err)
{
	bk_status st = honest->node->walk_next(c, out, cap, n, err);

	if (LIE == LOSES_HIT && st == BK_OK && *n > 1) {
		memmove(out, out + 1, (*n - 1) * sizeof(*out));
		(*n)--;
	}
	return st;
}

static bk_status read_some(struct bk_reader *r, void *buf, size_t cap, size_t *n,
			   struct bk_error *err)
{
	bk_status st = honest->binary->read(r, buf, cap, n, err);

	if (LIE == CORRUPTS_BINARY && st == BK_OK && *n)
		*(char *)buf ^= 1;
	return st;
}

BK_EXPORT const struct bk_backend *bk_backend(void);

const struct bk_backend *bk_backend(void)
{
	void *dl = dlopen(HONEST_FILE, RTLD_NOW | RTLD_LOCAL);
	bk_backend_entry entry;

	if (liar.name || !dl)
		return &liar;
	*(void **)&entry = dlsym(dl, BK_ENTRY_NAME);
	honest = entry();
	liar = *honest;
	node = *honest->node;
	binary = *honest->binary;
	node.put_many = put_many;
	node.get = get;
	node.walk_next = walk_next;
	binary.read = read_some;
	liar.name = LIAR_NAME;
	liar.node = &node;
	liar.binary = &binary;
	return &liar;
}
