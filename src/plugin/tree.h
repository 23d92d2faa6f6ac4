/*
 * tree.h - what a store says of itself through a sink, kept as a JSON tree.
 *
 * One level: {"values": {NAME: {"value", "unit"?, "estimate"?}}, "flags": [{"code", "text"}],
 * "items": [{"kind", "name", and one level more}]}; docs/inspect.md describes it.
 *
 * The one invariant: whatever a backend sends, in whatever order, the tree is well-formed; what
 * was wrong (an end without a begin, a value without a name, text that is not UTF-8) is counted in
 * `faults`.
 */
#ifndef BK_PLUGIN_TREE_H
#define BK_PLUGIN_TREE_H

#include <bakeoff/backend.h>

#include <jansson.h>
#include <stdbool.h>

#define BK_TREE_DEPTH 8

struct bk_tree {
	struct bk_sink sink;           /* hand &tree->sink to inspect() or counters() */
	json_t *levels[BK_TREE_DEPTH]; /* [0] is the root, owned; the others borrowed */
	size_t depth;                  /* the level in use */
	size_t ignored;                /* begins beyond BK_TREE_DEPTH that wait for their end */
	size_t faults;
	bool failed; /* out of memory */
};

/* Not to be moved while the sink is in use. */
void bk_tree_init(struct bk_tree *tree);
void bk_tree_free(struct bk_tree *tree);
json_t *bk_tree_root(const struct bk_tree *tree); /* borrowed */

/* "name: value" lines for people; items indented beneath their headings. */
struct bk_buf;
void bk_tree_put_text(struct bk_buf *out, const json_t *level, size_t indent);

#endif
