/*
 * model_steps.h - the operations of the model, each on the store and on the model alike.  Private
 * to model_run.c.
 */
#ifndef BK_CONFORM_MODEL_STEPS_H
#define BK_CONFORM_MODEL_STEPS_H

#include "conform/model.h"

/* model_txn.c: a write has failed, so the transaction that it was in is rolled back. */
void model_give_up(struct model_run *r);
void model_step_txn(struct model_run *r, enum model_kind kind);

/* model_node.c */
void model_step_put(struct model_run *r, const struct model_put *put);
void model_step_put_many(struct model_run *r, const struct model_op *op);
void model_step_cas(struct model_run *r, const struct model_put *op);
void model_step_append(struct model_run *r, const struct model_put *put);
void model_step_remove(struct model_run *r, uint32_t id);
void model_step_get(struct model_run *r, uint32_t id, uint32_t fields);
void model_step_find(struct model_run *r, uint32_t path);
void model_step_get_many(struct model_run *r, const struct model_op *op);
void model_step_walk(struct model_run *r, const struct model_op *op);

/* model_binary.c */
void model_step_abort(struct model_run *r, const struct model_op *op);
void model_step_store(struct model_run *r, const struct model_op *op);
void model_step_unstore(struct model_run *r, uint32_t key);
void model_step_stat(struct model_run *r, uint32_t key, uint64_t offset, uint64_t len);
void model_step_list(struct model_run *r, size_t cap);

#endif
