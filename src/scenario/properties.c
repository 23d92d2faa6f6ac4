/*
 * properties.c - loads and reads one node with N properties.
 */
#include "scenario/properties.h"

#include "repo/document.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdio.h>

#define NODE "resource"

static void put_property(struct bk_buf *doc, const struct bk_env *env, uint64_t i)
{
	const struct bk_property_kind *kind = env->c->scenario->own;
	char value[160];

	snprintf(value, sizeof(value), "%s%016" PRIx64 "/%" PRIu64, kind->prefix, env->data_seed,
		 i);
	bk_doc_puts(doc, kind->record, kind->predicate, value);
}

/* One by one: each property is an append that the store must keep before the next. */
static bk_status append_each(struct bk_loading *l, uint64_t n, struct bk_error *err)
{
	const struct bk_repo *repo = l->env->repo;
	unsigned char id[BK_REPO_ID_LEN];
	struct bk_slice node = bk_repo_id(repo, id, bk_slice_str(NODE));
	struct bk_buf tail = BK_BUF_INIT;
	bk_status st = bk_ingest_put(l->ingest, NULL, NODE, bk_slice_of("", 0), NULL, 0, err);
	uint64_t i;

	if (st >= 0)
		st = bk_ingest_flush(l->ingest, err);
	for (i = 0; i < n && st >= 0; i++) {
		bk_buf_reset(&tail);
		put_property(&tail, l->env, i);
		st = bk_repo_nodes(repo)->append(l->session.nodes, node,
						 bk_slice_of(tail.data, tail.len), NULL, 0, err);
		if (st >= 0)
			st = bk_loading_object(l, err);
	}
	bk_buf_free(&tail);
	return st;
}

static bk_status put_whole(struct bk_loading *l, uint64_t n, struct bk_error *err)
{
	struct bk_buf doc = BK_BUF_INIT;
	bk_status st;
	uint64_t i;

	for (i = 0; i < n; i++)
		put_property(&doc, l->env, i);
	st = doc.failed ? bk_fail(err, BK_NOMEM, 0, "out of memory for %" PRIu64 " properties", n)
			: bk_ingest_put(l->ingest, NULL, NODE, bk_slice_of(doc.data, doc.len), NULL,
					0, err);
	bk_buf_free(&doc);
	return st;
}

bk_status bk_properties_load(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	uint64_t n = bk_case_u64(env->c, "n");
	struct bk_loading l;
	bk_status st = bk_loading_begin(&l, env, n, err);

	if (st < 0)
		return st;
	st = l.single ? append_each(&l, n, err) : put_whole(&l, n, err);
	return bk_loading_end(&l, st, out, err);
}

static bk_status expect(struct bk_ntriples *w, const struct bk_env *env, struct bk_error *err)
{
	uint64_t n = bk_case_u64(env->c, "n"), i;
	struct bk_buf doc = BK_BUF_INIT;

	for (i = 0; i < n; i++) {
		bk_buf_reset(&doc);
		put_property(&doc, env, i);
		bk_ntriples_document(w, bk_slice_str(NODE), bk_slice_of(doc.data, doc.len));
	}
	bk_buf_free(&doc);
	return BK_OK;
}

bk_status bk_properties_trial(const struct bk_env *env, struct bk_outcome *out,
			      struct bk_error *err)
{
	struct bk_reading reading = {.expect = expect};

	reading.read.start = bk_slice_str(NODE);
	return bk_reading_trial(env, &reading, out, err);
}

uint64_t bk_properties_bytes(const struct bk_case *c)
{
	return bk_case_u64(c, "n") * 110;
}

const struct bk_param *const bk_properties_params[] = {&bk_param_n, &bk_param_cache_size,
						       &bk_param_temperature, &bk_param_load, NULL};

uint64_t bk_properties_uses(const struct bk_case *c)
{
	return bk_case_is(c, "load", "single") ? BK_F_APPEND : 0;
}
