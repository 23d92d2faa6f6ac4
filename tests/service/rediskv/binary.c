/*
 * binary.c - a binary is one string: gathered, then SET; fetched whole, then read.
 */
#include "rediskv.h"

#include <stdlib.h>

struct rkv_key {
	char text[512];
	size_t len;
};

static struct bk_slice bin_key(struct rkv_key *key, const struct bk_session *s,
			       struct bk_slice name)
{
	key->len =
		(size_t)snprintf(key->text, sizeof(key->text), "%s:%.*s", s->store->config->space,
				 (int)name.len, (const char *)name.data);
	return bk_slice_of(key->text, key->len);
}

static struct bk_slice bin_set(struct rkv_key *set, const struct bk_session *s)
{
	set->len = (size_t)snprintf(set->text, sizeof(set->text), "{%s}", s->store->config->space);
	return bk_slice_of(set->text, set->len);
}

static bk_status rkv_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
				uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	struct bk_writer *w;

	if (key.len > 400)
		return bk_fail(err, BK_TOO_LARGE, 0, "a key of %zu bytes, at most 400", key.len);
	w = calloc(1, sizeof(*w));
	if (!w)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	w->session = s;
	w->size_bytes = size_bytes;
	w->mode = mode;
	memcpy(w->key, key.data, key.len);
	w->key_len = key.len;
	*out = w;
	return BK_OK;
}

static bk_status rkv_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err)
{
	if (w->cap - w->len < len) {
		char *more = realloc(w->data, w->cap * 2 + len);

		if (!more)
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
		w->data = more;
		w->cap = w->cap * 2 + len;
	}
	memcpy(w->data + w->len, data, len);
	w->len += len;
	return BK_OK;
}

static void rkv_abort(struct bk_writer *w)
{
	free(w->data);
	free(w);
}

static bk_status rkv_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_session *s = w->session;
	struct bk_slice name = bk_slice_of(w->key, w->key_len);
	struct rkv_key key, set;
	struct bk_slice put[3] = {bk_slice_str("SET"), bin_key(&key, s, name),
				  bk_slice_of(w->data ? w->data : "", w->len)};
	struct bk_slice add[3] = {bk_slice_str("SADD"), bin_set(&set, s), name};
	struct rkv_reply reply;
	bk_status st = BK_OK;

	if (w->size_bytes != BK_SIZE_UNKNOWN && w->size_bytes != w->len)
		st = bk_fail(err, BK_INVALID, 0, "%llu bytes were announced, %zu came",
			     (unsigned long long)w->size_bytes, w->len);
	if (st == BK_OK)
		st = rkv_command(&s->conn, &reply, put, 3, err);
	if (st == BK_OK)
		st = rkv_command(&s->conn, &reply, add, 3, err);
	if (st == BK_OK && info)
		info->size_bytes = w->len;
	rkv_abort(w);
	return st;
}

static bk_status rkv_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice name,
			       uint64_t offset, uint64_t len, struct bk_binary_info *info,
			       struct bk_error *err)
{
	struct rkv_key key;
	struct bk_slice get[2] = {bk_slice_str("GET"), bin_key(&key, s, name)};
	struct rkv_reply reply;
	struct bk_reader *r;
	bk_status st = rkv_command(&s->conn, &reply, get, 2, err);

	if (st != BK_OK)
		return st;
	if (reply.type == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "no binary '%.*s'", (int)name.len,
			       (const char *)name.data);
	if (offset > reply.len)
		return bk_fail(err, BK_INVALID, 0, "offset %llu is beyond %zu bytes",
			       (unsigned long long)offset, reply.len);
	r = calloc(1, sizeof(*r));
	if (r)
		r->data = malloc(reply.len + 1);
	if (!r || !r->data) {
		free(r);
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	r->len = reply.len - offset < len ? (size_t)(reply.len - offset) : (size_t)len;
	memcpy(r->data, reply.text + offset, r->len);
	if (info)
		info->size_bytes = reply.len;
	*out = r;
	return BK_OK;
}

static bk_status rkv_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
			  struct bk_error *err)
{
	size_t left = r->len - r->at, take = left < cap ? left : cap;

	if (left == 0)
		return BK_END;
	memcpy(buf, r->data + r->at, take);
	r->at += take;
	*n = take;
	return BK_OK;
}

static void rkv_read_close(struct bk_reader *r)
{
	free(r->data);
	free(r);
}

static bk_status rkv_stat(struct bk_session *s, struct bk_slice name, struct bk_binary_info *info,
			  struct bk_error *err)
{
	struct rkv_key key;
	struct bk_slice get[2] = {bk_slice_str("EXISTS"), bin_key(&key, s, name)};
	struct rkv_reply reply;
	bk_status st = rkv_command(&s->conn, &reply, get, 2, err);

	if (st == BK_OK && reply.number == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "no binary '%.*s'", (int)name.len,
			       (const char *)name.data);
	get[0] = bk_slice_str("STRLEN");
	if (st == BK_OK)
		st = rkv_command(&s->conn, &reply, get, 2, err);
	if (st == BK_OK)
		info->size_bytes = (uint64_t)reply.number;
	return st;
}

static bk_status rkv_remove(struct bk_session *s, struct bk_slice name, struct bk_error *err)
{
	struct rkv_key key, set;
	struct bk_slice del[2] = {bk_slice_str("DEL"), bin_key(&key, s, name)};
	struct bk_slice rem[3] = {bk_slice_str("SREM"), bin_set(&set, s), name};
	struct rkv_reply reply;
	bk_status st = rkv_command(&s->conn, &reply, del, 2, err);

	if (st == BK_OK && reply.number == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "no binary '%.*s'", (int)name.len,
			       (const char *)name.data);
	return st == BK_OK ? rkv_command(&s->conn, &reply, rem, 3, err) : st;
}

static bk_status rkv_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err)
{
	struct rkv_key set;
	struct bk_slice all[2] = {bk_slice_str("SMEMBERS"), bin_set(&set, s)};
	struct bk_cursor *c = calloc(1, sizeof(*c));
	struct rkv_reply reply;
	int64_t count, i;
	bk_status st;

	if (!c)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	c->session = s;
	st = rkv_command(&s->conn, &reply, all, 2, err);
	count = st == BK_OK ? reply.number : 0;
	for (i = 0; st == BK_OK && i < count; i++) {
		char *more;

		st = rkv_element(&s->conn, &reply, err);
		more = st == BK_OK ? realloc(c->keys, c->len + reply.len + 1) : NULL;
		if (st == BK_OK && !more)
			st = bk_fail(err, BK_NOMEM, 0, "out of memory");
		if (st != BK_OK)
			break;
		c->keys = more;
		memcpy(more + c->len, reply.text, reply.len);
		c->len += reply.len;
		more[c->len++] = '\0';
	}
	if (st != BK_OK) {
		free(c->keys);
		free(c);
		return st;
	}
	*out = c;
	return BK_OK;
}

static bk_status rkv_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			       size_t cap, size_t *n, struct bk_error *err)
{
	struct bk_binary_info info = {sizeof(info)};
	bk_status st = BK_OK;

	if (c->at == c->len)
		return BK_END;
	for (*n = 0; st == BK_OK && *n < cap && c->at < c->len; (*n)++) {
		keys[*n] = bk_slice_str(c->keys + c->at);
		c->at += keys[*n].len + 1;
		st = rkv_stat(c->session, keys[*n], &info, err);
		sizes_bytes[*n] = info.size_bytes;
	}
	return st;
}

static void rkv_list_close(struct bk_cursor *c)
{
	free(c->keys);
	free(c);
}

const struct bk_binary_ops rkv_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = rkv_write_open,
	.write = rkv_write,
	.finish = rkv_finish,
	.abort = rkv_abort,
	.read_open = rkv_read_open,
	.read = rkv_read,
	.read_close = rkv_read_close,
	.stat = rkv_stat,
	.remove = rkv_remove,
	.list_open = rkv_list_open,
	.list_next = rkv_list_next,
	.list_close = rkv_list_close,
};
