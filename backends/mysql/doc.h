/*
 * doc.h - what the files of the document layout share: rows, and a unit of work on them.
 *
 * One table, one row a node: key 'n' + id.  Everything of the node is in the row, what points at
 * it too; a change of a child or of a link writes the parent's or the target's row again.  A row
 * 'p' + path holds the id.
 *
 * The one invariant: a row that is only referred to, or once was, says so (`there` is false) and is
 * no node.
 */
#ifndef BK_MYSQL_DOC_H
#define BK_MYSQL_DOC_H

#include "session.h"

/* Entries one after the other, each a length and bytes (children), or two of them (pairs). */
struct my_entries {
	const char *data;
	size_t len;
	size_t count;
	size_t room; /* behind len, in memory of ours */
};
struct my_row {
	bool there;
	uint64_t version;
	struct bk_slice parent, path, doc;
	struct my_entries links;     /* (relation, target) */
	struct my_entries children;  /* id */
	struct my_entries referrers; /* (relation, source) */
};

/* doc_row.c.  A decoded row is made of views into what it was decoded from. */
bk_status my_row_decode(struct my_row *out, struct bk_slice from, struct bk_error *err);
bool my_row_encode(struct my_buf *out, const struct my_row *row);
/* The entry at *p, which moves on; false at the end. */
bool my_entry(struct bk_slice *out, const char **p, const char *end);
static inline const char *my_entries_begin(const struct my_entries *list)
{
	return list->data ? list->data : "";
}
bool my_entries_add(struct my_entries *list, struct my_arena *a, const struct bk_slice *parts,
		    unsigned n);
/* The first entry of these parts, if there is one.  Both: false: out of memory. */
bool my_entries_remove(struct my_entries *list, struct my_arena *a, const struct bk_slice *parts,
		       unsigned n);

/* doc_unit.c */
struct my_loaded {
	struct bk_slice key; /* as in the table */
	struct bk_slice raw; /* 'p' rows: the id */
	struct my_row row;   /* 'n' rows */
	bool stored, dirty;  /* in the table; to be written */
	bool gone;           /* to be deleted */
};
struct my_doc_unit {
	struct bk_session *s;
	struct my_map index; /* key -> place in rows */
	struct my_loaded **rows;
	size_t count, cap;
};
bool my_key(struct my_arena *a, struct bk_slice *out, char kind, struct bk_slice name);
bk_status my_unit_init(struct my_doc_unit *u, struct bk_session *s, size_t keys_max,
		       struct bk_error *err);
/* Names a row; it is read, and locked, by the next my_unit_load(). */
bk_status my_unit_want(struct my_loaded **out, struct my_doc_unit *u, char kind,
		       struct bk_slice name, struct bk_error *err);
bk_status my_unit_load(struct my_doc_unit *u, size_t from, struct bk_error *err);
/* Writes what is dirty.  EXISTS: somebody else has put a row where there was none. */
bk_status my_unit_write(struct my_doc_unit *u, struct bk_error *err);

/* doc_put.c */
bk_status my_doc_put(struct bk_session *s, const struct bk_node *nodes, size_t n, bool more,
		     uint32_t mode, size_t *item, struct bk_error *err);
bk_status my_doc_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err);

/* doc_walk.c */
bk_status my_doc_walk_open(struct bk_cursor *c, struct bk_slice start, const struct bk_step *steps,
			   size_t n_steps, uint32_t want, struct bk_error *err);
bk_status my_doc_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			   struct bk_error *err);
void my_doc_walk_close(struct bk_cursor *c);

#endif
