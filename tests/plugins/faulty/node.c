/*
 * node.c - nodes: reads are views of records, writes check and then change.
 *
 * The one invariant: a call that fails has changed nothing.
 */
#include "sound.h"

#include <stdlib.h>

#define VIEWS_MOST (8u << 20)

/* ---- Reads ---------------------------------------------------------------------------------- */

static void hold(struct bk_session *s, size_t n)
{
	s->held = realloc(s->held, (n + 1) * sizeof(struct snd_record *));
	if (!s->held)
		abort();
}

static struct bk_node view(struct bk_session *s, struct snd_record *r, uint32_t want)
{
	struct bk_node node = r->node;

	r->refs++;
	s->held[s->held_count++] = r;
	if (!(want & BK_WANT_PATH))
		node.parent = node.path = bk_slice_of(NULL, 0);
	if (!(want & BK_WANT_DOC))
		node.doc = bk_slice_of(NULL, 0);
	if (!(want & BK_WANT_LINKS) || !node.link_count) {
		node.links = NULL;
		node.link_count = 0;
	}
	return node;
}

bk_status snd_get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		  struct bk_error *err)
{
	struct snd_record *r;

	snd_views_lapse(s);
	r = snd_find(snd_seen(s), id, false);
	if (!r)
		return bk_fail(err, BK_NOT_FOUND, 0, "no such node");
	hold(s, 1);
	*out = view(s, r, want);
	return BK_OK;
}

bk_status snd_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
		       const struct bk_slice *ids, size_t n, uint32_t want, struct bk_error *err)
{
	uint64_t bytes = 0;
	size_t i;

	snd_views_lapse(s);
	hold(s, n);
	for (i = 0; i < n; i++) {
		struct snd_record *r = snd_find(snd_seen(s), ids[i], false);

		memset(&out[i], 0, sizeof(out[i]));
		if (!r)
			continue;
		bytes += r->node.doc.len;
		if (i && bytes > VIEWS_MOST)
			break;
		out[i] = view(s, r, want);
	}
	*done = i;
	return BK_OK;
}

bk_status snd_find_op(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
		      struct bk_error *err)
{
	struct snd_record *r;

	snd_views_lapse(s);
	r = snd_find_path(snd_seen(s), path);
	if (!r)
		return bk_fail(err, BK_NOT_FOUND, 0, "no such path");
	hold(s, 1);
	*id_out = view(s, r, 0).id;
	return BK_OK;
}

/* ---- Checks -------------------------------------------------------------------------------------
 */

static bk_status check_name(struct bk_error *err, const char *what, struct bk_slice name)
{
	if (name.len == 0)
		return bk_fail(err, BK_INVALID, 0, "an empty %s", what);
	if (name.len > SND_NAME_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "a %s of %zu bytes", what, name.len);
	return BK_OK;
}

static bk_status check_links(const struct bk_link *links, size_t n, struct bk_error *err)
{
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; st == BK_OK && i < n; i++) {
		st = check_name(err, "relation", links[i].rel);
		if (st == BK_OK)
			st = check_name(err, "target", links[i].target);
	}
	return st;
}

static bk_status check_given(const struct bk_node *node, uint32_t mode, struct bk_error *err)
{
	bk_status st = check_name(err, "id", node->id);

	if (st == BK_OK)
		st = check_name(err, "path", node->path);
	if (st == BK_OK && memchr(node->path.data, '\0', node->path.len))
		st = bk_fail(err, BK_INVALID, 0, "a path with NUL");
	if (st == BK_OK && node->doc.len > SND_DATA_MAX)
		st = bk_fail(err, BK_TOO_LARGE, 0, "a document of %zu bytes", node->doc.len);
	if (st == BK_OK && (mode < BK_PUT_CREATE || mode > BK_PUT_UPSERT))
		st = bk_fail(err, BK_INVALID, 0, "no such mode: %u", mode);
	return st == BK_OK ? check_links(node->links, node->link_count, err) : st;
}

static bk_status check_new(const struct snd_state *state, const struct bk_node *node,
			   struct bk_error *err)
{
	if (snd_find_path(state, node->path))
		return bk_fail(err, BK_EXISTS, 0, "the path is taken");
	if (node->parent.len && !snd_find(state, node->parent, false))
		return bk_fail(err, BK_NOT_FOUND, 0, "no such parent");
	return BK_OK;
}

static bk_status check_old(const struct snd_record *old, const struct bk_node *node,
			   struct bk_error *err)
{
	if (node->version && node->version != old->node.version)
		return bk_fail(err, BK_CONFLICT, 0, "the version is another");
	if (!bk_slice_eq(node->path, old->node.path) ||
	    !bk_slice_eq(node->parent, old->node.parent))
		return bk_fail(err, BK_INVALID, 0, "path and parent never change");
	return BK_OK;
}

/* ---- Writes -------------------------------------------------------------------------------------
 */

static bk_status put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		     struct bk_error *err)
{
	bk_status st = check_given(node, mode, err);
	struct snd_record *old;

	if (st != BK_OK)
		return st;
	old = snd_find(&s->state, node->id, false);
	if (old && mode == BK_PUT_CREATE)
		return bk_fail(err, BK_EXISTS, 0, "the id is taken");
	if (!old && mode == BK_PUT_REPLACE)
		return bk_fail(err, BK_NOT_FOUND, 0, "no such node");
	st = old ? check_old(old, node, err) : check_new(&s->state, node, err);
	if (st == BK_OK)
		snd_change_set(s, node, false);
	return st;
}

bk_status snd_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		  struct bk_error *err)
{
	bk_status st = snd_write_begin(s, err);

	if (st != BK_OK)
		return st;
	return snd_write_end(s, put(s, node, mode, err), err);
}

bk_status snd_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode,
		       struct bk_error *err)
{
	bk_status st = snd_write_begin(s, err);
	struct snd_state before;
	size_t changes = s->changes.len, i;

	if (st != BK_OK)
		return st;
	snd_state_copy(&before, &s->state);
	for (i = 0; st == BK_OK && i < n; i++) {
		st = put(s, &nodes[i], mode, err);
		if (st != BK_OK)
			err->item = i;
	}
	if (st == BK_OK) {
		snd_state_free(&before);
	} else {
		snd_state_free(&s->state);
		s->state = before;
		s->changes.len = changes;
	}
	st = snd_write_end(s, st, err);
	if (st != BK_OK && err->item == UINT64_MAX)
		err->item = 0;
	return st;
}

static bk_status append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
			const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	struct snd_record *old = snd_find(&s->state, id, false);
	struct bk_link *all;
	struct bk_node node;
	bk_status st = check_links(links, link_count, err);
	char *doc;

	if (st != BK_OK)
		return st;
	if (!old)
		return bk_fail(err, BK_NOT_FOUND, 0, "no such node");
	node = old->node;
	doc = malloc(node.doc.len + tail.len + 1);
	all = calloc(node.link_count + link_count + 1, sizeof(*all));
	if (!doc || !all)
		abort();
	if (node.doc.len)
		memcpy(doc, node.doc.data, node.doc.len);
	if (tail.len)
		memcpy(doc + node.doc.len, tail.data, tail.len);
	if (node.link_count)
		memcpy(all, node.links, node.link_count * sizeof(*all));
	if (link_count)
		memcpy(all + node.link_count, links, link_count * sizeof(*all));
	node.doc = bk_slice_of(doc, node.doc.len + tail.len);
	node.links = all;
	node.link_count += link_count;
	snd_change_set(s, &node, false);
	free(doc);
	free(all);
	return BK_OK;
}

bk_status snd_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
		     const struct bk_link *links, size_t link_count, struct bk_error *err)
{
	bk_status st = snd_write_begin(s, err);

	if (st != BK_OK)
		return st;
	return snd_write_end(s, append(s, id, tail, links, link_count, err), err);
}

static bk_status drop(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	size_t i;

	if (!snd_find(&s->state, id, false))
		return bk_fail(err, BK_NOT_FOUND, 0, "no such node");
	for (i = 0; i < s->state.count; i++) {
		const struct snd_record *r = s->state.list[i];

		if (!r->is_binary && bk_slice_eq(r->node.parent, id))
			return bk_fail(err, BK_IN_USE, 0, "it has children");
	}
	snd_change_unset(s, id, false);
	return BK_OK;
}

bk_status snd_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err)
{
	bk_status st = snd_write_begin(s, err);

	if (st != BK_OK)
		return st;
	return snd_write_end(
		s, id.len ? drop(s, id, err) : bk_fail(err, BK_NOT_FOUND, 0, "no such node"), err);
}
