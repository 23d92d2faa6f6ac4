/*
 * rel_put_many.c - relational layout: many nodes at once, all or none.
 *
 * CREATE is three statements whatever the number of nodes: the parents are counted and locked, the
 * nodes go in as arrays, then the links; a large batch that is waited for goes by COPY, which a
 * pipeline can't hold.  The other modes are single puts in one go.  Everything
 * that can be wrong raises an error on the server, so that nothing after it is done: outside a
 * transaction the pipeline is one, inside a savepoint goes back.
 */
#include "rel_bulk.h"

#define BULK_COPY_MIN 1000 /* below, its round trips cost more than it saves */

/* ---- any mode --------------------------------------------------------------------------- */

static void bulk_queue(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode)
{
	bool deferred = s->txn == PG_TXN_DEFER;
	size_t i;

	if (mode == BK_PUT_CREATE) {
		bulk_queue_create(s, nodes, n, deferred ? s->writes : PG_NO_ITEM);
		return;
	}
	for (i = 0; i < n; i++)
		pg_rel_queue_put(s, &nodes[i], mode, deferred ? s->writes : i);
}

/* The first node that is in the way, after the batch has been undone.  What the server said counts
 * where it is of another kind, or nothing is in the way any more. */
static bk_status bulk_blame(struct bk_session *s, const struct bk_node *nodes, size_t n,
			    struct bk_error *err)
{
	struct pg_buffer *a = s->arrays;
	struct bk_error second = bk_error_init();
	struct pg_map paths = {0};
	struct pg_params p;
	size_t i, k, twice = n;
	bool missing = false;

	pg_map_reset(&paths, n);
	bulk_map_ids(s, nodes, n);
	for (k = 0; k < 3; k++)
		pg_array_begin(&a[k]);
	for (i = 0; i < n && twice == n; i++) {
		if (pg_map_add(&paths, nodes[i].path, 0) != PG_MAP_NONE ||
		    pg_map_get(&s->map, nodes[i].id) != i)
			twice = i;
		pg_array_add(&a[0], nodes[i].id);
		pg_array_add(&a[1], nodes[i].path);
		pg_array_add_or_null(&a[2], bulk_parent_of(&s->map, nodes, i) == BULK_EARLIER
						    ? bk_slice_of("", 0)
						    : nodes[i].parent);
	}
	pg_map_free(&paths);
	pg_params_init(&p);
	for (k = 0; k < 3; k++) {
		pg_array_end(&a[k], i);
		pg_params_array(&p, &a[k]);
	}
	pg_send(&s->wire, PG_WHICH_FAILED, &p, NULL, PG_NO_ITEM);
	if (pg_end(s, "put_many", false, &second) < 0)
		return err->status;
	if (PQntuples(s->wire.result)) {
		twice = pg_get_u64(PQgetvalue(s->wire.result, 0, 0));
		missing = *PQgetvalue(s->wire.result, 0, 1) != 0;
	}
	if (twice == n) {
		bk_fail(err, BK_CONFLICT, 0,
			"put_many: another session was in the way and has gone");
		err->flags |= BK_ERR_RETRY;
		err->item = 0;
		return BK_CONFLICT;
	}
	if (missing)
		bk_fail(err, BK_NOT_FOUND, 0, "put_many: the parent of '%.*s' is not there",
			(int)nodes[twice].path.len, (const char *)nodes[twice].path.data);
	else if (err->status != BK_EXISTS)
		bk_fail(err, BK_EXISTS, 0, "put_many: the id or the path '%.*s' is taken",
			(int)nodes[twice].path.len, (const char *)nodes[twice].path.data);
	err->item = twice;
	return err->status;
}

/* Several statements, all or none, inside or outside a transaction. */
static bk_status bulk_run(struct bk_session *s, const struct bk_node *nodes, size_t n,
			  uint32_t mode, struct bk_error *err)
{
	struct bk_error undo = bk_error_init();
	bool inside = s->txn == PG_TXN_OPEN, create = mode == BK_PUT_CREATE;
	bool copy = create && n >= BULK_COPY_MIN, alone = create && !copy && !inside;
	bk_status status;

	if (inside)
		pg_send(&s->wire, PG_SAVEPOINT, NULL, pg_take_nothing, PG_NO_ITEM);
	else if (!alone)
		pg_send(&s->wire, PG_BEGIN, NULL, pg_take_nothing, PG_NO_ITEM);
	if (copy) {
		status = bulk_copy(s, nodes, n, err);
	} else {
		bulk_queue(s, nodes, n, mode);
		status = pg_wire_finish(&s->wire, "put_many", err);
	}
	if (s->wire.dead || alone)
		return status;
	/* What the server has not refused by itself is only now decided. */
	if (inside && status < 0)
		pg_send(&s->wire, PG_ROLLBACK_TO, NULL, pg_take_nothing, PG_NO_ITEM);
	if (inside)
		pg_send(&s->wire, PG_RELEASE, NULL, pg_take_nothing, PG_NO_ITEM);
	else
		pg_send(&s->wire, status < 0 ? PG_ROLLBACK : PG_COMMIT, NULL, pg_take_nothing,
			PG_NO_ITEM);
	if (status == BK_OK)
		return pg_end(s, "put_many", true, err);
	pg_end(s, "put_many", false, &undo);
	return status;
}

bk_status pg_rel_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			  uint32_t mode, struct bk_error *err)
{
	bk_status status = pg_begin_write(s, "put_many", err);

	if (status < 0)
		return status;
	if (s->txn == PG_TXN_DEFER) {
		bulk_queue(s, nodes, n, mode);
		return pg_end_write(s, "put_many", err);
	}
	s->writes++;
	status = bulk_run(s, nodes, n, mode, err);
	if (s->wire.dead && s->wire.unanswered && s->txn == PG_TXN_NONE && status < 0)
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	if (status < 0 && mode == BK_PUT_CREATE && !s->wire.dead && s->txn != PG_TXN_FAILED &&
	    (status == BK_EXISTS || status == BK_NOT_FOUND))
		status = bulk_blame(s, nodes, n, err);
	else if (status < 0 && err->item == PG_NO_ITEM)
		err->item = 0;
	return status;
}
