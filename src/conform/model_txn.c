/*
 * model_txn.c - transactions, on the store and on the model.
 *
 * The one invariant: a write that fails inside a transaction is followed by a rollback of both,
 * since what is left of such a transaction is the store's own affair.
 */
#include "conform/model_steps.h"

void model_give_up(struct model_run *r)
{
	if (!r->m->in_txn)
		return;
	ROLLBACK(r->b);
	r->m->now = r->m->before;
	r->m->in_txn = false;
}

void model_step_txn(struct model_run *r, enum model_kind kind)
{
	if (kind == MODEL_BEGIN && !r->m->in_txn) {
		BEGIN(r->b);
		r->m->before = r->m->now;
		r->m->in_txn = true;
	} else if (kind == MODEL_COMMIT && r->m->in_txn) {
		COMMIT(r->b);
		r->m->in_txn = false;
	} else if (kind == MODEL_ROLLBACK) {
		model_give_up(r);
	}
}
