/*
 * relist.c - lists written anew when most of what is in them is dead.
 */
#include "change.h"

#include <stdlib.h>

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

/* Write a list anew at the log's end, without what is dead, when that is most of it.  With the
 * list's stripe held.  No harm in failing. */
static void relist_list(struct file_change *c, const struct file_key *list)
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
			file_publish_list(ix, c->offset, c->buf.len);
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
		relist_list(c, &list);
		if (c->kills == SIZE_MAX)
			return;
	}
}
