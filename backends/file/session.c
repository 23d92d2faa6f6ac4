/*
 * session.c - one worker's hold on the store: stripes, durability, temporary names.
 *
 * The one invariant: stripes are taken in ascending order, all at once, and never while one is
 * held already; who wants many shuts the gate instead, behind which all others take theirs.
 */
#include "file.h"
#include "hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Stripes ----------------------------------------------------------------------- */

void file_stripes_add(struct file_stripes *set, struct bk_slice key)
{
	unsigned i = (unsigned)(file_hash(0, key) % FILE_STRIPES);

	set->bits[i / 64] |= UINT64_C(1) << (i % 64);
}

void file_stripes_all(struct file_stripes *set)
{
	memset(set, 0xff, sizeof(*set));
}

static bool session_wants_all(const struct file_stripes *set)
{
	int n = 0;

	for (unsigned word = 0; word < FILE_STRIPES / 64; word++)
		n += __builtin_popcountll(set->bits[word]);
	return n > FILE_STRIPES_EACH;
}

void file_stripes_lock(struct bk_store *store, const struct file_stripes *set)
{
	if (session_wants_all(set)) {
		pthread_rwlock_wrlock(&store->gate);
		return;
	}
	pthread_rwlock_rdlock(&store->gate);
	for (unsigned word = 0; word < FILE_STRIPES / 64; word++) {
		for (uint64_t bits = set->bits[word]; bits; bits &= bits - 1)
			pthread_mutex_lock(
				&store->stripes[word * 64 + (unsigned)__builtin_ctzll(bits)]);
	}
}

void file_stripes_unlock(struct bk_store *store, const struct file_stripes *set)
{
	bool all = session_wants_all(set);

	for (unsigned word = 0; word < FILE_STRIPES / 64 && !all; word++) {
		for (uint64_t bits = set->bits[word]; bits; bits &= bits - 1)
			pthread_mutex_unlock(
				&store->stripes[word * 64 + (unsigned)__builtin_ctzll(bits)]);
	}
	pthread_rwlock_unlock(&store->gate);
}

/* ---- Names and durability ------------------------------------------------------------ */

void file_temp_name(struct bk_session *s, char *out, size_t cap)
{
	snprintf(out, cap, "tmp/%x-%llx", s->slot, (unsigned long long)s->temps++);
}

int file_sync_file(struct bk_session *s, int fd)
{
	if (s->durability < BK_DURABLE_MACHINE)
		return 0;
	s->fsyncs++;
	return fdatasync(fd);
}

/* Folders whose own names are known to be on disk need not be looked at again.  Few places, by
 * hash; losing one costs a sync. */
static uint64_t session_folder_hash(const char *folder)
{
	return file_hash(1, bk_slice_str(folder)) | 1;
}

static bool session_folder_known(struct bk_store *store, const char *folder)
{
	uint64_t hash = session_folder_hash(folder);

	return atomic_load_explicit(&store->synced[(hash >> 8) % FILE_SYNCED],
				    memory_order_acquire) == hash;
}

static void session_folder_learn(struct bk_store *store, uint64_t hash)
{
	atomic_store_explicit(&store->synced[(hash >> 8) % FILE_SYNCED], hash,
			      memory_order_release);
}

int file_sync_name(struct bk_session *s, const char *name)
{
	struct bk_store *store = s->store;
	char folder[4096];
	char *slash;

	if (s->durability < BK_DURABLE_MACHINE)
		return 0;
	snprintf(folder, sizeof(folder), "%s", name);
	slash = strrchr(folder, '/');
	*slash = '\0';
	s->fsyncs++;
	if (file_sync_folder(store->dirfd, folder) < 0)
		return -1;
	/* Then each folder above it that holds a name which may be new. */
	while (!store->syncs_above && (slash = strrchr(folder, '/')) &&
	       !session_folder_known(store, folder)) {
		uint64_t hash = session_folder_hash(folder);

		*slash = '\0';
		s->fsyncs++;
		if (file_sync_folder(store->dirfd, folder) < 0)
			return -1;
		session_folder_learn(store, hash);
	}
	return 0;
}

int file_give_name(struct bk_session *s, const char *temp, const char *name, bool fresh)
{
	int dirfd = s->store->dirfd;
	unsigned made = 0;

	for (int tries = 0;; tries++) {
		int rc = fresh ? file_rename_new(dirfd, temp, name)
			       : renameat(dirfd, temp, dirfd, name);

		if (rc == 0 || errno != ENOENT || tries == 2)
			return rc;
		if (file_make_parents(dirfd, name, &made) < 0)
			return -1;
	}
}

/* ---- Life -------------------------------------------------------------------------- */

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
