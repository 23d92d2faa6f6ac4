/*
 * nodes.h - nodes and walks as the cases put, get and compare them.
 *
 * The one invariant: every call through here fills its out-parameters with a pattern first and
 * fails the case when a failing call wrote to one of them.
 */
#ifndef BK_CONFORM_NODES_H
#define BK_CONFORM_NODES_H

#include "conform/test.h"

#define BK_WANT_ALL (BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS)

/* A root node called `name`: id "name", path "/name", or "/name" for both where ids are paths. */
struct bk_node bk_node_named(struct bk_box *b, const char *fmt, ...) BK_PRINTF(2, 3);
struct bk_slice bk_id_named(struct bk_box *b, const char *fmt, ...) BK_PRINTF(2, 3);
struct bk_slice bk_path_named(struct bk_box *b, const char *fmt, ...) BK_PRINTF(2, 3);
/* "rel>target rel>target": links to named nodes; sets links and link_count. */
void bk_node_link(struct bk_box *b, struct bk_node *node, const char *links);
/* Creates bare nodes of these names: what is not there is not reached, not even by a link. */
void bk_t_targets(struct bk_box *b, struct bk_at at, const char *names);
/* A copy that owns all its bytes, in the box. */
struct bk_node bk_node_copy(struct bk_box *b, const struct bk_node *node);

void bk_t_put(struct bk_box *b, struct bk_at at, bk_status want, const struct bk_node *node,
	      uint32_t mode);
void bk_t_get(struct bk_box *b, struct bk_at at, bk_status want, struct bk_node *out,
	      struct bk_slice id, uint32_t fields);
void bk_t_find(struct bk_box *b, struct bk_at at, bk_status want, struct bk_slice *id,
	       struct bk_slice path);
void bk_t_remove(struct bk_box *b, struct bk_at at, bk_status want, struct bk_slice id);
void bk_t_append(struct bk_box *b, struct bk_at at, bk_status want, struct bk_slice id,
		 struct bk_slice tail, const struct bk_link *links, size_t link_count);
void bk_t_put_many(struct bk_box *b, struct bk_at at, bk_status want, uint64_t item,
		   const struct bk_node *nodes, size_t n, uint32_t mode);
/* All of `ids`, in as many calls as it takes; out[i] are copies in the box. */
void bk_t_get_many(struct bk_box *b, struct bk_at at, struct bk_node *out,
		   const struct bk_slice *ids, size_t n, uint32_t fields);

/* The store holds exactly this: by id, every field; by path, the id.  Links as a set. */
void bk_t_same(struct bk_box *b, struct bk_at at, const struct bk_node *want);
/* Two nodes in hand are the same; `got` may have views. */
void bk_t_equal(struct bk_box *b, struct bk_at at, const struct bk_node *want,
		const struct bk_node *got, uint32_t fields);
/* Neither its id nor its path is known. */
void bk_t_gone(struct bk_box *b, struct bk_at at, const struct bk_node *node);

#define PUT(b, want, node, mode)          bk_t_put(b, AT, want, node, mode)
#define CREATE(b, node)                   bk_t_put(b, AT, BK_OK, node, BK_PUT_CREATE)
#define GET(b, want, out, id, fields)     bk_t_get(b, AT, want, out, id, fields)
#define FIND(b, want, id, path)           bk_t_find(b, AT, want, id, path)
#define REMOVE(b, want, id)               bk_t_remove(b, AT, want, id)
#define APPEND(b, want, id, tail, ls, n)  bk_t_append(b, AT, want, id, tail, ls, n)
#define PUT_MANY(b, want, item, ns, n, m) bk_t_put_many(b, AT, want, item, ns, n, m)
#define GET_MANY(b, out, ids, n, fields)  bk_t_get_many(b, AT, out, ids, n, fields)
#define TARGETS(b, names)                 bk_t_targets(b, AT, names)
#define SAME(b, node)                     bk_t_same(b, AT, node)
#define GONE(b, node)                     bk_t_gone(b, AT, node)

/* ---- Walks ------------------------------------------------------------------ */

struct bk_hits {
	struct bk_hit *at; /* copies, in the box */
	size_t count, cap;
};

struct bk_step bk_children(void);
struct bk_step bk_out(const char *rel); /* NULL: any */
struct bk_step bk_in(const char *rel);

struct bk_cursor *bk_t_walk_open(struct bk_box *b, struct bk_at at, struct bk_slice start,
				 const struct bk_step *steps, size_t n_steps, uint32_t fields);
/* One page into `hits`; false at the end. */
bool bk_t_walk_next(struct bk_box *b, struct bk_at at, struct bk_cursor *c, size_t cap,
		    struct bk_hits *hits);
/* The whole walk, `cap` hits a call. */
void bk_t_walk(struct bk_box *b, struct bk_at at, struct bk_hits *hits, struct bk_slice start,
	       const struct bk_step *steps, size_t n_steps, uint32_t fields, size_t cap);
void bk_hits_add(struct bk_box *b, struct bk_hits *hits, struct bk_hit hit);
/* The same hits as often, in whatever order.  With `fields` BK_WANT_PATH, paths count. */
void bk_t_hits(struct bk_box *b, struct bk_at at, const struct bk_hits *want,
	       const struct bk_hits *got, uint32_t fields);
/* "rel>name name name": names of nodes, with the relation of the last step or without. */
void bk_t_hits_named(struct bk_box *b, struct bk_at at, const struct bk_hits *got,
		     const char *names);
/* One walk of one step, any cap, compared with names. */
void bk_t_reaches(struct bk_box *b, struct bk_at at, struct bk_slice start, struct bk_step step,
		  const char *names);

#define WALK(b, hits, start, steps, n, fields, cap)                                                \
	bk_t_walk(b, AT, hits, start, steps, n, fields, cap)
#define HITS(b, got, names)            bk_t_hits_named(b, AT, got, names)
#define REACHES(b, start, step, names) bk_t_reaches(b, AT, start, step, names)

#endif
