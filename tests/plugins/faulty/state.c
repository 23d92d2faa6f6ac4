/*
 * state.c - records and arrays of them.
 *
 * The one invariant: see sound.h; every array holds a reference to each of its records.
 */
#include "sound.h"

#include <stdlib.h>

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

void snd_buf_put(struct snd_buf *buf, const void *data, size_t len)
{
	if (buf->len + len > buf->cap) {
		buf->cap = (buf->len + len) * 2;
		buf->data = must(realloc(buf->data, buf->cap));
	}
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
}

static uint64_t hash_of(struct bk_slice s)
{
	const unsigned char *p = s.data;
	uint64_t h = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < s.len; i++)
		h = (h ^ p[i]) * UINT64_C(1099511628211);
	return h;
}

static struct bk_slice keep(char **at, struct bk_slice s)
{
	struct bk_slice kept = bk_slice_of(*at, s.len);

	if (s.len)
		memcpy(*at, s.data, s.len);
	*at += s.len;
	return kept;
}

static bool has_link(const struct bk_link *links, size_t n, const struct bk_link *link)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (bk_slice_eq(links[i].rel, link->rel) &&
		    bk_slice_eq(links[i].target, link->target))
			return true;
	}
	return false;
}

struct snd_record *snd_record_new(const struct bk_node *node, bool is_binary, uint64_t version)
{
	size_t size = node->link_count * sizeof(struct bk_link), i;
	struct snd_record *r;
	struct bk_link *links;
	char *at;

	size += node->id.len + node->parent.len + node->path.len + node->doc.len;
	for (i = 0; i < node->link_count; i++)
		size += node->links[i].rel.len + node->links[i].target.len;
	r = must(calloc(1, sizeof(*r) + size));
	r->refs = 1;
	r->is_binary = is_binary;
	r->hash = hash_of(node->id);
	links = (void *)r->bytes;
	at = r->bytes + node->link_count * sizeof(*links);
	r->node.id = keep(&at, node->id);
	r->node.parent = keep(&at, node->parent);
	r->node.path = keep(&at, node->path);
	r->node.doc = keep(&at, node->doc);
	r->node.links = links;
	r->node.version = version;
	for (i = 0; i < node->link_count; i++) {
		if (has_link(links, r->node.link_count, &node->links[i]))
			continue;
		links[r->node.link_count].rel = keep(&at, node->links[i].rel);
		links[r->node.link_count++].target = keep(&at, node->links[i].target);
	}
	return r;
}

void snd_record_drop(struct snd_record *r)
{
	if (r && --r->refs == 0)
		free(r);
}

static size_t index_of(const struct snd_state *s, struct bk_slice id, bool is_binary)
{
	uint64_t hash = hash_of(id);
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (s->list[i]->hash == hash && s->list[i]->is_binary == is_binary &&
		    bk_slice_eq(s->list[i]->node.id, id))
			break;
	}
	return i;
}

struct snd_record *snd_find(const struct snd_state *s, struct bk_slice id, bool is_binary)
{
	size_t i = index_of(s, id, is_binary);

	return i < s->count ? s->list[i] : NULL;
}

struct snd_record *snd_find_path(const struct snd_state *s, struct bk_slice path)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (!s->list[i]->is_binary && bk_slice_eq(s->list[i]->node.path, path))
			return s->list[i];
	}
	return NULL;
}

void snd_set(struct snd_state *s, struct snd_record *r)
{
	size_t i = index_of(s, r->node.id, r->is_binary);

	if (i < s->count) {
		snd_record_drop(s->list[i]);
		s->list[i] = r;
		return;
	}
	if (s->count == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 64;
		s->list = must(realloc(s->list, s->cap * sizeof(struct snd_record *)));
	}
	s->list[s->count++] = r;
}

void snd_unset(struct snd_state *s, struct bk_slice id, bool is_binary)
{
	size_t i = index_of(s, id, is_binary);

	if (i == s->count)
		return;
	snd_record_drop(s->list[i]);
	s->list[i] = s->list[--s->count];
}

void snd_state_copy(struct snd_state *out, const struct snd_state *s)
{
	size_t i;

	out->count = s->count;
	out->cap = s->count + 16;
	out->list = must(malloc(out->cap * sizeof(struct snd_record *)));
	for (i = 0; i < s->count; i++) {
		out->list[i] = s->list[i];
		out->list[i]->refs++;
	}
}

void snd_state_free(struct snd_state *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		snd_record_drop(s->list[i]);
	free(s->list);
	memset(s, 0, sizeof(*s));
}
