/*
 * binary.c - binaries: gathered in memory, a record at finish.
 *
 * The one invariant: nothing of a binary is in the store before finish() has answered OK.
 */
#include "sound.h"

#include <stdlib.h>

static bk_status check_key(struct bk_slice key, struct bk_error *err)
{
	if (key.len == 0 || memchr(key.data, '\0', key.len))
		return bk_fail(err, BK_INVALID, 0, "an empty key, or one with NUL");
	if (key.len > SND_NAME_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "a key of %zu bytes", key.len);
	return BK_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------
 */

bk_status snd_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			 uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	struct bk_writer *w = &s->writer;
	bk_status st = check_key(key, err);

	if (st != BK_OK)
		return st;
	if (mode != BK_PUT_CREATE && mode != BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "no such mode: %u", mode);
	if (size_bytes != BK_SIZE_UNKNOWN && size_bytes > SND_DATA_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "a binary of %llu bytes",
			       (unsigned long long)size_bytes);
	if (w->open)
		return bk_fail(err, BK_STATE, 0, "a writer is open");
	snd_views_lapse(s);
	w->s = s;
	w->declared = size_bytes;
	w->mode = mode;
	w->open = true;
	w->key.len = w->bytes.len = 0;
	snd_buf_put(&w->key, key.data, key.len);
	*out = w;
	return BK_OK;
}

bk_status snd_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err)
{
	if (w->bytes.len + len > SND_DATA_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "a binary of more than %llu bytes",
			       (unsigned long long)SND_DATA_MAX);
	snd_buf_put(&w->bytes, data, len);
	return BK_OK;
}

bk_status snd_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_session *s = w->s;
	struct bk_node node;
	bk_status st;

	w->open = false;
	if (w->declared != BK_SIZE_UNKNOWN && w->declared != w->bytes.len)
		return bk_fail(err, BK_INVALID, 0, "%zu bytes came, %llu were told", w->bytes.len,
			       (unsigned long long)w->declared);
	st = snd_write_begin(s, err);
	if (st != BK_OK)
		return st;
	memset(&node, 0, sizeof(node));
	node.id = bk_slice_of(w->key.data, w->key.len);
	node.doc = bk_slice_of(w->bytes.data, w->bytes.len);
	if (w->mode == BK_PUT_CREATE && snd_find(&s->state, node.id, true))
		st = bk_fail(err, BK_EXISTS, 0, "the key is taken");
	else
		snd_change_set(s, &node, true);
	st = snd_write_end(s, st, err);
	if (st == BK_OK)
		info->size_bytes = w->bytes.len;
	return st;
}

void snd_abort(struct bk_writer *w)
{
	w->open = false;
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

bk_status snd_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			uint64_t offset, uint64_t len, struct bk_binary_info *info,
			struct bk_error *err)
{
	struct snd_record *r = snd_find(snd_seen(s), key, true);
	uint64_t size;

	if (s->reader.r)
		return bk_fail(err, BK_STATE, 0, "a reader is open");
	snd_views_lapse(s);
	if (!r)
		return bk_fail(err, BK_NOT_FOUND, 0, "no such binary");
	size = r->node.doc.len;
	if (offset > size)
		return bk_fail(err, BK_INVALID, 0, "offset %llu of %llu bytes",
			       (unsigned long long)offset, (unsigned long long)size);
	r->refs++;
	s->reader.r = r;
	s->reader.at = offset;
	s->reader.end = len < size - offset ? offset + len : size;
	info->size_bytes = size;
	*out = &s->reader;
	return BK_OK;
}

bk_status snd_read(struct bk_reader *r, void *buf, size_t cap, size_t *n, struct bk_error *err)
{
	uint64_t left = r->end - r->at;

	left = left < cap ? left : cap;
	if (left)
		memcpy(buf, (const char *)r->r->node.doc.data + r->at, (size_t)left);
	r->at += left;
	*n = (size_t)left;
	return left ? BK_OK : BK_END;
}

void snd_read_close(struct bk_reader *r)
{
	snd_record_drop(r->r);
	r->r = NULL;
}

bk_status snd_stat(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
		   struct bk_error *err)
{
	struct snd_record *r = snd_find(snd_seen(s), key, true);

	snd_views_lapse(s);
	if (!r)
		return bk_fail(err, BK_NOT_FOUND, 0, "no such binary");
	info->size_bytes = r->node.doc.len;
	return BK_OK;
}

bk_status snd_binary_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	bk_status st = snd_write_begin(s, err);

	if (st != BK_OK)
		return st;
	if (snd_find(&s->state, key, true))
		snd_change_unset(s, key, true);
	else
		st = bk_fail(err, BK_NOT_FOUND, 0, "no such binary");
	return snd_write_end(s, st, err);
}

/* ---- Listing: hits of a cursor, the size in the place of a path's length
 * ------------------------- */

bk_status snd_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err)
{
	const struct snd_state *state = snd_seen(s);
	struct bk_cursor *c = &s->cursor;
	size_t i;

	if (c->open)
		return bk_fail(err, BK_STATE, 0, "a cursor is open");
	snd_views_lapse(s);
	free(c->hits);
	c->cap = state->count + 1;
	c->hits = calloc(c->cap, sizeof(*c->hits));
	if (!c->hits)
		abort();
	c->s = s;
	c->open = true;
	c->count = c->at = c->bytes.len = 0;
	for (i = 0; i < state->count; i++) {
		const struct bk_node *node = &state->list[i]->node;

		if (!state->list[i]->is_binary)
			continue;
		c->hits[c->count].id = bk_slice_of((void *)(uintptr_t)c->bytes.len, node->id.len);
		c->hits[c->count++].path.len = node->doc.len;
		snd_buf_put(&c->bytes, node->id.data, node->id.len);
	}
	for (i = 0; i < c->count; i++)
		c->hits[i].id.data = c->bytes.data + (uintptr_t)c->hits[i].id.data;
	*out = c;
	return BK_OK;
}

bk_status snd_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			size_t cap, size_t *n, struct bk_error *err)
{
	size_t left = c->count - c->at, i;

	left = left < cap ? left : cap;
	for (i = 0; i < left; i++) {
		keys[i] = c->hits[c->at + i].id;
		sizes_bytes[i] = c->hits[c->at + i].path.len;
	}
	c->at += left;
	*n = left;
	return left ? BK_OK : BK_END;
}
