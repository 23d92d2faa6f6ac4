/*
 * publish.c - makes a written change visible, in the course of things or once more after a crash.
 *
 * The one invariant: every step may be done again without harm, and a list's head moves last.
 */
#include "change.h"

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

void file_publish_list(struct file_index *ix, uint64_t offset, uint64_t len)
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
		file_publish_list(ix, offset, len);
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
