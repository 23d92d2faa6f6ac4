/*
 * doc_apply.c - document layout: one put or remove on rows that are loaded.
 *
 * The invariant: a link is written twice, in its source's links and in its target's referrers, and
 * a child twice, as its own parent and in its parent's list; both sides change together or not at
 * all. Everything that can be refused is refused before the first row changes.
 */
#include "doc.h"

static void app_touch(struct doc_row *r, uint64_t item)
{
	r->dirty = true;
	r->item = item;
}

void doc_want_put(struct pg_unit *u, const struct bk_node *node)
{
	size_t i;

	doc_unit_want(u, node->id);
	doc_unit_want_path(u, node->path);
	if (node->parent.len)
		doc_unit_want(u, node->parent);
	for (i = 0; i < node->link_count; i++)
		doc_unit_want(u, node->links[i].target);
}

void doc_want_old(struct pg_unit *u, struct bk_slice id)
{
	struct doc_row *r = doc_unit_row(u, id);
	struct doc_entry e;
	size_t at = 0;

	while (r && doc_entry_next(&e, pg_buffer_slice(&r->links.bytes), &at))
		doc_unit_want(u, e.id);
	if (r && r->parent_len)
		doc_unit_want(u, doc_row_parent(r));
}

static bk_status app_old_allowed(const struct doc_row *r, const struct bk_node *node, uint32_t mode,
				 struct bk_error *err)
{
	if (mode == BK_PUT_CREATE)
		return bk_fail(err, BK_EXISTS, 0, "put: the id is taken (path '%.*s')",
			       (int)doc_row_path(r).len, (const char *)doc_row_path(r).data);
	if (node->version && node->version != r->version)
		return bk_fail(err, BK_CONFLICT, 0, "put: another version is there (path '%.*s')",
			       (int)node->path.len, (const char *)node->path.data);
	if (!bk_slice_eq(doc_row_parent(r), node->parent) ||
	    !bk_slice_eq(doc_row_path(r), node->path))
		return bk_fail(err, BK_INVALID, 0,
			       "put: parent and path of a node never change (path '%.*s')",
			       (int)node->path.len, (const char *)node->path.data);
	return BK_OK;
}

static bk_status app_new_allowed(const struct pg_unit *u, const struct bk_node *node, uint32_t mode,
				 struct bk_error *err)
{
	const struct doc_row *parent;

	if (mode == BK_PUT_REPLACE)
		return bk_fail(err, BK_NOT_FOUND, 0, "put: no node has that id (path '%.*s')",
			       (int)node->path.len, (const char *)node->path.data);
	if (doc_unit_path_taken(u, node->path))
		return bk_fail(err, BK_EXISTS, 0, "put: the path '%.*s' is taken",
			       (int)node->path.len, (const char *)node->path.data);
	if (node->parent.len) {
		parent = doc_unit_row(u, node->parent);
		if (!parent || !parent->exists)
			return bk_fail(err, BK_NOT_FOUND, 0,
				       "put: the parent of '%.*s' is not there",
				       (int)node->path.len, (const char *)node->path.data);
	}
	return BK_OK;
}

static void app_unlink(struct pg_unit *u, struct doc_row *r, uint64_t item)
{
	struct doc_row *target;
	struct doc_entry e;
	size_t at = 0;

	while (doc_entry_next(&e, pg_buffer_slice(&r->links.bytes), &at)) {
		target = doc_unit_row(u, e.id);
		if (!target)
			continue;
		doc_list_remove(&target->referrers, e.rel, r->id);
		app_touch(target, item);
	}
	pg_buffer_reset(&r->links.bytes);
	r->links.count = 0;
}

/* Room for all entries first: the map's keys point into the list and must not move. */
static void app_link(struct pg_unit *u, struct doc_row *r, const struct bk_node *node,
		     uint64_t item)
{
	struct pg_buffer *b = &r->links.bytes;
	struct pg_map seen = {0};
	struct doc_row *target;
	size_t i, room = 0, at;

	for (i = 0; i < node->link_count; i++)
		room += 4 + node->links[i].rel.len + node->links[i].target.len;
	if (node->link_count == 0)
		return;
	pg_map_reset(&seen, node->link_count);
	pg_buffer_grow(b, room);
	for (i = 0; i < node->link_count && !b->failed; i++) {
		const struct bk_link *l = &node->links[i];

		at = b->len;
		doc_list_add(&r->links, l->rel, l->target);
		if (pg_map_add(&seen, bk_slice_of(b->data + at, b->len - at), 0) != PG_MAP_NONE) {
			b->len = at;
			r->links.count--;
			continue;
		}
		target = doc_unit_row(u, l->target);
		doc_list_add(&target->referrers, l->rel, r->id);
		app_touch(target, item);
	}
	u->failed = u->failed || seen.failed || b->failed;
	pg_map_free(&seen);
}

/* Versions begin with the time, so that a node made again bears no old one. */
static void app_enter(struct pg_unit *u, struct doc_row *r, const struct bk_node *node,
		      uint64_t item)
{
	struct doc_row *parent;

	r->exists = true;
	r->version = u->host->now_ns(u->host->ctx) | 1;
	pg_buffer_reset(&r->place);
	pg_buffer_add(&r->place, node->parent.data, node->parent.len);
	pg_buffer_add(&r->place, node->path.data, node->path.len);
	r->parent_len = node->parent.len;
	doc_unit_take_path(u, r);
	if (node->parent.len == 0)
		return;
	parent = doc_unit_row(u, node->parent);
	doc_list_add(&parent->children, bk_slice_of("", 0), r->id);
	app_touch(parent, item);
}

bk_status doc_apply_put(struct pg_unit *u, const struct bk_node *node, uint32_t mode, uint64_t item,
			struct bk_error *err)
{
	struct doc_row *r = doc_unit_row(u, node->id);
	bk_status status = r->exists ? app_old_allowed(r, node, mode, err)
				     : app_new_allowed(u, node, mode, err);

	if (status < 0)
		return status;
	if (r->exists)
		app_unlink(u, r, item);
	else
		app_enter(u, r, node, item);
	pg_buffer_reset(&r->doc);
	pg_buffer_add(&r->doc, node->doc.data, node->doc.len);
	app_link(u, r, node, item);
	r->version++;
	app_touch(r, item);
	u->bytes += node->doc.len;
	return BK_OK;
}

bk_status doc_apply_remove(struct pg_unit *u, struct bk_slice id, uint64_t item,
			   struct bk_error *err)
{
	struct doc_row *r = doc_unit_row(u, id), *parent;

	if (!r || !r->exists)
		return bk_fail(err, BK_NOT_FOUND, 0, "remove: no node has that id");
	if (r->children.count)
		return bk_fail(err, BK_IN_USE, 0, "remove: '%.*s' has children",
			       (int)doc_row_path(r).len, (const char *)doc_row_path(r).data);
	app_unlink(u, r, item);
	if (r->parent_len) {
		parent = doc_unit_row(u, doc_row_parent(r));
		if (parent) {
			doc_list_remove(&parent->children, bk_slice_of("", 0), r->id);
			app_touch(parent, item);
		}
	}
	r->exists = false;
	r->parent_len = 0;
	pg_buffer_reset(&r->place);
	pg_buffer_reset(&r->doc);
	app_touch(r, item);
	return BK_OK;
}
