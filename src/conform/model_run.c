/*
 * model_run.c - one operation on the store and on the model, and what both say of it.
 *
 * The one invariant: after each step the model holds what the store should.
 */
#include "conform/model_steps.h"

/* ---- The store as a whole --------------------------------------------------------------- */

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
		model_step_walk(r, &op);
	}
}

static void step_check(struct model_run *r)
{
	uint32_t i;

	for (i = 0; i < MODEL_IDS && (r->b->t->own & BK_F_NODES); i++) {
		model_step_get(r, i, BK_WANT_ALL);
		model_step_find(r, i);
		if (!r->m->in_txn || (r->b->t->own & BK_F_TXN_WALK))
			check_walks(r, i);
	}
	if (!(r->b->t->own & BK_F_BINARIES) ||
	    (r->m->in_txn && !(r->b->t->own & BK_F_TXN_BINARIES)))
		return;
	for (i = 0; i < MODEL_KEYS; i++)
		model_step_stat(r, i, 0, BK_SIZE_UNKNOWN);
	model_step_list(r, 3);
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

/* ---- Which, and whether it applies ------------------------------------------------------- */

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
		model_step_put(r, put);
		break;
	case MODEL_PUT_MANY:
		model_step_put_many(r, op);
		break;
	case MODEL_CAS:
		model_step_cas(r, put);
		break;
	case MODEL_APPEND:
		model_step_append(r, put);
		break;
	case MODEL_REMOVE:
		model_step_remove(r, put->id);
		break;
	case MODEL_GET:
		model_step_get(r, put->id, op->fields);
		break;
	case MODEL_FIND:
		model_step_find(r, put->path);
		break;
	case MODEL_GET_MANY:
		model_step_get_many(r, op);
		break;
	case MODEL_WALK:
		model_step_walk(r, op);
		break;
	case MODEL_BEGIN:
	case MODEL_COMMIT:
	case MODEL_ROLLBACK:
		model_step_txn(r, op->kind);
		break;
	case MODEL_REOPEN:
		step_reopen(r);
		break;
	case MODEL_SETTLE:
		step_settle(r);
		break;
	case MODEL_STORE:
		model_step_store(r, op);
		break;
	case MODEL_ABORT:
		model_step_abort(r, op);
		break;
	case MODEL_UNSTORE:
		model_step_unstore(r, put->id % MODEL_KEYS);
		break;
	case MODEL_STAT:
		model_step_stat(r, put->id % MODEL_KEYS, op->offset, op->len);
		break;
	case MODEL_LIST:
		model_step_list(r, 1 + put->id % 7);
		break;
	default:
		step_check(r);
		break;
	}
}
