/*
 * rel_put.c - relational layout: put, append, remove.
 *
 * The invariant: a call that fails has changed nothing, and inside a transaction the transaction
 * goes on.  So a wrong id or a missing parent shows as a row that is not there, and is looked into
 * afterwards.  In a deferred transaction the first failure ends it anyway: there the takes judge.
 */
#include "pg.h"

#define PUT_TRIES 3

/* ---- taking answers --------------------------------------------------------------------- */

static void put_take_lock(struct pg_wire *w, PGresult *res, uint64_t item)
{
	struct pg_seen *seen = &w->session->seen;

	seen->found = PQntuples(res) > 0;
	seen->changed = 0;
	if (seen->found) {
		seen->same_version = *PQgetvalue(res, 0, 0) != 0;
		seen->same_place = *PQgetvalue(res, 0, 1) != 0;
	}
}

static void put_take_change(struct pg_wire *w, PGresult *res, uint64_t item)
{
	w->session->seen.changed += pg_rows(res);
}

/* Why a node that is there was not replaced; BK_OK if it was. */
static bk_status put_judge_replaced(const struct pg_seen *seen, const char **why)
{
	if (seen->changed)
		return BK_OK;
	if (!seen->found) {
		*why = "no node has that id";
		return BK_NOT_FOUND;
	}
	if (!seen->same_version) {
		*why = "another version is there";
		return BK_CONFLICT;
	}
	*why = "parent and path of a node never change";
	return seen->same_place ? BK_CONFLICT : BK_INVALID;
}

static void put_refuse(struct pg_wire *w, bk_status status, uint64_t item, const char *why)
{
	if (status < 0)
		pg_wire_refuse(w, status, item, why);
}

static void put_take_replaced(struct pg_wire *w, PGresult *res, uint64_t item)
{
	const char *why = NULL;

	put_take_change(w, res, item);
	put_refuse(w, put_judge_replaced(&w->session->seen, &why), item, why);
}

static void put_take_created(struct pg_wire *w, PGresult *res, uint64_t item)
{
	if (pg_rows(res) == 0)
		pg_wire_refuse(w, BK_NOT_FOUND, item, "the parent is not there");
}

static void put_take_upserted(struct pg_wire *w, PGresult *res, uint64_t item)
{
	const char *why = NULL;

	put_take_change(w, res, item);
	if (w->session->seen.found)
		put_refuse(w, put_judge_replaced(&w->session->seen, &why), item, why);
	else if (w->session->seen.changed == 0)
		pg_wire_refuse(w, BK_NOT_FOUND, item, "the parent is not there");
}

static void put_take_found(struct pg_wire *w, PGresult *res, uint64_t item)
{
	if (pg_rows(res) == 0)
		pg_wire_refuse(w, BK_NOT_FOUND, item, "no node has that id");
}

static void put_take_removed(struct pg_wire *w, PGresult *res, uint64_t item)
{
	if (pg_rows(res) == 0)
		pg_wire_refuse(w, BK_IN_USE, item, "it has children");
}

/* ---- queueing --------------------------------------------------------------------------- */

static void put_send_create(struct bk_session *s, const struct bk_node *node,
			    enum pg_conflict conflict, pg_take take, uint64_t item)
{
	struct pg_params p;

	pg_params_init(&p);
	pg_params_bytes(&p, node->id);
	pg_params_bytes(&p, node->path);
	pg_params_bytes(&p, node->doc);
	pg_params_bytes_or_null(&p, node->parent);
	if (node->link_count) {
		pg_array_links(&s->arrays[0], &s->arrays[1], node->links, node->link_count);
		pg_params_array(&p, &s->arrays[0]);
		pg_params_array(&p, &s->arrays[1]);
	}
	pg_send(&s->wire,
		pg_create_statement(conflict, node->parent.len != 0, node->link_count != 0), &p,
		take, item);
}

static void put_send_replace(struct bk_session *s, const struct bk_node *node, pg_take take,
			     uint64_t item)
{
	struct pg_params lock, p;

	pg_params_init(&lock);
	pg_params_bytes(&lock, node->id);
	pg_params_bytes(&lock, node->path);
	pg_params_bytes_or_null(&lock, node->parent);
	pg_params_int(&lock, node->version);
	pg_send(&s->wire, PG_LOCK, &lock, put_take_lock, item);

	pg_array_links(&s->arrays[0], &s->arrays[1], node->links, node->link_count);
	p = lock; /* its number stays where `lock` has it */
	pg_params_bytes(&p, node->doc);
	pg_params_array(&p, &s->arrays[0]);
	pg_params_array(&p, &s->arrays[1]);
	pg_send(&s->wire, PG_REPLACE, &p, take, item);
}

void pg_rel_queue_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		      uint64_t item)
{
	if (mode == BK_PUT_CREATE) {
		put_send_create(s, node, PG_CONFLICT_ERROR, put_take_created, item);
	} else if (mode == BK_PUT_REPLACE) {
		put_send_replace(s, node, put_take_replaced, item);
	} else {
		put_send_replace(s, node, put_take_change, item);
		put_send_create(s, node, PG_CONFLICT_ID, put_take_upserted, item);
	}
}

/* ---- one put, answered at once ---------------------------------------------------------- */

/* OK: what was in the way a moment ago is not any more; or it is the node itself, which an UPSERT
 * replaces. */
static bk_status put_why_not_created(struct bk_session *s, const struct bk_node *node,
				     uint32_t mode, struct bk_error *err)
{
	const PGresult *res;
	struct pg_params p;
	bk_status status;

	pg_params_init(&p);
	pg_params_bytes(&p, node->id);
	pg_params_bytes(&p, node->path);
	pg_params_bytes_or_null(&p, node->parent);
	pg_send(&s->wire, PG_WHY_NOT_CREATED, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "put", false, err);
	if (status < 0)
		return status;
	res = s->wire.result;
	if (*PQgetvalue(res, 0, 0))
		return mode == BK_PUT_UPSERT ? BK_OK
					     : bk_fail(err, BK_EXISTS, 0, "put: the id is taken");
	if (*PQgetvalue(res, 0, 1))
		return bk_fail(err, BK_EXISTS, 0, "put: the path '%.*s' is taken",
			       (int)node->path.len, (const char *)node->path.data);
	if (!*PQgetvalue(res, 0, 2))
		return bk_fail(err, BK_NOT_FOUND, 0, "put: the parent of '%.*s' is not there",
			       (int)node->path.len, (const char *)node->path.data);
	return BK_OK;
}

static bk_status put_once(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			  bool *again, struct bk_error *err)
{
	struct pg_seen *seen = &s->seen;
	const char *why = NULL;
	bk_status status;

	memset(seen, 0, sizeof(*seen));
	if (mode != BK_PUT_CREATE)
		put_send_replace(s, node, put_take_change, PG_NO_ITEM);
	if (mode != BK_PUT_REPLACE)
		put_send_create(s, node, PG_CONFLICT_NOTHING, put_take_change, PG_NO_ITEM);
	status = pg_end_write(s, "put", err);
	if (status < 0 || seen->changed)
		return status;
	if (mode == BK_PUT_REPLACE || seen->found) {
		status = put_judge_replaced(seen, &why);
		bk_fail(err, status, 0, "put: %s (path '%.*s')", why, (int)node->path.len,
			(const char *)node->path.data);
		return status;
	}
	*again = true;
	return put_why_not_created(s, node, mode, err);
}

static bk_status put_lost(struct bk_error *err, const char *what)
{
	bk_fail(err, BK_CONFLICT, 0, "%s: others change the same node all the time", what);
	err->flags |= BK_ERR_RETRY;
	return BK_CONFLICT;
}

bk_status pg_rel_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		     struct bk_error *err)
{
	bk_status status = pg_begin_write(s, "put", err);
	bool again;
	int i;

	if (status < 0)
		return status;
	if (s->txn == PG_TXN_DEFER) {
		pg_rel_queue_put(s, node, mode, s->writes);
		return pg_end_write(s, "put", err);
	}
	for (i = 0; i < PUT_TRIES; i++) {
		again = false;
		status = put_once(s, node, mode, &again, err);
		if (status < 0 || !again)
			return status;
		s->wire.retries++;
	}
	return put_lost(err, "put");
}

/* ---- append and remove ------------------------------------------------------------------ */

bk_status pg_rel_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	struct pg_params p;
	bk_status status = pg_begin_write(s, "append", err);

	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_bytes(&p, id);
	pg_params_bytes(&p, tail);
	if (link_count) {
		pg_array_links(&s->arrays[0], &s->arrays[1], links, link_count);
		pg_params_array(&p, &s->arrays[0]);
		pg_params_array(&p, &s->arrays[1]);
	}
	pg_send(&s->wire, link_count ? PG_APPEND_LINKS : PG_APPEND, &p, put_take_found, pg_item(s));
	return pg_end_write(s, "append", err);
}

bk_status pg_rel_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	struct pg_params p;
	bk_status status = pg_begin_write(s, "remove", err);

	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_bytes(&p, id);
	pg_send(&s->wire, PG_LOCK_TO_REMOVE, &p, put_take_found, pg_item(s));
	pg_send(&s->wire, PG_REMOVE, &p, put_take_removed, pg_item(s));
	return pg_end_write(s, "remove", err);
}
