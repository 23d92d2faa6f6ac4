/*
 * rel_put_many.c - relational layout: many nodes at once, all or none.
 *
 * CREATE is three statements whatever the number of nodes: the parents are counted and locked, the
 * nodes go in as arrays, then the links.  The other modes are single puts in one go.  Everything
 * that can be wrong raises an error on the server, so that nothing after it is done: outside a
 * transaction the pipeline is one, inside a savepoint goes back.
 */
#include "pg.h"

#define BULK_SHORT_LIST 16

enum { BULK_IDS, BULK_PATHS, BULK_DOCS, BULK_PARENTS, BULK_A, BULK_B };

/* ---- CREATE ---------------------------------------------------------------------------------- */

/* A parent that stands earlier in the batch need not be looked up; any other must be stored. */
static bool bulk_is_inside(const struct pg_map *map, const struct bk_node *nodes, size_t i)
{
	uint32_t at = pg_map_get(map, nodes[i].parent);

	return at != PG_MAP_NONE && at < i;
}

static void bulk_map_ids(struct bk_session *s, const struct bk_node *nodes, size_t n)
{
	size_t i;

	pg_map_reset(&s->map, n);
	for (i = 0; i < n; i++)
		pg_map_add(&s->map, nodes[i].id, (uint32_t)i);
}

/* Each parent once: the map is used a second time, after the ids. */
static size_t bulk_add_parents(struct bk_session *s, const struct bk_node *nodes, size_t n)
{
	struct pg_buffer *b = &s->arrays[BULK_A];
	struct bk_slice last = bk_slice_of("", 0);
	struct pg_map parents = {0};
	size_t i, count = 0;

	pg_array_begin(b);
	for (i = 0; i < n; i++) {
		if (nodes[i].parent.len == 0 || bk_slice_eq(nodes[i].parent, last) ||
		    bulk_is_inside(&s->map, nodes, i))
			continue;
		last = nodes[i].parent;
		if (!parents.cap)
			pg_map_reset(&parents, 16);
		if (pg_map_add(&parents, last, 0) != PG_MAP_NONE)
			continue;
		pg_array_add(b, last);
		count++;
	}
	pg_array_end(b, count);
	b->failed = b->failed || parents.failed;
	pg_map_free(&parents);
	return count;
}

static void bulk_send_nodes(struct bk_session *s, const struct bk_node *nodes, size_t n,
			    uint64_t item)
{
	struct pg_buffer *a = s->arrays;
	struct pg_params p;
	size_t i, k;

	for (k = BULK_IDS; k <= BULK_PARENTS; k++)
		pg_array_begin(&a[k]);
	for (i = 0; i < n; i++) {
		pg_array_add(&a[BULK_IDS], nodes[i].id);
		pg_array_add(&a[BULK_PATHS], nodes[i].path);
		pg_array_add(&a[BULK_DOCS], nodes[i].doc);
		pg_array_add_or_null(&a[BULK_PARENTS], nodes[i].parent);
	}
	pg_params_init(&p);
	for (k = BULK_IDS; k <= BULK_PARENTS; k++) {
		pg_array_end(&a[k], n);
		pg_params_array(&p, &a[k]);
	}
	pg_send(&s->wire, PG_BULK_NODES, &p, pg_take_nothing, item);
}

/* A link that stands earlier in the same node's list; long lists by the map. */
static bool bulk_is_repeated(struct pg_map *seen, const struct bk_node *node, size_t k)
{
	const struct bk_link *l = node->links;
	size_t i, first = k;

	if (node->link_count > BULK_SHORT_LIST) {
		first = pg_map_get(seen, l[k].target);
		if (first == PG_MAP_NONE)
			pg_map_add(seen, l[k].target, (uint32_t)k);
		if (first == PG_MAP_NONE)
			return false;
	}
	for (i = node->link_count > BULK_SHORT_LIST ? first : 0; i < k; i++) {
		if (bk_slice_eq(l[i].target, l[k].target) && bk_slice_eq(l[i].rel, l[k].rel))
			return true;
	}
	return false;
}

/* New nodes have no links yet, so what is sent without repetition cannot be in the way. */
static void bulk_send_links(struct bk_session *s, const struct bk_node *nodes, size_t n,
			    uint64_t item)
{
	struct pg_buffer *a = s->arrays;
	struct pg_map seen = {0};
	size_t i, k, count = 0;
	struct pg_params p;

	for (k = 0; k < 3; k++)
		pg_array_begin(&a[k]);
	for (i = 0; i < n; i++) {
		if (nodes[i].link_count > BULK_SHORT_LIST)
			pg_map_reset(&seen, nodes[i].link_count);
		for (k = 0; k < nodes[i].link_count; k++) {
			if (bulk_is_repeated(&seen, &nodes[i], k))
				continue;
			pg_array_add(&a[0], nodes[i].id);
			pg_array_add(&a[1], nodes[i].links[k].rel);
			pg_array_add(&a[2], nodes[i].links[k].target);
			count++;
		}
	}
	a[0].failed = a[0].failed || seen.failed;
	pg_map_free(&seen);
	if (count == 0)
		return;
	pg_params_init(&p);
	for (k = 0; k < 3; k++) {
		pg_array_end(&a[k], count);
		pg_params_array(&p, &a[k]);
	}
	pg_send(&s->wire, PG_BULK_LINKS, &p, pg_take_nothing, item);
}

/* More than one message can hold is sent in portions; they are still one write. */
static size_t bulk_portion(const struct bk_node *nodes, size_t n)
{
	size_t bytes = 0, i, k;

	for (i = 0; i < n && (i == 0 || bytes < PG_MANY_BYTES); i++) {
		bytes += nodes[i].doc.len + nodes[i].id.len + nodes[i].path.len;
		for (k = 0; k < nodes[i].link_count; k++)
			bytes += nodes[i].id.len + nodes[i].links[k].rel.len +
				 nodes[i].links[k].target.len;
	}
	return i;
}

static void bulk_queue_create(struct bk_session *s, const struct bk_node *nodes, size_t n,
			      uint64_t item)
{
	size_t parents, portion;
	struct pg_params p;

	bulk_map_ids(s, nodes, n);
	if (s->map.failed) {
		pg_wire_refuse(&s->wire, BK_NOMEM, item, "out of memory");
		return;
	}
	parents = bulk_add_parents(s, nodes, n);
	if (parents) {
		pg_params_init(&p);
		pg_params_array(&p, &s->arrays[BULK_A]);
		pg_params_int(&p, parents);
		pg_send(&s->wire, PG_BULK_PARENTS, &p, pg_take_nothing, item);
	}
	for (; n; nodes += portion, n -= portion) {
		portion = bulk_portion(nodes, n);
		bulk_send_nodes(s, nodes, portion, item);
		bulk_send_links(s, nodes, portion, item);
	}
}

/* ---- any mode -----------------------------------------------------------------------------------
 */

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
		pg_array_add_or_null(&a[2],
				     nodes[i].parent.len && !bulk_is_inside(&s->map, nodes, i)
					     ? nodes[i].parent
					     : bk_slice_of("", 0));
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
	bool inside = s->txn == PG_TXN_OPEN, whole = mode == BK_PUT_CREATE;
	bk_status status;

	if (inside)
		pg_send(&s->wire, PG_SAVEPOINT, NULL, pg_take_nothing, PG_NO_ITEM);
	else if (!whole)
		pg_send(&s->wire, PG_BEGIN, NULL, pg_take_nothing, PG_NO_ITEM);
	bulk_queue(s, nodes, n, mode);
	status = pg_wire_finish(&s->wire, "put_many", err);
	if (s->wire.dead || (status == BK_OK && whole && !inside))
		return status;
	/* What the server has not refused by itself is only now decided. */
	if (inside && status < 0)
		pg_send(&s->wire, PG_ROLLBACK_TO, NULL, pg_take_nothing, PG_NO_ITEM);
	if (inside)
		pg_send(&s->wire, PG_RELEASE, NULL, pg_take_nothing, PG_NO_ITEM);
	else if (!whole)
		pg_send(&s->wire, status < 0 ? PG_ROLLBACK : PG_COMMIT, NULL, pg_take_nothing,
			PG_NO_ITEM);
	else
		return status;
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
