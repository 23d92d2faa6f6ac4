/*
 * compact.c - writes the index anew: every list in one piece, nothing dead in it.
 *
 * Writers wait; readers do not: a cursor keeps the log that it began in.
 *
 * The one invariant: the new generation is complete before its number is stored in the control
 * file, and the old one's files are removed after.
 */
#include "file.h"

#include <stdlib.h>

#define COMPACT_BUFFER  ((size_t)1 << 20)
#define COMPACT_GARBAGE ((uint64_t)64 << 20) /* less is not worth it */

struct compact {
	struct file_index *old, *fresh;
	struct file_change change;
	struct compact_head { /* lists that end in the buffer */
		uint64_t hash;
		size_t at;
	} * heads;
	size_t head_count, head_cap;
	struct bk_error *err;
};

static void compact_key(struct compact *c, uint64_t hash, uint64_t offset)
{
	file_table_add(file_index_table(c->fresh, hash), hash, offset);
}

/* Write the buffer and point at what is in it. */
static bk_status compact_flush(struct compact *c)
{
	struct file_change *change = &c->change;
	bk_status status = file_change_store(change, c->err);

	if (status != BK_OK || change->buf.len == 0)
		return status;
	for (size_t at = 0; at < change->buf.len;) {
		const struct file_entry *e =
			(const struct file_entry *)(const void *)(change->buf.data + at);
		uint64_t offset = change->offset + at;

		if (e->kind == FILE_ENTRY_LINK) {
			compact_key(c,
				    file_key_link(file_entry_id(e), file_entry_rel(e),
						  file_entry_key(e))
					    .hash,
				    offset);
		} else {
			compact_key(c, file_key(FILE_KEY_ID, file_entry_id(e)).hash, offset);
			compact_key(c, file_key(FILE_KEY_PATH, file_entry_path(e)).hash, offset);
		}
		change->carry_nth = atomic_load_explicit(&e->live, memory_order_relaxed);
		at += e->size;
	}
	for (size_t i = 0; i < c->head_count; i++)
		compact_key(c, c->heads[i].hash, change->offset + c->heads[i].at);
	c->head_count = 0;
	change->carry = change->offset + change->last;
	uint64_t carry = change->carry;
	uint32_t nth = change->carry_nth;
	file_change_begin(change, c->fresh, NULL);
	change->carry = carry;
	change->carry_nth = nth;
	return BK_OK;
}

static bk_status compact_copy(struct compact *c, const struct file_entry *e, bool first)
{
	if (c->change.buf.len >= COMPACT_BUFFER) {
		bk_status status = compact_flush(c);

		if (status != BK_OK)
			return status;
	}
	file_change_copy(&c->change, e, first);
	return BK_OK;
}

static bk_status compact_list_end(struct compact *c, uint64_t hash)
{
	if (c->head_count == c->head_cap) {
		size_t cap = c->head_cap ? 2 * c->head_cap : 1024;
		struct compact_head *heads = realloc(c->heads, cap * sizeof(*heads));

		if (!heads)
			return bk_fail(c->err, BK_NOMEM, 0, "out of memory to settle the index");
		c->heads = heads;
		c->head_cap = cap;
	}
	c->heads[c->head_count].hash = hash;
	c->heads[c->head_count].at = c->change.last;
	c->head_count++;
	return BK_OK;
}

static bk_status compact_list(struct compact *c, uint64_t hash, uint64_t head)
{
	uint64_t *live = NULL;
	size_t n = 0;
	bk_status status = file_list_live(c->old->log, head, &live, &n, c->err);

	for (size_t i = 0; i < n && status == BK_OK; i++)
		status = compact_copy(c, file_log_entry(c->old->log, live[i]), i == 0);
	if (n && status == BK_OK)
		status = compact_list_end(c, hash);
	free(live);
	return status;
}

/* One slot of the old tables.  What hangs on a list comes with the list; nodes without a parent
 * stand in none. */
static bk_status compact_slot(void *ctx, uint64_t hash, uint64_t offset)
{
	struct compact *c = ctx;
	struct file_entry *e;

	switch (hash & 7) {
	case FILE_KEY_CHILDREN:
	case FILE_KEY_IN:
		return compact_list(c, hash, offset);
	case FILE_KEY_ID:
		e = file_log_entry(c->old->log, offset);
		if (!e) {
			atomic_store(&c->old->damaged, true);
			return file_index_check(c->old, c->err);
		}
		return e->key_len ? BK_OK : compact_copy(c, e, true);
	default:
		return BK_OK;
	}
}

static bk_status compact_fill(struct compact *c)
{
	bk_status status = BK_OK;

	for (unsigned i = 0; i < FILE_SHARDS && status == BK_OK; i++)
		status = file_table_reserve(&c->fresh->tables[i],
					    file_table_live(&c->old->tables[i]), c->err);
	file_change_begin(&c->change, c->fresh, NULL);
	for (unsigned i = 0; i < FILE_SHARDS && status == BK_OK; i++)
		status = file_table_each(&c->old->tables[i], compact_slot, c);
	if (status == BK_OK)
		status = compact_flush(c);
	for (unsigned i = 0; i < FILE_SHARDS; i++)
		c->fresh->tables[i].reserved = 0;
	return status;
}

bk_status file_compact(struct bk_store *store, struct bk_error *err)
{
	struct compact c = {.err = err};
	struct file_stripes all;
	bk_status status;

	file_stripes_all(&all);
	file_stripes_lock(store, &all);
	c.old = store->index;
	status = file_index_open(&c.fresh, store->dirfd, store->dir, c.old->generation + 1, true,
				 err);
	if (status == BK_OK)
		status = compact_fill(&c);
	if (status == BK_OK) {
		pthread_rwlock_wrlock(&store->swap);
		store->index = c.fresh;
		pthread_rwlock_unlock(&store->swap);
		atomic_store(&store->control->head->generation, c.fresh->generation);
		c.fresh = c.old;
	}
	file_index_close(c.fresh);
	file_index_sweep(store->dirfd, store->index->generation);
	file_stripes_unlock(store, &all);
	file_buf_free(&c.change.buf);
	free(c.heads);
	return status;
}

void file_compact_maybe(struct bk_store *store)
{
	struct bk_error err = bk_error_init();
	uint64_t garbage, size;

	pthread_rwlock_rdlock(&store->swap);
	garbage = atomic_load_explicit(&store->index->log->garbage, memory_order_relaxed);
	size = atomic_load_explicit(&store->index->log->tail, memory_order_relaxed);
	pthread_rwlock_unlock(&store->swap);
	/* A failure (no space for both generations) leaves things as they are. */
	if (garbage > COMPACT_GARBAGE && garbage > size / 2 && file_compact(store, &err) != BK_OK) {
		pthread_rwlock_rdlock(&store->swap);
		atomic_store(&store->index->log->garbage, 0);
		pthread_rwlock_unlock(&store->swap);
	}
}
