/*
 * model_node.c - operations on nodes, on the store and on the model.
 */
#include "conform/model_steps.h"

/* ---- Writes ---------------------------------------------------------------------------- */

void model_step_put(struct model_run *r, const struct model_put *put)
{
	uint32_t set = model_put_outcomes(&r->m->now, put);
	struct bk_node node = model_put_node(r->b, put);
	bk_status st;

	WANT_IN(r->b->t, set, UINT64_MAX, st, r->b->ops->node.put(r->b->s, &node, put->mode, E));
	if (st == BK_OK)
		model_put_apply(r->m, put);
	else
		model_give_up(r);
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

void model_step_put_many(struct model_run *r, const struct model_op *op)
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
	model_give_up(r);
	if (!in_txn && !(r->b->t->own & BK_F_BATCH_ATOMIC))
		take_in_stored(r, op, item);
}

/* With the version that it has, then with that one again. */
void model_step_cas(struct model_run *r, const struct model_put *op)
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
	model_give_up(r);
}

void model_step_append(struct model_run *r, const struct model_put *put)
{
	struct bk_box *b = r->b;
	bool there = r->m->now.nodes[put->id].there;
	struct bk_node node = model_put_node(b, put);

	if (there && r->m->now.nodes[put->id].doc_len > 500000)
		return;
	APPEND(b, there ? BK_OK : BK_NOT_FOUND, node.id, node.doc, node.links, node.link_count);
	if (!there)
		model_give_up(r);
	else
		CHECK(b->t, model_append_apply(r->m, put), "the model has no room for the links");
}

void model_step_remove(struct model_run *r, uint32_t id)
{
	bk_status st;

	WANT_IN(r->b->t, model_remove_outcomes(&r->m->now, id), UINT64_MAX, st,
		r->b->ops->node.remove(r->b->s, model_id(r->b, id), E));
	if (st == BK_OK)
		r->m->now.nodes[id].there = false;
	else
		model_give_up(r);
}

/* ---- Reads ------------------------------------------------------------------------------ */

void model_step_get(struct model_run *r, uint32_t id, uint32_t fields)
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

void model_step_find(struct model_run *r, uint32_t path)
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

void model_step_get_many(struct model_run *r, const struct model_op *op)
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

void model_step_walk(struct model_run *r, const struct model_op *op)
{
	struct bk_hits want, got;
	struct bk_box *b = r->b;

	model_walk(b, &r->m->now, op->puts[0].id, op, &want);
	if (want.count > 20000)
		return;
	WALK(b, &got, model_id(b, op->puts[0].id), op->steps, op->count, op->fields, op->cap);
	bk_t_hits(b, AT, &want, &got, op->fields);
}
