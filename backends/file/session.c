/*
 * session.c - one worker's hold on the store, from open to close.
 */
#include "file.h"

#include <stdlib.h>

static bk_status session_check(const struct bk_store *store, uint32_t durability,
			       struct bk_error *err)
{
	static const char *const names[] = {"none", "process", "machine"};

	if (durability > BK_DURABLE_MACHINE)
		return bk_fail(err, BK_INVALID, 0, "durability %u is none of 0, 1, 2", durability);
	if (durability > store->durability)
		return bk_fail(err, BK_INVALID, 0,
			       "a session asks for durability %s, but the store was opened for %s",
			       names[durability], names[store->durability]);
	if (durability == BK_DURABLE_MACHINE && store->volatile_fs)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "durability machine cannot be had: '%s' is on %s, which a power cut "
			       "empties; set 'path' to a folder on a disk, or ask for process",
			       store->dir, store->volatile_fs);
	return BK_OK;
}

static bk_status session_open(struct bk_session **out, struct bk_store *store,
			      const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s = calloc(1, sizeof(*s));
	unsigned slot = 0;
	bk_status status;

	if (!s)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a session");
	pthread_mutex_lock(&store->mutex);
	status = file_store_enter(store, err);
	if (status == BK_OK)
		status = session_check(store, config->durability, err);
	while (slot < FILE_SESSIONS && store->slot_used[slot])
		slot++;
	if (status == BK_OK && slot == FILE_SESSIONS)
		status = bk_fail(err, BK_TOO_LARGE, 0, "'%s' takes %u sessions at most", store->dir,
				 FILE_SESSIONS);
	if (status == BK_OK) {
		store->slot_used[slot] = true;
		store->sessions++;
		s->store = store;
		s->slot = slot;
		s->durability = config->durability;
		s->intent = &store->control->intents[slot];
		s->writer.fd = s->reader.fd = -1;
		/* Names of this store's earlier sessions on the slot are not met again. */
		s->temps = file_store_version(store);
		*out = s;
	} else {
		free(s);
		file_store_leave(store);
	}
	pthread_mutex_unlock(&store->mutex);
	return status;
}

static void session_close(struct bk_session *s)
{
	struct bk_store *store;

	if (!s)
		return;
	store = s->store;
	if (s->cursor.open && s->cursor.kind == FILE_CURSOR_KEYS)
		file_binary_ops.list_close(&s->cursor);
	else
		file_node_ops.walk_close(&s->cursor);
	file_binary_ops.abort(&s->writer);
	file_binary_ops.read_close(&s->reader);
	pthread_mutex_lock(&store->mutex);
	store->slot_used[s->slot] = false;
	store->sessions--;
	file_store_leave(store);
	pthread_mutex_unlock(&store->mutex);
	file_parsed_free(&s->node);
	file_parsed_free(&s->cursor.node);
	file_buf_free(&s->cursor.views);
	file_buf_free(&s->cursor.rel);
	file_buf_free(&s->change.buf);
	file_buf_free(&s->record);
	file_buf_free(&s->scratch);
	file_buf_free(&s->writer.name);
	file_buf_free(&s->reader.name);
	free(s->links);
	free(s);
}

static void session_counters(struct bk_session *s, const struct bk_sink *sink)
{
	sink->put_u64(sink->ctx, "fsyncs", s->fsyncs, "count", 0);
	sink->put_u64(sink->ctx, "files.opened", s->opens, "count", 0);
	sink->put_u64(sink->ctx, "bytes.written", s->written_bytes, "bytes", 0);
	sink->put_u64(sink->ctx, "bytes.read", s->read_bytes, "bytes", 0);
}

const struct bk_session_ops file_session_ops = {
	.struct_size = sizeof(struct bk_session_ops),
	.open = session_open,
	.close = session_close,
	.counters = session_counters,
};
