/*
 * contents.c - see contents.h.
 *
 * The one invariant: a store that says it keeps nothing (DISCARDS) is not asked for anything here,
 * so that cases about whole stores say something about it too.
 */
#include "conform/contents.h"

#define NODES 12
#define BLOBS 3

static void sample(struct bk_box *b, struct bk_node nodes[NODES], const char *tag)
{
	size_t i;

	for (i = 0; i < NODES; i++) {
		nodes[i] = bk_node_named(b, "%s%zu", tag, i);
		nodes[i].doc = bk_test_bytes(&b->arena, i, i * 100);
		if (i)
			nodes[i].parent = nodes[(i - 1) / 2].id;
		bk_node_link(b, &nodes[i], i % 2 ? "next>hub" : "");
	}
}

static struct bk_slice blob_key(struct bk_box *b, const char *tag, size_t i)
{
	return bk_test_printf(&b->arena, "%s-blob-%zu", tag, i);
}

void bk_fill(struct bk_box *b, const char *tag)
{
	struct bk_node nodes[NODES];
	size_t i;

	sample(b, nodes, tag);
	for (i = 0; (b->t->own & BK_F_NODES) && i < NODES; i++)
		CREATE(b, &nodes[i]);
	for (i = 0; (b->t->own & BK_F_BINARIES) && i < BLOBS; i++)
		STORE(b, blob_key(b, tag, i), i, i * 5000);
}

static void check_list(struct bk_box *b, struct bk_at at, const char *tag)
{
	struct bk_slice keys[BLOBS];
	uint64_t sizes[BLOBS];
	size_t i;

	for (i = 0; i < BLOBS; i++) {
		keys[i] = blob_key(b, tag, i);
		sizes[i] = i * 5000;
	}
	bk_t_list(b, at, keys, sizes, BLOBS, 2);
}

void bk_filled(struct bk_box *b, struct bk_at at, const char *tag)
{
	struct bk_node nodes[NODES];
	char name[64];
	size_t i;

	if (b->t->own & BK_F_DISCARDS)
		return;
	sample(b, nodes, tag);
	for (i = 0; (b->t->own & BK_F_NODES) && i < NODES; i++)
		bk_t_same(b, at, &nodes[i]);
	if (b->t->own & BK_F_NODES) {
		snprintf(name, sizeof(name), "%s3 %s4", tag, tag);
		bk_t_reaches(b, at, nodes[1].id, bk_children(), name);
	}
	if (!(b->t->own & BK_F_BINARIES))
		return;
	for (i = 0; i < BLOBS; i++)
		bk_t_binary(b, at, blob_key(b, tag, i), i, i * 5000);
	check_list(b, at, tag);
}

void bk_empty(struct bk_box *b, struct bk_at at, const char *tag)
{
	struct bk_node nodes[NODES];
	size_t i;

	sample(b, nodes, tag);
	for (i = 0; (b->t->own & BK_F_NODES) && i < NODES; i++) {
		bk_t_gone(b, at, &nodes[i]);
		bk_t_reaches(b, at, nodes[i].id, bk_children(), "");
	}
	for (i = 0; (b->t->own & BK_F_BINARIES) && i < BLOBS; i++)
		bk_t_no_binary(b, at, blob_key(b, tag, i));
	if (b->t->own & BK_F_BINARIES)
		bk_t_list(b, at, NULL, NULL, 0, 10);
}
