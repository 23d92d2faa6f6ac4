/*
 * doc.h - the document layout: a node's row in memory, and the unit of work that changes rows.
 *
 * The published layout keeps everything about a node in one value under its id: properties, links,
 * the list of children, the referrers.  So one put changes several rows: the node's own, its
 * parent's, those of its links' targets.  A target that does not exist yet has a row too, without
 * a path, that lists its referrers and nothing else.
 */
#ifndef BK_PG_DOC_H
#define BK_PG_DOC_H

#include "pg.h"

/* A list inside a row: entries one after the other, each (relation, id); children have an empty
 * relation. */
struct doc_list {
	struct pg_buffer bytes;
	uint32_t count;
};
struct doc_entry {
	struct bk_slice rel, id;
};
void doc_list_add(struct doc_list *list, struct bk_slice rel, struct bk_slice id);
/* Takes out the entry if it is there. */
void doc_list_remove(struct doc_list *list, struct bk_slice rel, struct bk_slice id);
/* *at begins at 0; false at the end. */
bool doc_entry_next(struct doc_entry *out, struct bk_slice list, size_t *at);
void doc_entry_add(struct pg_buffer *b, struct bk_slice rel, struct bk_slice id);

/* What a stored value says; views into it. */
struct doc_value {
	bool exists;
	uint64_t version;
	struct bk_slice parent, path, doc;
	struct bk_slice links, children, referrers; /* entries */
	uint32_t link_count, child_count, referrer_count;
};
bool doc_value_decode(struct doc_value *out, struct bk_slice stored);
bk_status doc_corrupt(struct bk_error *err, const char *what);

/* A row that is being changed.  It owns its bytes. */
struct doc_row {
	struct doc_row *next;
	struct bk_slice id; /* behind the struct */
	bool stored, exists, dirty;
	uint64_t version, item;
	struct pg_buffer place; /* parent, then path */
	size_t parent_len;
	struct pg_buffer doc;
	struct doc_list links, children, referrers;
};
void doc_row_encode(struct pg_buffer *out, const struct doc_row *r);
static inline struct bk_slice doc_row_parent(const struct doc_row *r)
{
	return bk_slice_of(r->place.data, r->parent_len);
}
static inline struct bk_slice doc_row_path(const struct doc_row *r)
{
	return bk_slice_of(r->exists ? r->place.data + r->parent_len : "",
			   r->place.len - r->parent_len);
}

/* ---- unit of work ----------------------------------------------------------------------- */

#define DOC_PATH_FREE    0xfffffffdu /* looked up, nobody has it */
#define DOC_PATH_FOREIGN 0xfffffffeu /* a row that is not in the unit has it */

struct doc_path { /* a key of the map of paths */
	struct doc_path *next;
	struct bk_slice path; /* behind the struct */
};

struct pg_unit {
	const struct bk_host *host;
	struct doc_row *rows, **rows_end;
	struct doc_row **list;
	size_t count, cap;
	struct pg_map by_id;   /* to an index into `list` */
	struct pg_map by_path; /* the same, or DOC_PATH_* */
	struct doc_path *paths;
	struct pg_buffer wanted, wanted_paths; /* to be loaded: arrays in the making */
	size_t wanted_count, wanted_path_count;
	size_t bytes;
	bool failed; /* out of memory */
};

/* Name the rows and the paths that will be needed, load them under lock, then look at them. */
void doc_unit_want(struct pg_unit *u, struct bk_slice id);
void doc_unit_want_path(struct pg_unit *u, struct bk_slice path);
bk_status doc_unit_load(struct bk_session *s, const char *what, struct bk_error *err);
struct doc_row *doc_unit_row(const struct pg_unit *u, struct bk_slice id);
bool doc_unit_path_taken(const struct pg_unit *u, struct bk_slice path);
void doc_unit_take_path(struct pg_unit *u, const struct doc_row *r);
/* Queue a write for each row that has changed. */
void doc_unit_send(struct bk_session *s);

/* ---- changes, on rows that are loaded
 * ------------------------------------------------------------ */

void doc_want_put(struct pg_unit *u, const struct bk_node *node);
/* What a node that is replaced or removed points at now, and its parent. */
void doc_want_old(struct pg_unit *u, struct bk_slice id);
bk_status doc_apply_put(struct pg_unit *u, const struct bk_node *node, uint32_t mode, uint64_t item,
			struct bk_error *err);
bk_status doc_apply_remove(struct pg_unit *u, struct bk_slice id, uint64_t item,
			   struct bk_error *err);

#endif
