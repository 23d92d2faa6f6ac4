/*
 * model.h - what a store should hold, kept in plain arrays, and the operations that change it.
 *
 * The one invariant: the model is obvious.  Everything is a linear search over a few entries, so
 * that it can be read and believed; where the contract leaves a choice, the model allows each.
 */
#ifndef BK_CONFORM_MODEL_H
#define BK_CONFORM_MODEL_H

#include "conform/binaries.h"
#include "conform/txns.h"

#define MODEL_IDS   24 /* names that operations draw from: few, so that they meet */
#define MODEL_RELS  3
#define MODEL_KEYS  10
#define MODEL_LINKS 5 /* at most, in one operation */
#define MODEL_BATCH 5
#define MODEL_STEPS 3
#define MODEL_NONE  UINT32_MAX

/* ---- Operations: data, made before anything runs ------------------------------------------ */

enum model_kind {
	MODEL_PUT,
	MODEL_PUT_MANY,
	MODEL_CAS,
	MODEL_APPEND,
	MODEL_REMOVE,
	MODEL_GET,
	MODEL_FIND,
	MODEL_GET_MANY,
	MODEL_WALK,
	MODEL_BEGIN,
	MODEL_COMMIT,
	MODEL_ROLLBACK,
	MODEL_REOPEN,
	MODEL_SETTLE,
	MODEL_STORE,
	MODEL_ABORT,
	MODEL_UNSTORE,
	MODEL_STAT,
	MODEL_LIST,
	MODEL_CHECK, /* everything */
	MODEL_KINDS
};

struct model_link {
	uint32_t rel, target;
};
struct model_put {
	uint32_t id, path, parent, mode; /* indices; parent MODEL_NONE: a root */
	uint32_t label, doc_len;         /* the document */
	struct model_link links[MODEL_LINKS];
	uint32_t link_count;
};
struct model_op {
	enum model_kind kind;
	uint32_t count;                     /* of puts, ids or steps */
	struct model_put puts[MODEL_BATCH]; /* put: [0]; append, get, find, remove: [0] too */
	struct bk_step steps[MODEL_STEPS];
	uint32_t rels[MODEL_STEPS]; /* of the steps; MODEL_NONE: any */
	uint32_t fields, cap;
	uint64_t len, declared, offset; /* binaries */
};

/* What a run is made of, in parts of a hundred or so. */
struct model_mix {
	unsigned weight[MODEL_KINDS];
};
void model_generate(struct model_op *ops, size_t n, const struct model_mix *mix, uint64_t seed);
const char *model_show(struct bk_arena *arena, const struct model_op *op);

/* Names by index. */
struct bk_slice model_id(struct bk_box *b, uint32_t i);
struct bk_slice model_path(struct bk_box *b, uint32_t i);
struct bk_slice model_rel(uint32_t i);
struct bk_slice model_key(struct bk_box *b, uint32_t i);

/* ---- The store that should be --------------------------------------------------------------- */

struct model_node {
	bool there;
	uint32_t path, parent;
	char *doc; /* in the model's arena */
	size_t doc_len;
	struct model_link links[256]; /* each once */
	uint32_t link_count;
};
struct model_blob {
	bool there;
	uint64_t label, len;
};
struct model_state {
	struct model_node nodes[MODEL_IDS];
	struct model_blob blobs[MODEL_KEYS];
};
struct model {
	struct model_state now, before; /* before: at begin() */
	bool in_txn;
	struct bk_arena arena;
};

/* The statuses that the put may answer; changes nothing. */
uint32_t model_put_outcomes(const struct model_state *s, const struct model_put *put);
void model_put_apply(struct model *m, const struct model_put *put);
bool model_append_apply(struct model *m, const struct model_put *put); /* false: too many links */
uint32_t model_remove_outcomes(const struct model_state *s, uint32_t id);
/* The node as the store should give it, in the box. */
struct bk_node model_node_of(struct bk_box *b, const struct model_state *s, uint32_t id);
struct bk_node model_put_node(struct bk_box *b, const struct model_put *put);
void model_walk(struct bk_box *b, const struct model_state *s, uint32_t start,
		const struct model_op *op, struct bk_hits *out);

/* ---- Running --------------------------------------------------------------------------------- */

struct model_run {
	struct bk_box *b;
	struct model *m;
	uint32_t durability, flags; /* for a reopen */
};

/* Runs one operation on store and model and compares; FAILs on any difference. */
void model_step(struct model_run *r, const struct model_op *op);

#endif
