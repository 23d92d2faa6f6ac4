/*
 * binary.c - the binary operations.
 *
 * The one invariant: a binary appears whole, at finish (inside a transaction: at commit).
 */
#include "mem.h"

#include <stdlib.h>

#define FIRST_CAP ((uint64_t)64 * 1024)
#define TRUSTED_CAP                                                                                \
	((uint64_t)64 * 1024 * 1024) /* declared sizes up to this are reserved at once */

/* The content that the session sees under `key`, or NULL; the lock is held. */
static struct mem_blob *blob_seen(struct bk_session *s, struct bk_slice key)
{
	struct mem_bin *bin = s->txn.open ? mem_bin_find(&s->txn.bins, key) : NULL;

	if (!bin)
		bin = mem_bin_find(&s->store->bins, key);
	return bin ? bin->blob : NULL;
}

static bk_status absent(struct bk_error *err, const char *what, struct bk_slice key)
{
	return bk_fail(err, BK_NOT_FOUND, 0, "mem: %s: no binary '%.*s'", what, (int)key.len,
		       (const char *)key.data);
}

/* Put (or with NULL remove) the content under `key`; the lock is held for writing. */
static bk_status blob_store(struct bk_session *s, struct bk_slice key, struct mem_blob *blob,
			    struct bk_error *err)
{
	struct mem_bins *bins = s->txn.open ? &s->txn.bins : &s->store->bins;
	struct mem_bin *bin;
	bool is_new;

	if (!blob && !s->txn.open) {
		mem_bin_drop(bins, mem_bin_find(bins, key));
		s->store->changes++;
		return BK_OK;
	}
	is_new = !mem_bin_find(bins, key);
	bin = mem_bin_get(bins, key);
	if (!bin)
		return bk_fail(err, BK_NOMEM, 0, "mem: out of memory");
	if (s->txn.open && is_new)
		mem_txn_touch_bin(&s->txn, bin, mem_bin_find(&s->store->bins, key));
	mem_bin_set(bins, bin, blob);
	if (!s->txn.open)
		s->store->changes++;
	return BK_OK;
}

/* ---- Writing ----------------------------------------------------------- */

static bk_status mem_binary_write_open(struct bk_writer **out, struct bk_session *s,
				       struct bk_slice key, uint64_t size_bytes, uint32_t mode,
				       struct bk_error *err)
{
	struct bk_writer *w = &s->writer;
	bk_status st = mem_check_text(err, "key", key);

	if (st)
		return st;
	if (mode != BK_PUT_CREATE && mode != BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "mem: write: mode must be create or upsert");
	if (size_bytes != BK_SIZE_UNKNOWN && size_bytes > MEM_BIN_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "mem: a binary of %llu bytes; the limit is %llu",
			       (unsigned long long)size_bytes, (unsigned long long)MEM_BIN_MAX);
	if (w->blob)
		return bk_fail(err, BK_STATE, 0, "mem: write: the session has a writer open");
	if (s->txn.open && s->txn.read_only)
		return bk_fail(err, BK_STATE, 0, "mem: a write in a read-only transaction");
	w->cap = size_bytes <= TRUSTED_CAP && size_bytes ? size_bytes : FIRST_CAP;
	w->blob = calloc(1, sizeof(*w->blob));
	if (!w->blob || !mem_buf_reserve(&w->key, key.len))
		goto no_memory;
	w->blob->data = malloc(w->cap);
	if (!w->blob->data)
		goto no_memory;
	atomic_init(&w->blob->refs, 1);
	memcpy(w->key.data, key.data, key.len);
	w->key_len = key.len;
	w->session = s;
	w->declared_bytes = size_bytes;
	w->mode = mode;
	*out = w;
	return BK_OK;
no_memory:
	free(w->blob);
	w->blob = NULL;
	return bk_fail(err, BK_NOMEM, 0, "mem: out of memory");
}

static bk_status mem_binary_write(struct bk_writer *w, const void *data, size_t len,
				  struct bk_error *err)
{
	uint64_t need = w->blob->len + len, cap = w->cap;
	unsigned char *bigger;

	if (need > MEM_BIN_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "mem: a binary of over %llu bytes",
			       (unsigned long long)MEM_BIN_MAX);
	if (need > cap) {
		while (cap < need)
			cap *= 2;
		bigger = realloc(w->blob->data, cap);
		if (!bigger)
			return bk_fail(err, BK_NOMEM, 0, "mem: out of memory");
		w->blob->data = bigger;
		w->cap = cap;
	}
	if (len)
		memcpy(w->blob->data + w->blob->len, data, len);
	w->blob->len = need;
	return BK_OK;
}

static void mem_binary_abort(struct bk_writer *w)
{
	mem_blob_release(w->blob);
	w->blob = NULL;
}

static bk_status mem_binary_finish(struct bk_writer *w, struct bk_binary_info *info,
				   struct bk_error *err)
{
	struct bk_session *s = w->session;
	struct bk_slice key = bk_slice_of(w->key.data, w->key_len);
	uint64_t size_bytes = w->blob->len;
	unsigned char *fitting;
	bk_status st;

	if (w->declared_bytes != BK_SIZE_UNKNOWN && w->declared_bytes != size_bytes) {
		st = bk_fail(err, BK_INVALID, 0,
			     "mem: finish: %llu bytes were declared, %llu written",
			     (unsigned long long)w->declared_bytes, (unsigned long long)size_bytes);
		goto done;
	}
	if (w->cap > size_bytes && size_bytes) {
		fitting = realloc(w->blob->data, size_bytes);
		if (fitting)
			w->blob->data = fitting;
	}
	pthread_rwlock_wrlock(&s->store->lock);
	st = mem_txn_check(s, true, err);
	if (!st && w->mode == BK_PUT_CREATE && blob_seen(s, key))
		st = bk_fail(err, BK_EXISTS, 0, "mem: finish: the key '%.*s' is taken",
			     (int)key.len, (const char *)key.data);
	if (!st) {
		w->blob->version = atomic_fetch_add(&s->store->versions, 1) + 1;
		st = blob_store(s, key, w->blob, err);
	}
	pthread_rwlock_unlock(&s->store->lock);
	s->txn.ordinal++;
	if (!st) {
		w->blob = NULL;
		info->size_bytes = size_bytes;
	}
done:
	mem_binary_abort(w);
	return st;
}

/* ---- Reading ----------------------------------------------------------- */

static bk_status mem_binary_read_open(struct bk_reader **out, struct bk_session *s,
				      struct bk_slice key, uint64_t offset, uint64_t len,
				      struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_reader *r = &s->reader;
	struct mem_blob *blob = NULL;
	bk_status st = mem_check_text(err, "key", key);

	if (st)
		return st;
	if (r->blob)
		return bk_fail(err, BK_STATE, 0, "mem: read: the session has a reader open");
	pthread_rwlock_rdlock(&s->store->lock);
	st = mem_txn_check(s, false, err);
	if (!st) {
		blob = blob_seen(s, key);
		if (blob)
			atomic_fetch_add(&blob->refs, 1);
	}
	pthread_rwlock_unlock(&s->store->lock);
	if (st)
		return st;
	if (!blob)
		return absent(err, "read", key);
	if (offset > blob->len) {
		st = bk_fail(err, BK_INVALID, 0, "mem: read: offset %llu of a binary of %llu bytes",
			     (unsigned long long)offset, (unsigned long long)blob->len);
		mem_blob_release(blob);
		return st;
	}
	r->blob = blob;
	r->at = offset;
	r->end = len < blob->len - offset ? offset + len : blob->len;
	info->size_bytes = blob->len;
	*out = r;
	return BK_OK;
}

static bk_status mem_binary_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
				 struct bk_error *err)
{
	uint64_t left = r->end - r->at;

	if (left == 0)
		return BK_END;
	*n = left < cap ? (size_t)left : cap;
	memcpy(buf, r->blob->data + r->at, *n);
	r->at += *n;
	return BK_OK;
}

static void mem_binary_read_close(struct bk_reader *r)
{
	mem_blob_release(r->blob);
	r->blob = NULL;
}

static bk_status mem_binary_stat(struct bk_session *s, struct bk_slice key,
				 struct bk_binary_info *info, struct bk_error *err)
{
	struct mem_blob *blob = NULL;
	uint64_t size_bytes = 0;
	bk_status st = mem_check_text(err, "key", key);

	if (st)
		return st;
	pthread_rwlock_rdlock(&s->store->lock);
	st = mem_txn_check(s, false, err);
	if (!st)
		blob = blob_seen(s, key);
	if (blob)
		size_bytes = blob->len;
	pthread_rwlock_unlock(&s->store->lock);
	if (st)
		return st;
	if (!blob)
		return absent(err, "stat", key);
	info->size_bytes = size_bytes;
	return BK_OK;
}

static bk_status mem_binary_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err)
{
	bk_status st = mem_check_text(err, "key", key);

	if (st)
		return st;
	pthread_rwlock_wrlock(&s->store->lock);
	st = mem_txn_check(s, true, err);
	if (!st)
		st = blob_seen(s, key) ? blob_store(s, key, NULL, err) : absent(err, "remove", key);
	pthread_rwlock_unlock(&s->store->lock);
	s->txn.ordinal++;
	return st;
}

/* ---- Listing ----------------------------------------------------------- */

typedef void list_fn(void *ctx, const struct mem_bin *bin);

static void list_each(struct bk_session *s, list_fn *fn, void *ctx)
{
	const struct mem_bins *tables[2] = {&s->store->bins, s->txn.open ? &s->txn.bins : NULL};
	const struct mem_entry *e;
	const struct mem_bin *bin;
	size_t i, t;

	for (t = 0; t < 2 && tables[t]; t++) {
		for (i = 0; i <= tables[t]->keys.mask; i++) {
			for (e = tables[t]->keys.buckets[i]; e; e = e->next) {
				bin = MEM_OWNER(e, const struct mem_bin, by_key);
				if (t == 0 && tables[1] &&
				    mem_bin_find(tables[1], bk_slice_of(bin->key, bin->key_len)))
					continue;
				if (bin->blob)
					fn(ctx, bin);
			}
		}
	}
}

struct list_size {
	size_t keys, bytes;
};

static void list_measure(void *ctx, const struct mem_bin *bin)
{
	struct list_size *size = ctx;

	size->keys++;
	size->bytes += bin->key_len;
}

struct list_fill {
	struct bk_cursor *cursor;
	char *bytes;
};

static void list_copy(void *ctx, const struct mem_bin *bin)
{
	struct list_fill *fill = ctx;
	struct bk_cursor *c = fill->cursor;

	memcpy(fill->bytes, bin->key, bin->key_len);
	c->keys[c->count] = bk_slice_of(fill->bytes, bin->key_len);
	c->sizes_bytes[c->count++] = bin->blob->len;
	fill->bytes += bin->key_len;
}

static bk_status mem_binary_list_open(struct bk_cursor **out, struct bk_session *s,
				      struct bk_error *err)
{
	struct bk_cursor *c = &s->cursor;
	struct list_size size = {0, 0};
	struct list_fill fill;
	bk_status st;

	if (c->open)
		return bk_fail(err, BK_STATE, 0, "mem: list: the session has a cursor open");
	memset(c, 0, sizeof(*c));
	pthread_rwlock_rdlock(&s->store->lock);
	st = mem_txn_check(s, false, err);
	if (st)
		goto done;
	list_each(s, list_measure, &size);
	c->block =
		malloc(size.keys * (sizeof(struct bk_slice) + sizeof(uint64_t)) + size.bytes + 1);
	if (!c->block) {
		st = bk_fail(err, BK_NOMEM, 0, "mem: out of memory");
		goto done;
	}
	c->keys = c->block;
	c->sizes_bytes = (uint64_t *)(void *)(c->keys + size.keys);
	fill.cursor = c;
	fill.bytes = (char *)(c->sizes_bytes + size.keys);
	list_each(s, list_copy, &fill);
	c->open = true;
	*out = c;
done:
	pthread_rwlock_unlock(&s->store->lock);
	return st;
}

static bk_status mem_binary_list_next(struct bk_cursor *c, struct bk_slice *keys,
				      uint64_t *sizes_bytes, size_t cap, size_t *n,
				      struct bk_error *err)
{
	size_t left = c->count - c->next;

	if (!left)
		return BK_END;
	*n = left < cap ? left : cap;
	memcpy(keys, c->keys + c->next, *n * sizeof(*keys));
	memcpy(sizes_bytes, c->sizes_bytes + c->next, *n * sizeof(*sizes_bytes));
	c->next += *n;
	return BK_OK;
}

const struct bk_binary_ops mem_binary_ops = {
	.struct_size = sizeof(struct bk_binary_ops),
	.write_open = mem_binary_write_open,
	.write = mem_binary_write,
	.finish = mem_binary_finish,
	.abort = mem_binary_abort,
	.read_open = mem_binary_read_open,
	.read = mem_binary_read,
	.read_close = mem_binary_read_close,
	.stat = mem_binary_stat,
	.remove = mem_binary_remove,
	.list_open = mem_binary_list_open,
	.list_next = mem_binary_list_next,
	.list_close = mem_cursor_close,
};
