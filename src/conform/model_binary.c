/*
 * model_binary.c - operations on binaries, on the store and on the model.
 */
#include "conform/model_steps.h"

/* Some of it is written, then none of it is to be there. */
void model_step_abort(struct model_run *r, const struct model_op *op)
{
	struct bk_writer *w = WRITE_OPEN(r->b, model_key(r->b, op->puts[0].id % MODEL_KEYS),
					 op->len % 2 ? op->len : BK_SIZE_UNKNOWN, BK_PUT_UPSERT);

	WRITE(r->b, w, op->puts[0].label, 0, op->len / 2);
	r->b->ops->binary.abort(w);
}

void model_step_store(struct model_run *r, const struct model_op *op)
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
		model_give_up(r);
		return;
	}
	blob->there = true;
	blob->label = op->puts[0].label;
	blob->len = op->len;
}

void model_step_unstore(struct model_run *r, uint32_t key)
{
	struct model_blob *blob = &r->m->now.blobs[key];

	bk_t_binary_remove(r->b, AT, model_key(r->b, key), blob->there ? BK_OK : BK_NOT_FOUND);
	if (!blob->there)
		model_give_up(r);
	else
		blob->there = false;
}

void model_step_stat(struct model_run *r, uint32_t key, uint64_t offset, uint64_t len)
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

void model_step_list(struct model_run *r, size_t cap)
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
