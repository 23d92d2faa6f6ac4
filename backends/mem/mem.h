/*
 * mem.h - the structures of the in-memory backend: the oracle that other backends are compared
 * with, and the price of the harness in a scenario.
 *
 * The one invariant: a graph holds a slot for every id that is live, is a parent, or is the end of
 * a link, and for no other.  The store's graph is touched only under store->lock; a transaction's
 * own graph (its overlay) only by the session's thread.
 */
#ifndef BK_MEM_MEM_H
#define BK_MEM_MEM_H

#include <bakeoff/backend.h>
#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define MEM_NAME_MAX  65535u                    /* id, path, relation, key: bytes */
#define MEM_DOC_MAX   (UINT64_C(1) << 32)       /* bytes */
#define MEM_BIN_MAX   (UINT64_C(1) << 40)       /* bytes */
#define MEM_VIEWS_MAX ((size_t)8 * 1024 * 1024) /* of one get_many, bytes */

/* ---- Hash table: chained, the entries are part of what they index ------ */

struct mem_entry {
	struct mem_entry *next;
	uint64_t hash;
};

struct mem_table {
	struct mem_entry **buckets;
	size_t mask; /* buckets - 1; the number of buckets is a power of two */
	size_t count;
};

bool mem_table_init(struct mem_table *t);
void mem_table_free(struct mem_table *t); /* the entries are the owner's */
void mem_table_clear(struct mem_table *t);
void mem_table_add(struct mem_table *t, struct mem_entry *e, uint64_t hash); /* cannot fail */
void mem_table_drop(struct mem_table *t, struct mem_entry *e);
uint64_t mem_hash(struct bk_slice s);

/* First entry of a chain; the caller walks `next` and compares hash, then key. */
static inline struct mem_entry *mem_table_chain(const struct mem_table *t, uint64_t hash)
{
	return t->buckets[hash & t->mask];
}

/* The entry's owner. */
#define MEM_OWNER(entry, type, member) ((type *)(void *)((char *)(entry)-offsetof(type, member)))

/* ---- Graph: nodes and links -------------------------------------------- */

enum mem_state {
	MEM_NONE, /* only referred to, as a parent or as the end of a link */
	MEM_FULL, /* the node itself; in an overlay it hides the store's */
	MEM_MORE, /* overlay only: a tail and links added to the store's node */
	MEM_GONE, /* overlay only: the store's node is hidden */
};

struct mem_slot;

struct mem_edge {                /* one link */
	struct mem_entry by_key; /* (from, rel, to): a link is there once */
	struct mem_slot *from, *to;
	struct mem_edge *out_next, *out_prev; /* among the links of `from` */
	struct mem_edge *in_next, *in_prev;   /* among the links to `to` */
	size_t rel_len;
	char rel[];
};

struct mem_slot {
	struct mem_entry by_id;
	struct mem_entry by_path; /* MEM_FULL only */
	struct mem_slot *parent;
	struct mem_slot *sibling_next, *sibling_prev, *children;
	struct mem_edge *out, *in;
	char *path, *doc;
	size_t path_len, doc_len, doc_cap;
	size_t out_count, out_bytes; /* of the links in `out` */
	uint64_t version;
	size_t pins; /* lists of links and commits that hold on to it */
	/* Overlay only. */
	struct mem_slot *touched_next; /* in order of the first change */
	struct mem_slot *twin;         /* the store's slot of that id, during commit */
	uint64_t seen_version;         /* the store's version at the first change; 0: absent */
	uint64_t ordinal;              /* of the write that changed it first */
	bool was_removed;              /* at any time in the transaction */
	uint8_t state;                 /* enum mem_state */
	size_t id_len;
	char id[];
};

struct mem_graph {
	struct mem_table ids, paths, edges;
	uint64_t nodes, links, bytes; /* of what is MEM_FULL */
};

bool mem_graph_init(struct mem_graph *g);
void mem_graph_clear(struct mem_graph *g); /* empty and small */
void mem_graph_free(struct mem_graph *g);

struct mem_slot *mem_slot_find(const struct mem_graph *g, struct bk_slice id);
struct mem_slot *mem_slot_get(struct mem_graph *g, struct bk_slice id); /* NULL: out of memory */
void mem_slot_release(struct mem_graph *g, struct mem_slot *s); /* freed if nothing needs it */
struct mem_slot *mem_path_find(const struct mem_graph *g, struct bk_slice path);
struct mem_edge *mem_edge_find(const struct mem_graph *g, const struct mem_slot *from,
			       struct bk_slice rel, const struct mem_slot *to);
/* Lists of links that are not in the graph: chained by out_next, their targets' slots pinned.
 * prepare() makes one (false: out of memory, nothing was kept), detach() takes all links of a slot,
 * insert() puts a list into the graph (duplicates collapse), discard() frees one. */
bool mem_edges_prepare(struct mem_edge **out, struct mem_graph *g, struct mem_slot *from,
		       const struct bk_link *links, size_t n);
struct mem_edge *mem_edges_detach(struct mem_graph *g, struct mem_slot *from);
void mem_edges_insert(struct mem_graph *g, struct mem_edge *list);
void mem_edges_discard(struct mem_graph *g, struct mem_edge *list);
/* Into the graph as a node, and out of it.  `path`, `doc` change owner. */
void mem_slot_enter(struct mem_graph *g, struct mem_slot *s, struct mem_slot *parent, char *path,
		    size_t path_len);
void mem_slot_set_doc(struct mem_graph *g, struct mem_slot *s, char *doc, size_t len, size_t cap);
char *mem_slot_take_doc(struct mem_graph *g, struct mem_slot *s); /* leaves it empty */
bool mem_slot_reserve(struct mem_slot *s, size_t more); /* room for `more` bytes of document */
void mem_slot_append(struct mem_graph *g, struct mem_slot *s, struct bk_slice tail);
void mem_slot_strip(struct mem_graph *g, struct mem_slot *s); /* to MEM_NONE; keeps children */

static inline struct bk_slice mem_slot_id(const struct mem_slot *s)
{
	return bk_slice_of(s->id, s->id_len);
}

/* ---- Binaries ---------------------------------------------------------- */

struct mem_blob { /* never changes once it is in a table */
	atomic_uint refs;
	uint64_t version;
	uint64_t len;
	unsigned char *data;
};

struct mem_bin {
	struct mem_entry by_key;
	struct mem_blob *blob; /* NULL, overlay only: removed */
	/* Overlay only. */
	struct mem_bin *touched_next, *twin;
	uint64_t seen_version, ordinal;
	size_t key_len;
	char key[];
};

struct mem_bins {
	struct mem_table keys;
	uint64_t bytes;
};

bool mem_bins_init(struct mem_bins *b);
void mem_bins_clear(struct mem_bins *b);
void mem_bins_free(struct mem_bins *b);
struct mem_bin *mem_bin_find(const struct mem_bins *b, struct bk_slice key);
struct mem_bin *mem_bin_get(struct mem_bins *b, struct bk_slice key); /* NULL: out of memory */
void mem_bin_drop(struct mem_bins *b, struct mem_bin *bin);
void mem_bin_set(struct mem_bins *b, struct mem_bin *bin, struct mem_blob *blob); /* takes it */
void mem_blob_release(struct mem_blob *blob);

/* ---- Handles ----------------------------------------------------------- */

struct mem_options {
	uint8_t pretend_durable;
};

struct bk_store {
	pthread_rwlock_t lock; /* graph, bins, changes, made, mark */
	struct mem_graph graph;
	struct mem_bins bins;
	uint64_t changes; /* commits so far; what a serializable transaction watches */
	_Atomic uint64_t versions;
	bool made;
	uint32_t durability; /* the highest that a session may ask for */
};

struct mem_buf { /* grows, never shrinks on its own */
	void *data;
	size_t cap;
};
bool mem_buf_reserve(struct mem_buf *b, size_t bytes);

/* What a session sees: the store, behind the transaction's own changes. */
struct mem_view {
	const struct mem_graph *base;
	const struct mem_graph *over; /* NULL outside a transaction */
};

/* One node as seen.  `node` decides whether it is there; `base` and `over` may be slots that are
 * only referred to. */
struct mem_seen {
	struct mem_slot *base, *over;
};

struct bk_cursor { /* holds all of its answer from the start: what was there at open */
	bool open;
	size_t count, next;
	struct bk_hit *hits;   /* a walk's; or */
	struct bk_slice *keys; /* a list's */
	uint64_t *sizes_bytes;
	void *block; /* one block for the above and the bytes that they point at */
};

struct bk_writer {
	struct bk_session *session;
	struct mem_blob *blob; /* NULL: not open */
	uint64_t declared_bytes, cap;
	uint32_t mode;
	struct mem_buf key;
	size_t key_len;
};

struct bk_reader {
	struct mem_blob *blob; /* NULL: not open */
	uint64_t at, end;
};

struct mem_txn {
	bool open, read_only, serializable;
	uint64_t changes; /* store->changes at begin */
	uint64_t ordinal; /* of the next write */
	struct mem_graph graph;
	struct mem_bins bins;
	struct mem_slot *touched, **touched_tail;
	struct mem_bin *touched_bins, **touched_bins_tail;
};

struct bk_session {
	struct bk_store *store;
	struct mem_txn txn;
	struct bk_cursor cursor;
	struct bk_writer writer;
	struct bk_reader reader;
	struct mem_buf links, bytes;         /* borrowed views point in here */
	struct mem_buf seen, frontier, undo; /* scratch */
};

/* ---- Across the files -------------------------------------------------- */

extern const struct bk_txn_ops mem_txn_ops;
extern const struct bk_node_ops mem_node_ops;
extern const struct bk_binary_ops mem_binary_ops;

/* check.c: what the contract says of arguments. */
bk_status mem_check_name(struct bk_error *err, const char *what, struct bk_slice s);
bk_status mem_check_text(struct bk_error *err, const char *what, struct bk_slice s);
bk_status mem_check_node(struct bk_error *err, const struct bk_node *node, uint32_t mode);
bk_status mem_check_links(struct bk_error *err, const struct bk_link *links, size_t n);

/* view.c: what a session sees. */
struct mem_view mem_view_of(struct bk_session *s);
struct mem_seen mem_see(const struct mem_view *v, struct bk_slice id);
bool mem_is_there(struct mem_seen n);
bool mem_is_hidden(const struct mem_view *v, const struct mem_slot *base); /* by the overlay */
bool mem_is_repeated(const struct mem_view *v, const struct mem_edge *e);  /* in store too */
const struct mem_slot *mem_face(struct mem_seen n); /* where path and parent are */
uint64_t mem_version_seen(struct mem_seen n);
bool mem_path_seen(struct bk_slice *id_out, const struct mem_view *v, struct bk_slice path);
bool mem_has_children(const struct mem_view *v, struct mem_seen n);

/* change.c: one change, to the overlay inside a transaction, else to the store.  The lock is held,
 * for writing outside a transaction. */
struct mem_undo { /* what a put took away */
	struct mem_slot *slot;
	struct mem_edge *edges;
	char *doc;
	size_t doc_len, doc_cap;
	uint64_t version;
	struct mem_slot **tail; /* of the touched list, when the put lengthened it */
	uint8_t state;          /* enum mem_state, before */
};
bk_status mem_change_put(struct mem_undo *undo, struct bk_session *s, const struct bk_node *node,
			 uint32_t mode, struct bk_error *err);
void mem_undo_roll_back(struct bk_session *s, struct mem_undo *undo);
void mem_undo_forget(struct bk_session *s, struct mem_undo *undo);
bk_status mem_change_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			    const struct bk_link *links, size_t n, struct bk_error *err);
bk_status mem_change_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err);

/* txn.c */
bool mem_txn_init(struct mem_txn *t);
void mem_txn_free(struct mem_txn *t);
void mem_txn_touch(struct mem_txn *t, struct mem_slot *over, const struct mem_slot *base);
void mem_txn_touch_bin(struct mem_txn *t, struct mem_bin *over, const struct mem_bin *base);
/* Under the lock, before every read and write: STATE for a write in a read-only transaction,
 * CONFLICT when a serializable one has lost. */
bk_status mem_txn_check(struct bk_session *s, bool write, struct bk_error *err);
/* commit.c: the overlay into the store, or nothing at all.  The lock is held for writing. */
bk_status mem_txn_apply(struct bk_session *s, struct bk_error *err);

/* walk.c; the cursor of a list is closed there too. */
bk_status mem_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			const struct bk_step *steps, size_t n_steps, uint32_t want,
			struct bk_error *err);
bk_status mem_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			struct bk_error *err);
void mem_cursor_close(struct bk_cursor *c);

#endif
