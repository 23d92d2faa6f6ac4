/*
 * publish.c - makes a written change visible, in the course of things or once more after a crash;
 * and writes lists anew when most of what is in them is dead.
 *
 * The one invariant: every step may be done again without harm, and a list's head moves last.
 */
#include "change.h"

#include <stdlib.h>

static void pub_chain(struct file_index *ix, const struct file_entry *e, uint64_t offset)
{
	struct file_key list = file_entry_list(e);
	uint64_t head = 0;

	file_index_find(ix, &list, &head);
	/* Any other head means that it is in the chain already. */
	if (head == e->prev)
		file_index_set(ix, &list, offset);
}

static void pub_keys(struct file_index *ix, const struct file_entry *e, uint64_t offset)
{
	struct file_key key;

	if (e->kind == FILE_ENTRY_LINK) {
		key = file_key_link(file_entry_id(e), file_entry_rel(e), file_entry_key(e));
		file_index_set(ix, &key, offset);
		return;
	}
	key = file_key(FILE_KEY_ID, file_entry_id(e));
	file_index_set(ix, &key, offset);
	key = file_key(FILE_KEY_PATH, file_entry_path(e));
	file_index_set(ix, &key, offset);
}

static void pub_forget(struct file_index *ix, enum file_key_kind kind, struct bk_slice s,
		       uint64_t offset)
{
	struct file_key key = file_key(kind, s);

	file_table_remove(file_index_table(ix, key.hash), key.hash, offset);
}

/* How many of a list are alive, counted: a killed process may have left the number behind. */
static uint32_t pub_count(struct file_log *log, uint64_t head)
{
	uint32_t live = 0;

	while (head) {
		struct file_entry *e = file_log_entry(log, head);

		if (!e)
			break;
		live += !atomic_load_explicit(&e->dead, memory_order_relaxed);
		head = e->prev;
	}
	return live;
}

static void pub_kill(struct file_index *ix, uint64_t offset, bool again)
{
	struct file_entry *e = file_log_entry(ix->log, offset), *head;
	uint64_t head_at = 0;
	uint32_t live;

	if (!e)
		return;
	if (e->kind == FILE_ENTRY_LINK) {
		struct file_key key =
			file_key_link(file_entry_id(e), file_entry_rel(e), file_entry_key(e));

		file_table_remove(file_index_table(ix, key.hash), key.hash, offset);
	} else {
		pub_forget(ix, FILE_KEY_PATH, file_entry_path(e), offset);
		pub_forget(ix, FILE_KEY_ID, file_entry_id(e), offset);
	}
	atomic_store_explicit(&e->dead, 1, memory_order_release);
	atomic_fetch_add_explicit(&ix->log->garbage, e->size, memory_order_relaxed);
	if (e->kind == FILE_ENTRY_NODE && e->key_len == 0)
		return;
	struct file_key list = file_entry_list(e);
	head = file_index_find(ix, &list, &head_at);
	if (!head)
		return;
	live = again ? pub_count(ix->log, head_at)
		     : atomic_load_explicit(&head->live, memory_order_relaxed) - 1;
	atomic_store_explicit(&head->live, live, memory_order_relaxed);
	if (live == 0)
		file_table_remove(file_index_table(ix, list.hash), list.hash, head_at);
}

void file_publish_entry(struct file_index *ix, uint64_t offset, bool again)
{
	struct file_entry *e = file_log_entry(ix->log, offset);

	if (!e) {
		atomic_store(&ix->damaged, true);
		return;
	}
	switch (e->kind) {
	case FILE_ENTRY_NODE:
	case FILE_ENTRY_LINK:
		pub_keys(ix, e, offset);
		if (e->kind == FILE_ENTRY_LINK || e->key_len)
			pub_chain(ix, e, offset);
		break;
	case FILE_ENTRY_KILL:
		pub_kill(ix, e->prev, again);
		break;
	default:
		break;
	}
}

/* A list's entries have moved: point at the new ones, the head last. */
static void pub_relist(struct file_index *ix, uint64_t offset, uint64_t len)
{
	uint64_t last = 0;

	for (uint64_t at = offset; at < offset + len;) {
		struct file_entry *e = file_log_entry(ix->log, at);

		if (!e) {
			atomic_store(&ix->damaged, true);
			return;
		}
		pub_keys(ix, e, at);
		last = at;
		at += e->size;
	}
	struct file_key list = file_entry_list(file_log_entry(ix->log, last));
	file_index_set(ix, &list, last);
}

bk_status file_change_redo(struct file_index *ix, enum file_intent_op op, uint64_t offset,
			   uint64_t len, struct bk_error *err)
{
	uint64_t keys = 3 * (len / sizeof(struct file_entry) + 1);
	bk_status status = BK_OK;
	unsigned shard = 0;

	if (len == 0)
		return BK_OK;
	/* Which shards need room is not known: promise it in all. */
	for (; shard < FILE_SHARDS && status == BK_OK; shard++)
		status = file_table_reserve(&ix->tables[shard], keys, err);
	if (status != BK_OK) {
		shard--;
	} else if (op == FILE_INTENT_RELIST) {
		pub_relist(ix, offset, len);
	} else {
		for (uint64_t at = offset; at < offset + len;) {
			struct file_entry *e = file_log_entry(ix->log, at);

			file_publish_entry(ix, at, true);
			if (!e)
				break;
			at += e->size;
		}
	}
	while (shard > 0)
		file_table_give_back(&ix->tables[--shard], keys);
	return status == BK_OK ? file_index_check(ix, err) : status;
}

/* ---- Lists written anew ------------------------------------------------------------ */

bk_status file_list_live(struct file_log *log, uint64_t head, uint64_t **offsets, size_t *n,
			 struct bk_error *err)
{
	size_t count = 0, cap = 64;
	uint64_t *list = malloc(cap * sizeof(*list));

	while (list && head) {
		struct file_entry *e = file_log_entry(log, head);

		if (!e) {
			free(list);
			return bk_fail(err, BK_CORRUPT, 0, "the list log '%s/%s' is damaged",
				       log->folder, log->name);
		}
		if (!atomic_load_explicit(&e->dead, memory_order_acquire)) {
			if (count == cap) {
				uint64_t *more = realloc(list, 2 * cap * sizeof(*list));

				if (!more)
					free(list);
				list = more;
				cap *= 2;
			}
			if (list)
				list[count++] = head;
		}
		head = e->prev;
	}
	if (!list)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a list");
	for (size_t i = 0; i < count / 2; i++) {
		uint64_t other = list[count - 1 - i];

		list[count - 1 - i] = list[i];
		list[i] = other;
	}
	*offsets = list;
	*n = count;
	return BK_OK;
}

void file_relist(struct file_change *c, const struct file_key *list)
{
	struct file_index *ix = c->ix;
	struct bk_error err = bk_error_init();
	struct file_entry *head;
	uint64_t at, *live = NULL;
	size_t n = 0, size = 0;

	head = file_index_find(ix, list, &at);
	if (!head ||
	    atomic_load_explicit(&head->total, memory_order_relaxed) <
		    256 + 4 * (uint64_t)atomic_load_explicit(&head->live, memory_order_relaxed))
		return;
	if (file_list_live(ix->log, at, &live, &n, &err) != BK_OK)
		return;
	for (size_t i = 0; i < n; i++)
		size += file_log_entry(ix->log, live[i])->size;
	file_change_begin(c, ix, c->intent);
	if (n && size <= FILE_LOG_SPAN && file_buf_room(&c->buf, size)) {
		for (size_t i = 0; i < n; i++)
			file_change_copy(c, file_log_entry(ix->log, live[i]), i == 0);
		if (file_change_write(c, FILE_INTENT_RELIST, "", 0, &err) == BK_OK) {
			pub_relist(ix, c->offset, c->buf.len);
			file_intent_disarm(c->intent);
			atomic_fetch_add_explicit(&ix->log->garbage, size, memory_order_relaxed);
		}
	}
	free(live);
}

void file_change_relist(struct file_change *c)
{
	uint64_t seen = 0;

	/* c->buf is written over by the first list that is: few changes kill in two such lists. */
	for (size_t at = c->kills; at < c->buf.len; at += sizeof(struct file_entry)) {
		const struct file_entry *kill =
			(const struct file_entry *)(const void *)(c->buf.data + at);
		struct file_entry *e = file_log_entry(c->ix->log, kill->prev);

		if (!e || (e->kind == FILE_ENTRY_NODE && e->key_len == 0))
			continue;
		struct file_key list = file_entry_list(e);
		if (list.hash == seen)
			continue;
		seen = list.hash;
		file_relist(c, &list);
		if (c->kills == SIZE_MAX)
			return;
	}
}
