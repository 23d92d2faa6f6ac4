/*
 * rel.h - what the files of the relational layout share.
 *
 * The one invariant: a node is known inside by a number `n` that is never used again; its id
 * stands in one place only.
 */
#ifndef BK_MYSQL_REL_H
#define BK_MYSQL_REL_H

#include "session.h"

bk_status my_rel_get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		     struct bk_error *err);
bk_status my_rel_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			  const struct bk_slice *ids, size_t n, uint32_t want,
			  struct bk_error *err);
bk_status my_rel_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
		      struct bk_error *err);
bk_status my_rel_put(struct bk_session *s, const struct bk_node *nodes, size_t n, bool more,
		     uint32_t mode, size_t *item, struct bk_error *err);
bk_status my_rel_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err);
bk_status my_rel_append(struct bk_session *s, struct bk_slice id, struct bk_slice data,
			const struct bk_link *links, size_t link_count, struct bk_error *err);
bk_status my_rel_walk_open(struct bk_cursor *cursor, struct bk_slice start,
			   const struct bk_step *steps, size_t n_steps, uint32_t want,
			   struct bk_error *err);
bk_status my_rel_walk_next(struct bk_cursor *cursor, struct bk_hit *out, size_t cap, size_t *n,
			   struct bk_error *err);
void my_rel_walk_close(struct bk_cursor *cursor);

int my_link_cmp(const struct bk_link *a, const struct bk_link *b);
/* Sorted, each once; out has room for n.  Answers how many are left (rel_links.c). */
size_t my_links_unique(const struct bk_link **out, const struct bk_link *links, size_t n);

/* Numbers of nodes by their ids (rel_parent.c); 0: no such node.  known: as this session remembers
 * it; find: from the server, with a shared lock. */
void my_parent_learn(struct bk_session *s, struct bk_slice id, uint64_t n);
uint64_t my_parent_known(const struct bk_session *s, struct bk_slice id);
bk_status my_parent_find(uint64_t *out, struct bk_session *s, struct bk_slice id,
			 struct bk_error *err);
bk_status my_parents_find(struct bk_session *s, const struct bk_slice *ids, uint64_t *numbers,
			  size_t n, struct bk_error *err);

#endif
