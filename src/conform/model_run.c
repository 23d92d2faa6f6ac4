/*
 * model_run.c - one operation on the store and on the model, and what both say of it.
 *
 * The one invariant: after each step the model holds what the store should.  A write that fails
 * inside a transaction is followed by a rollback of both, since what is left of such a transaction
 * is the store's own affair.
 */
#include "conform/model.h"

static void give_up(struct model_run *r)
{
	if (!r->m->in_txn)
		return;
	ROLLBACK(r->b);
	r->m->now = r->m->before;
	r->m->in_txn = false;
}

/* ---- Writes
 * -------------------------------------------------------------------------------------- */

static void step_put(struct model_run *r, const struct model_put *put)
{
	uint32_t set = model_put_outcomes(&r->m->now, put);
	struct bk_node node = model_put_node(r->b, put);
	bk_status st;

	WANT_IN(r->b->t, set, UINT64_MAX, st, r->b->ops->node.put(r->b->s, &node, put->mode, E));
	if (st == BK_OK)
		model_put_apply(r->m, put);
	else
		give_up(r);
}

/* Of a batch that failed, the nodes before the failing one may be stored, each whole. */
static void take_in_stored(struct model_run *r, const struct model_op *op, uint64_t item)
{
	struct bk_box *b = r->b;
	uint64_t i;

	for (i = 0; i < item; i++) {
		const struct model_put *put = &op->puts[i];
		struct bk_node want = model_put_node(b, put), got;
		bk_status st;

		ANY(b->t, st, b->ops->node.get(&got, b->s, want.id, BK_WANT_DOC, E));
		if (st == BK_OK && bk_slice_eq(got.doc, want.doc) &&
		    model_put_outcomes(&r->m->now, put) == ONE(BK_OK))
			model_put_apply(r->m, put);
	}
}

static void step_put_many(struct model_run *r, const struct model_op *op)
{
	struct model_state before = r->m->now;
	struct bk_node nodes[MODEL_BATCH];
	uint64_t item = UINT64_MAX;
	uint32_t set = ONE(BK_OK), i;
	bool in_txn = r->m->in_txn;
	bk_status st;

	for (i = 0; i < op->count; i++)
		nodes[i] = model_put_node(r->b, &op->puts[i]);
	for (i = 0; i < op->count && set == ONE(BK_OK); i++) {
		set = model_put_outcomes(&r->m->now, &op->puts[i]);
		item = set == ONE(BK_OK) ? UINT64_MAX : i;
		if (set == ONE(BK_OK))
			model_put_apply(r->m, &op->puts[i]);
	}
	WANT_IN(r->b->t, set, item, st,
		r->b->ops->node.put_many(r->b->s, nodes, op->count, op->puts[0].mode, E));
	if (st == BK_OK)
		return;
	r->m->now = before;
	give_up(r);
	if (!in_txn && !(r->b->t->own & BK_F_BATCH_ATOMIC))
		take_in_stored(r, op, item);
}

/* With the version that it has, then with that one again. */
static void step_cas(struct model_run *r, const struct model_put *op)
{
	struct bk_box *b = r->b;
	struct model_put put = *op;
	struct bk_node node, got;

	if (!r->m->now.nodes[put.id].there)
		return;
	put.mode = BK_PUT_REPLACE;
	put.path = r->m->now.nodes[put.id].path;
	put.parent = r->m->now.nodes[put.id].parent;
	GET(b, BK_OK, &got, model_id(b, put.id), 0);
	node = model_put_node(b, &put);
	node.version = got.version;
	PUT(b, BK_OK, &node, BK_PUT_REPLACE);
	model_put_apply(r->m, &put);
	PUT(b, BK_CONFLICT, &node, BK_PUT_REPLACE);
	give_up(r);
}

static void step_append(struct model_run *r, const struct model_put *put)
{
	struct bk_box *b = r->b;
	bool there = r->m->now.nodes[put->id].there;
	struct bk_node node = model_put_node(b, put);

	if (there && r->m->now.nodes[put->id].doc_len > 500000)
		return;
	APPEND(b, there ? BK_OK : BK_NOT_FOUND, node.id, node.doc, node.links, node.link_count);
	if (!there)
		give_up(r);
	else
		CHECK(b->t, model_append_apply(r->m, put), "the model has no room for the links");
}

static void step_remove(struct model_run *r, uint32_t id)
{
	bk_status st;

	WANT_IN(r->b->t, model_remove_outcomes(&r->m->now, id), UINT64_MAX, st,
		r->b->ops->node.remove(r->b->s, model_id(r->b, id), E));
	if (st == BK_OK)
		r->m->now.nodes[id].there = false;
	else
		give_up(r);
}

/* ---- Reads
 * --------------------------------------------------------------------------------------- */

static void step_get(struct model_run *r, uint32_t id, uint32_t fields)
{
	struct bk_box *b = r->b;
	struct bk_node want, got;

	if (!r->m->now.nodes[id].there) {
		GET(b, BK_NOT_FOUND, &got, model_id(b, id), fields);
		return;
	}
	want = model_node_of(b, &r->m->now, id);
	GET(b, BK_OK, &got, want.id, fields);
	bk_t_equal(b, AT, &want, &got, fields);
}

static void step_find(struct model_run *r, uint32_t path)
{
	struct bk_box *b = r->b;
	struct bk_slice id;
	uint32_t i;

	for (i = 0; i < MODEL_IDS; i++) {
		if (r->m->now.nodes[i].there && r->m->now.nodes[i].path == path) {
			FIND(b, BK_OK, &id, model_path(b, path));
			CHECK(b->t, bk_slice_eq(id, model_id(b, i)),
			      "path %s belongs to node %s and find gives %s",
			      bk_test_show(&b->arena, model_path(b, path)),
			      bk_test_show(&b->arena, model_id(b, i)), bk_test_show(&b->arena, id));
			return;
		}
	}
	FIND(b, BK_NOT_FOUND, &id, model_path(b, path));
}

static void step_get_many(struct model_run *r, const struct model_op *op)
{
	struct bk_box *b = r->b;
	struct bk_slice ids[MODEL_BATCH];
	struct bk_node want, got[MODEL_BATCH];
	uint32_t i;

	for (i = 0; i < op->count; i++)
		ids[i] = model_id(b, op->puts[i].id);
	GET_MANY(b, got, ids, op->count, op->fields);
	for (i = 0; i < op->count; i++) {
		if (!r->m->now.nodes[op->puts[i].id].there) {
			CHECK(b->t, got[i].id.len == 0,
			      "get_many gives node %s, which is not there",
			      bk_test_show(&b->arena, ids[i]));
			continue;
		}
		want = model_node_of(b, &r->m->now, op->puts[i].id);
		bk_t_equal(b, AT, &want, &got[i], op->fields);
	}
}

static void step_walk(struct model_run *r, const struct model_op *op)
{
	struct bk_hits want, got;
	struct bk_box *b = r->b;

	model_walk(b, &r->m->now, op->puts[0].id, op, &want);
	if (want.count > 20000)
		return;
	WALK(b, &got, model_id(b, op->puts[0].id), op->steps, op->count, op->fields, op->cap);
	bk_t_hits(b, AT, &want, &got, op->fields);
}

/* ---- Binaries
 * ------------------------------------------------------------------------------------ */

/* Some of it is written, then none of it is to be there. */
static void step_abort(struct model_run *r, const struct model_op *op)
{
	struct bk_writer *w = WRITE_OPEN(r->b, model_key(r->b, op->puts[0].id % MODEL_KEYS),
					 op->len % 2 ? op->len : BK_SIZE_UNKNOWN, BK_PUT_UPSERT);

	WRITE(r->b, w, op->puts[0].label, 0, op->len / 2);
	r->b->ops->binary.abort(w);
}

static void step_store(struct model_run *r, const struct model_op *op)
{
	uint32_t key = op->puts[0].id % MODEL_KEYS;
	struct model_blob *blob = &r->m->now.blobs[key];
	bool create = op->puts[0].mode == BK_PUT_CREATE && (r->b->t->own & BK_F_BINARY_CREATE);
	bool refused = create && blob->there, wrong = op->declared == 2 && op->len % 7 == 0;
	uint64_t declared = wrong ? op->len + 1 : op->declared ? op->len : BK_SIZE_UNKNOWN;
	bk_status want = wrong ? BK_INVALID : refused ? BK_EXISTS : BK_OK;

	if (wrong && refused)
		return; /* either answer will do */
	bk_t_store(r->b, AT, model_key(r->b, key), op->puts[0].label, op->len, declared,
		   create ? BK_PUT_CREATE : BK_PUT_UPSERT, want);
	if (want != BK_OK) {
		give_up(r);
		return;
	}
	blob->there = true;
	blob->label = op->puts[0].label;
	blob->len = op->len;
}

static void step_unstore(struct model_run *r, uint32_t key)
{
	struct model_blob *blob = &r->m->now.blobs[key];

	bk_t_binary_remove(r->b, AT, model_key(r->b, key), blob->there ? BK_OK : BK_NOT_FOUND);
	if (!blob->there)
		give_up(r);
	else
		blob->there = false;
}

static void step_stat(struct model_run *r, uint32_t key, uint64_t offset, uint64_t len)
{
	const struct model_blob *blob = &r->m->now.blobs[key];

	if (!blob->there)
		NO_BINARY(r->b, model_key(r->b, key));
	else if (offset <= blob->len)
		bk_t_read(r->b, AT, model_key(r->b, key), blob->label, blob->len, offset, len,
			  4000);
	else
		BINARY(r->b, model_key(r->b, key), blob->label, blob->len);
}

static void step_list(struct model_run *r, size_t cap)
{
	struct bk_slice keys[MODEL_KEYS];
	uint64_t sizes[MODEL_KEYS];
	uint32_t i, n = 0;

	for (i = 0; i < MODEL_KEYS; i++) {
		if (!r->m->now.blobs[i].there)
			continue;
		keys[n] = model_key(r->b, i);
		sizes[n++] = r->m->now.blobs[i].len;
	}
	bk_t_list(r->b, AT, keys, sizes, n, cap);
}

/* ---- The store as a whole
 * -------------------------------------------------------------------------- */

static void check_walks(struct model_run *r, uint32_t id)
{
	struct model_op op;
	uint32_t dir;

	memset(&op, 0, sizeof(op));
	op.kind = MODEL_WALK;
	op.count = 1;
	op.puts[0].id = id;
	op.rels[0] = MODEL_NONE;
	op.fields = BK_WANT_PATH;
	op.cap = 100;
	for (dir = BK_CHILDREN; dir <= BK_IN; dir++) {
		op.steps[0].dir = dir;
		step_walk(r, &op);
	}
}

static void step_check(struct model_run *r)
{
	uint32_t i;

	for (i = 0; i < MODEL_IDS && (r->b->t->own & BK_F_NODES); i++) {
		step_get(r, i, BK_WANT_ALL);
		step_find(r, i);
		if (!r->m->in_txn || (r->b->t->own & BK_F_TXN_WALK))
			check_walks(r, i);
	}
	if (!(r->b->t->own & BK_F_BINARIES) ||
	    (r->m->in_txn && !(r->b->t->own & BK_F_TXN_BINARIES)))
		return;
	for (i = 0; i < MODEL_KEYS; i++)
		step_stat(r, i, 0, BK_SIZE_UNKNOWN);
	step_list(r, 3);
}

static void step_txn(struct model_run *r, enum model_kind kind)
{
	if (kind == MODEL_BEGIN && !r->m->in_txn) {
		BEGIN(r->b);
		r->m->before = r->m->now;
		r->m->in_txn = true;
	} else if (kind == MODEL_COMMIT && r->m->in_txn) {
		COMMIT(r->b);
		r->m->in_txn = false;
	} else if (kind == MODEL_ROLLBACK) {
		give_up(r);
	}
}

static void step_reopen(struct model_run *r)
{
	if (!r->m->in_txn)
		r->b = bk_test_reopen(r->b, r->durability, r->flags);
}

static void step_settle(struct model_run *r)
{
	bk_status st;

	if (!r->m->in_txn)
		WANT_IN(r->b->t, TWO(BK_OK, BK_TIMEOUT), UINT64_MAX, st,
			r->b->l->tables.store.settle(r->b->l->store, 50000000, E));
}

/* What the store cannot do here and now is left out; the model then does not do it either. */
static bool applies(const struct model_run *r, const struct model_op *op)
{
	uint64_t own = r->b->t->own;
	bool bare = (r->flags & BK_OPEN_RAW) != 0, txn = r->m->in_txn;

	if (op->kind >= MODEL_STORE && op->kind <= MODEL_LIST)
		return (own & BK_F_BINARIES) && (!txn || (own & BK_F_TXN_BINARIES));
	if (op->kind >= MODEL_BEGIN && op->kind <= MODEL_ROLLBACK)
		return own & BK_F_TXN;
	switch (op->kind) {
	case MODEL_CHECK:
	case MODEL_REOPEN:
		return true;
	case MODEL_SETTLE:
		return own & BK_F_SETTLE;
	case MODEL_CAS:
		return (own & BK_F_NODES) && (own & BK_F_CAS);
	case MODEL_WALK:
		if (txn && !(own & BK_F_TXN_WALK))
			return false;
		return (own & BK_F_NODES) && (!bare || op->count == 1 || (own & BK_F_WALK));
	case MODEL_PUT_MANY:
		return (own & BK_F_NODES) && (!bare || (own & BK_F_PUT_MANY));
	case MODEL_GET_MANY:
		return (own & BK_F_NODES) && (!bare || (own & BK_F_GET_MANY));
	case MODEL_APPEND:
		return (own & BK_F_NODES) && (!bare || (own & BK_F_APPEND));
	default:
		return own & BK_F_NODES;
	}
}

void model_step(struct model_run *r, const struct model_op *op)
{
	const struct model_put *put = &op->puts[0];

	if (!applies(r, op))
		return;
	switch (op->kind) {
	case MODEL_PUT:
		step_put(r, put);
		break;
	case MODEL_PUT_MANY:
		step_put_many(r, op);
		break;
	case MODEL_CAS:
		step_cas(r, put);
		break;
	case MODEL_APPEND:
		step_append(r, put);
		break;
	case MODEL_REMOVE:
		step_remove(r, put->id);
		break;
	case MODEL_GET:
		step_get(r, put->id, op->fields);
		break;
	case MODEL_FIND:
		step_find(r, put->path);
		break;
	case MODEL_GET_MANY:
		step_get_many(r, op);
		break;
	case MODEL_WALK:
		step_walk(r, op);
		break;
	case MODEL_BEGIN:
	case MODEL_COMMIT:
	case MODEL_ROLLBACK:
		step_txn(r, op->kind);
		break;
	case MODEL_REOPEN:
		step_reopen(r);
		break;
	case MODEL_SETTLE:
		step_settle(r);
		break;
	case MODEL_STORE:
		step_store(r, op);
		break;
	case MODEL_ABORT:
		step_abort(r, op);
		break;
	case MODEL_UNSTORE:
		step_unstore(r, put->id % MODEL_KEYS);
		break;
	case MODEL_STAT:
		step_stat(r, put->id % MODEL_KEYS, op->offset, op->len);
		break;
	case MODEL_LIST:
		step_list(r, 1 + put->id % 7);
		break;
	default:
		step_check(r);
		break;
	}
}
