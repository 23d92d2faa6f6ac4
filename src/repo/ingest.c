/*
 * ingest.c - gathers nodes in an arena until they are stored.
 */
#include "repo/ingest.h"

#include "repo/document.h"
#include "util/arena.h"
#include "util/u64set.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BATCH_BYTES ((size_t)4 << 20) /* documents of one batch, roughly */

struct bk_ingest {
	struct bk_repo_session *session;
	struct bk_hierarchy hierarchy;
	size_t batch; /* 0: single */
	bool in_txn;  /* the caller has one open */
	struct bk_node *nodes;
	size_t count, slots, gathered_bytes;
	struct bk_arena arena;     /* what `nodes` point to */
	struct bk_u64set levels;   /* pairtree levels that exist, by hash of the path */
	struct bk_buf path, level; /* scratch */
	struct bk_buf level_doc;
};

bk_status bk_ingest_open(struct bk_ingest **out, struct bk_repo_session *session,
			 const struct bk_hierarchy *hierarchy, size_t batch, struct bk_error *err)
{
	struct bk_ingest *in = calloc(1, sizeof(*in));

	if (!in)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for loading");
	in->session = session;
	in->hierarchy = *hierarchy;
	in->batch = batch;
	in->slots = batch ? batch : 64;
	in->nodes = calloc(in->slots, sizeof(*in->nodes));
	bk_doc_puts(&in->level_doc, BK_DOC_TYPE, "", BK_TYPE_PAIRTREE);
	if (!in->nodes || in->level_doc.failed) {
		bk_ingest_close(in);
		return bk_fail(err, BK_NOMEM, 0, "out of memory for loading");
	}
	*out = in;
	return BK_OK;
}

void bk_ingest_close(struct bk_ingest *in)
{
	if (!in)
		return;
	free(in->nodes);
	bk_arena_free(&in->arena);
	bk_u64set_free(&in->levels);
	bk_buf_free(&in->path);
	bk_buf_free(&in->level);
	bk_buf_free(&in->level_doc);
	free(in);
}

void bk_ingest_drop(struct bk_ingest *in)
{
	in->count = in->gathered_bytes = 0;
	bk_arena_free(&in->arena);
}

static bk_status put_each(struct bk_ingest *in, struct bk_error *err)
{
	const struct bk_node_ops *ops = bk_repo_nodes(in->session->repo);
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; i < in->count && st >= 0; i++)
		st = ops->put(in->session->nodes, &in->nodes[i], BK_PUT_CREATE, err);
	return st;
}

static bk_status put_batch(struct bk_ingest *in, struct bk_error *err)
{
	return bk_repo_nodes(in->session->repo)
		->put_many(in->session->nodes, in->nodes, in->count, BK_PUT_CREATE, err);
}

/* The nodes of one object: all or none where the store can. */
static bk_status put_object(struct bk_ingest *in, struct bk_error *err)
{
	const struct bk_layered *store = in->session->repo->nodes;
	struct bk_session *s = in->session->nodes;
	struct bk_error ignored = bk_error_init();
	uint32_t isolation = 0;
	bk_status st;

	if (in->in_txn || in->count == 1)
		return put_each(in, err);
	if (bk_repo_has(store, BK_F_BATCH_ATOMIC))
		return put_batch(in, err);
	if (!bk_repo_has(store, BK_F_TXN))
		return put_each(in, err);
	st = store->tables.txn.begin(s, &isolation, BK_TXN_DEFER, err);
	if (st < 0)
		return st;
	st = put_each(in, err);
	if (st < 0) {
		store->tables.txn.rollback(s, &ignored);
		return st;
	}
	return store->tables.txn.commit(s, err);
}

void bk_ingest_in_txn(struct bk_ingest *in, bool in_txn)
{
	in->in_txn = in_txn;
}

bk_status bk_ingest_flush(struct bk_ingest *in, struct bk_error *err)
{
	bk_status st = BK_OK;

	if (in->count)
		st = in->batch ? put_batch(in, err) : put_object(in, err);
	bk_ingest_drop(in);
	return st;
}

bk_status bk_ingest_end_object(struct bk_ingest *in, struct bk_error *err)
{
	return in->batch ? BK_OK : bk_ingest_flush(in, err);
}

static struct bk_slice keep(struct bk_ingest *in, struct bk_slice s)
{
	void *copy = s.len ? bk_arena_alloc(&in->arena, s.len) : NULL;

	if (copy)
		memcpy(copy, s.data, s.len);
	in->gathered_bytes += s.len;
	return bk_slice_of(copy, s.len);
}

static struct bk_slice keep_id(struct bk_ingest *in, struct bk_slice path)
{
	unsigned char id[BK_REPO_ID_LEN];

	return path.len ? keep(in, bk_repo_id(in->session->repo, id, path)) : path;
}

static bk_status add(struct bk_ingest *in, struct bk_slice parent, struct bk_slice path,
		     struct bk_slice doc, const struct bk_ingest_link *links, size_t link_count,
		     struct bk_error *err)
{
	struct bk_link *kept = NULL;
	struct bk_node *n;
	bk_status st;
	size_t i;

	if (in->batch && (in->count == in->batch || in->gathered_bytes > BATCH_BYTES)) {
		st = bk_ingest_flush(in, err);
		if (st < 0)
			return st;
	}
	if (in->count == in->slots) {
		n = realloc(in->nodes, in->slots * 2 * sizeof(*n));
		if (!n)
			return bk_fail(err, BK_NOMEM, 0, "out of memory for loading");
		in->nodes = n;
		in->slots *= 2;
	}
	if (link_count) {
		kept = bk_arena_alloc(&in->arena, link_count * sizeof(*kept));
		if (!kept)
			return bk_fail(err, BK_NOMEM, 0, "out of memory for loading");
	}
	for (i = 0; i < link_count; i++) {
		kept[i].rel = keep(in, bk_slice_str(links[i].rel));
		kept[i].target = keep_id(in, bk_slice_str(links[i].target));
	}
	n = &in->nodes[in->count++];
	memset(n, 0, sizeof(*n));
	n->id = keep_id(in, path);
	n->parent = keep_id(in, parent);
	n->path = keep(in, path);
	n->doc = keep(in, doc);
	n->links = kept;
	n->link_count = link_count;
	if (!n->id.data || !n->path.data || (doc.len && !n->doc.data))
		return bk_fail(err, BK_NOMEM, 0, "out of memory for loading");
	return BK_OK;
}

bk_status bk_ingest_put(struct bk_ingest *in, const char *parent, const char *name,
			struct bk_slice doc, const struct bk_ingest_link *links, size_t link_count,
			struct bk_error *err)
{
	size_t parent_len = parent ? strlen(parent) : 0;

	bk_buf_reset(&in->path);
	if (parent_len) {
		bk_buf_put(&in->path, parent, parent_len);
		bk_buf_puts(&in->path, "/");
	}
	bk_buf_puts(&in->path, name);
	return add(in, bk_slice_of(in->path.data, parent_len),
		   bk_slice_of(in->path.data, in->path.len), doc, links, link_count, err);
}

/* The levels of in->path that are not there yet. */
static bk_status make_levels(struct bk_ingest *in, size_t parent_len, const size_t *ends,
			     struct bk_error *err)
{
	size_t from = parent_len;
	bk_status st = BK_OK;
	uint32_t l;

	for (l = 0; l < in->hierarchy.levels && st >= 0; l++) {
		struct bk_slice path = bk_slice_of(in->path.data, ends[l]);

		if (bk_u64set_add(&in->levels, XXH3_64bits(path.data, path.len)))
			st = add(in, bk_slice_of(in->path.data, from), path,
				 bk_slice_of(in->level_doc.data, in->level_doc.len), NULL, 0, err);
		from = ends[l];
	}
	return st;
}

bk_status bk_ingest_post(const char **path_out, struct bk_ingest *in, const char *parent,
			 const char *name, struct bk_slice doc, const struct bk_ingest_link *links,
			 size_t link_count, struct bk_error *err)
{
	size_t parent_len = strlen(parent), ends[32];
	bk_status st;

	bk_buf_reset(&in->path);
	bk_buf_puts(&in->path, parent);
	bk_hierarchy_path(&in->path, &in->hierarchy, name, ends);
	if (in->path.failed || in->levels.failed)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for loading");
	st = make_levels(in, parent_len, ends, err);
	if (st < 0)
		return st;
	if (in->hierarchy.levels)
		parent_len = ends[in->hierarchy.levels - 1];
	*path_out = bk_buf_str(&in->path);
	return add(in, bk_slice_of(in->path.data, parent_len),
		   bk_slice_of(in->path.data, in->path.len), doc, links, link_count, err);
}

void bk_ingest_path(struct bk_buf *buf, const struct bk_hierarchy *hierarchy, const char *parent,
		    const char *name)
{
	size_t ends[32];

	bk_buf_reset(buf);
	bk_buf_puts(buf, parent);
	bk_hierarchy_path(buf, hierarchy, name, ends);
}
