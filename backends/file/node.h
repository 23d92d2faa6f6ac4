/*
 * node.h - the operations on nodes, and what those that write share.
 *
 * The one invariant: whoever changes a node holds the stripes of its id, its path, its parent and
 * of each target that it gains or loses.
 */
#ifndef BK_FILE_NODE_H
#define BK_FILE_NODE_H

#include "file.h"

bk_status file_node_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			struct bk_error *err);
bk_status file_node_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			   const struct bk_link *links, size_t link_count, struct bk_error *err);
bk_status file_node_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err);
bk_status file_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			 const struct bk_step *steps, size_t n_steps, uint32_t want,
			 struct bk_error *err);
bk_status file_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			 struct bk_error *err);
void file_walk_close(struct bk_cursor *c);

/* ---- links.c --------------------------------------------------------------------------- */

/* The links, checked, sorted by target and without duplicates, in s->links; *n of them. */
bk_status file_links_take(struct bk_session *s, const struct bk_link *links, size_t count,
			  size_t *n, struct bk_error *err);
/* Is the link among n sorted ones? */
bool file_links_have(const struct bk_link *sorted, size_t n, const struct bk_link *link);
void file_links_stripes(struct file_stripes *set, const struct bk_link *links, size_t n);

/* ---- after a change -------------------------------------------------------------------- */

/* Stripes are free again: the name on disk as the session wants it, and the garbage looked at. */
bk_status file_node_settle_name(struct bk_session *s, const char *name, bool killed,
				struct bk_error *err);
void file_note_lax(struct bk_session *s);

#endif
