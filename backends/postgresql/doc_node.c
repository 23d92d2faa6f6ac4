/*
 * doc_node.c - document layout: get, find, put, remove.
 *
 * The invariant: outside a transaction each call is one of its own, inside it has a savepoint, so a
 * call that fails has changed nothing.  A deferred transaction keeps its rows in the unit until
 * flush, commit or a read: what a repository does that batches its writes at commit.
 */
#include "doc.h"

#include <stdlib.h>

#define DOC_TRIES          3
#define DOC_UNIT_MAX_BYTES (32u << 20)
#define DOC_UNIT_MAX_ROWS  20000

static struct bk_slice dn_field(const PGresult *res, int row, int field)
{
	return bk_slice_of(PQgetvalue(res, row, field), (size_t)PQgetlength(res, row, field));
}

/* ---- get -------------------------------------------------------------------------------- */

static void dn_node(struct bk_node *out, struct bk_slice id, const struct doc_value *v,
		    uint32_t want)
{
	memset(out, 0, sizeof(*out));
	out->id = id;
	out->version = v->version;
	if (want & BK_WANT_PATH) {
		out->parent = v->parent;
		out->path = v->path;
	}
	if (want & BK_WANT_DOC)
		out->doc = v->doc;
}

static void dn_links(struct bk_node *out, struct bk_link *links, const struct doc_value *v)
{
	struct doc_entry e;
	size_t at = 0, n = 0;

	while (n < v->link_count && doc_entry_next(&e, v->links, &at)) {
		links[n].rel = e.rel;
		links[n++].target = e.id;
	}
	out->links = links;
	out->link_count = n;
}

bk_status pg_doc_get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		     struct bk_error *err)
{
	struct doc_value v;
	struct pg_params p;
	size_t links_at;
	bk_status status = pg_begin_read(s, "get", err);

	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_bytes(&p, id);
	pg_send(&s->wire, PG_DOC_GET, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "get", false, err);
	if (status < 0)
		return status;
	if (PQntuples(s->wire.result) == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "get: no node has that id");
	if (!doc_value_decode(&v, dn_field(pg_show(s), 0, 0)))
		return doc_corrupt(err, "get");
	if (!v.exists)
		return bk_fail(err, BK_NOT_FOUND, 0, "get: no node has that id");
	pg_buffer_reset(&s->views);
	pg_buffer_add(&s->views, id.data, id.len);
	while (s->views.len % sizeof(void *))
		pg_buffer_add(&s->views, "", 1);
	links_at = s->views.len;
	if (want & BK_WANT_LINKS)
		pg_buffer_grow(&s->views, v.link_count * sizeof(struct bk_link));
	if (s->views.failed)
		return bk_fail(err, BK_NOMEM, 0, "get: out of memory");
	dn_node(out, bk_slice_of(s->views.data, id.len), &v, want);
	if ((want & BK_WANT_LINKS) && v.link_count)
		dn_links(out, (struct bk_link *)(void *)(s->views.data + links_at), &v);
	return BK_OK;
}

bk_status pg_doc_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
		      struct bk_error *err)
{
	struct pg_params p;
	bk_status status = pg_begin_read(s, "find", err);

	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_bytes(&p, path);
	pg_send(&s->wire, PG_DOC_FIND, &p, NULL, PG_NO_ITEM);
	status = pg_end(s, "find", false, err);
	if (status < 0)
		return status;
	if (PQntuples(s->wire.result) == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "find: no node at '%.*s'", (int)path.len,
			       (const char *)path.data);
	*id_out = dn_field(pg_show(s), 0, 0);
	return BK_OK;
}

/* ---- changes ---------------------------------------------------------------------------- */

struct dn_job {
	const char *what;
	const struct bk_node *nodes; /* to put; or NULL: remove `id` */
	size_t n;
	uint32_t mode;
	struct bk_slice id;
	size_t at; /* the node that failed */
};

static bk_status dn_apply(struct bk_session *s, struct dn_job *job, struct bk_error *err)
{
	struct pg_unit *u = s->unit;
	bk_status status = BK_OK;
	size_t i;

	for (i = 0; i < job->n; i++)
		doc_want_put(u, &job->nodes[i]);
	if (!job->nodes)
		doc_unit_want(u, job->id);
	status = doc_unit_load(s, job->what, err);
	if (status < 0)
		return status;
	for (i = 0; i < job->n && job->mode != BK_PUT_CREATE; i++)
		doc_want_old(u, job->nodes[i].id);
	if (!job->nodes)
		doc_want_old(u, job->id);
	status = doc_unit_load(s, job->what, err);
	if (status == BK_OK && !job->nodes)
		status = doc_apply_remove(u, job->id, s->writes, err);
	for (i = 0; i < job->n && status == BK_OK; i++) {
		job->at = i;
		status = doc_apply_put(u, &job->nodes[i], job->mode, s->writes, err);
	}
	if (status == BK_OK && u->failed)
		status = bk_fail(err, BK_NOMEM, 0, "%s: out of memory", job->what);
	return status;
}

static void dn_undo(struct bk_session *s)
{
	struct bk_error ignored = bk_error_init();

	if (s->wire.dead)
		return;
	if (s->txn == PG_TXN_NONE) {
		pg_send(&s->wire, PG_ROLLBACK, NULL, pg_take_nothing, PG_NO_ITEM);
	} else {
		pg_send(&s->wire, PG_ROLLBACK_TO, NULL, pg_take_nothing, PG_NO_ITEM);
		pg_send(&s->wire, PG_RELEASE, NULL, pg_take_nothing, PG_NO_ITEM);
	}
	pg_end(s, "undo", false, &ignored);
}

/* *raced: somebody else has made a row that was not there when this one was loaded. */
static bk_status dn_once(struct bk_session *s, struct dn_job *job, bool *raced,
			 struct bk_error *err)
{
	bool sent = false;
	bk_status status;

	pg_send(&s->wire, s->txn == PG_TXN_NONE ? PG_BEGIN : PG_SAVEPOINT, NULL, pg_take_nothing,
		PG_NO_ITEM);
	status = dn_apply(s, job, err);
	if (status == BK_OK) {
		sent = true;
		doc_unit_send(s);
		pg_send(&s->wire, s->txn == PG_TXN_NONE ? PG_COMMIT : PG_RELEASE, NULL,
			pg_take_nothing, PG_NO_ITEM);
		status = pg_wire_finish(&s->wire, job->what, err);
	}
	pg_doc_unit_forget(s->unit);
	*raced = sent && status == BK_EXISTS;
	if (status < 0)
		dn_undo(s);
	if (s->wire.dead && s->wire.unanswered && sent && s->txn == PG_TXN_NONE)
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	return status;
}

/* The failure is kept where flush and commit look for it; until then writes answer OK. */
static bk_status dn_defer(struct bk_session *s, struct dn_job *job)
{
	struct pg_wire *w = &s->wire;
	struct bk_error err = bk_error_init();
	bk_status status = BK_OK;

	if (!w->failed && !w->dead) {
		status = dn_apply(s, job, &err);
		if (status == BK_OK &&
		    (s->unit->bytes > DOC_UNIT_MAX_BYTES || s->unit->count > DOC_UNIT_MAX_ROWS))
			status = pg_doc_unit_flush(s, &err);
	}
	if (status < 0) {
		pg_doc_unit_forget(s->unit);
		w->failed = true;
		w->unanswered = w->dead;
		w->failure = err;
		if (err.item == PG_NO_ITEM)
			w->failure.item = s->writes;
	}
	s->writes++;
	return BK_OK;
}

static bk_status dn_change(struct bk_session *s, struct dn_job *job, struct bk_error *err)
{
	bk_status status = pg_begin_write(s, job->what, err);
	struct bk_error failure; /* of the last try: those before it are nobody's business */
	bool raced = true;
	int i;

	if (status < 0)
		return status;
	if (s->txn == PG_TXN_DEFER)
		return dn_defer(s, job);
	for (i = 0; i < DOC_TRIES && raced; i++) {
		if (i)
			s->wire.retries++;
		failure = bk_error_init();
		status = dn_once(s, job, &raced, &failure);
	}
	s->writes++;
	if (status < 0)
		*err = failure;
	if (status < 0 && raced) {
		bk_fail(err, BK_CONFLICT, 0, "%s: others make the same nodes all the time",
			job->what);
		err->flags |= BK_ERR_RETRY;
		status = BK_CONFLICT;
	}
	return status;
}

bk_status pg_doc_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		     struct bk_error *err)
{
	struct dn_job job = {.what = "put", .nodes = node, .n = 1, .mode = mode};

	return dn_change(s, &job, err);
}

bk_status pg_doc_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			  uint32_t mode, struct bk_error *err)
{
	struct dn_job job = {.what = "put_many", .nodes = nodes, .n = n, .mode = mode};
	bk_status status = dn_change(s, &job, err);

	if (status < 0)
		err->item = job.at;
	return status;
}

bk_status pg_doc_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	struct dn_job job = {.what = "remove", .id = id};

	return dn_change(s, &job, err);
}
