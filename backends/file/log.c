/*
 * log.c - the list log; see log.h.
 *
 * The one invariant: `tail` only moves past bytes after they were reserved under the mutex, and a
 * chunk, once mapped, stays mapped until the log's last user is gone.
 */
#include "log.h"

#include "hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_START   4096u               /* offset 0 means none */
#define LOG_RESERVE ((uint64_t)1 << 18) /* kept for changes that only remove */
#define LOG_GROW    ((uint64_t)1 << 20)

uint32_t file_entry_check(const struct file_entry *e)
{
	size_t bytes = (size_t)e->key_len + e->id_len + e->rel_len + e->path_len;
	uint64_t head = file_hash(bytes, bk_slice_of(e, offsetof(struct file_entry, check)));

	return (uint32_t)file_hash(head, bk_slice_of(file_entry_bytes(e), bytes));
}

static bk_status log_create(struct file_log *log, struct bk_error *err)
{
	static const char title[] =
		"bakeoff list log: children and in-links; rebuilt from ../nodes when removed\n";

	if (file_pwrite_all(log->fd, title, sizeof(title) - 1, 0) < 0)
		return file_fail(err, errno, "write", log->folder, log->name);
	if (ftruncate(log->fd, LOG_START) < 0)
		return file_fail(err, errno, "extend", log->folder, log->name);
	return BK_OK;
}

bk_status file_log_open(struct file_log **out, int dirfd, const char *folder, uint64_t generation,
			bool create, struct bk_error *err)
{
	struct file_log *log = calloc(1, sizeof(*log));
	bk_status status = BK_OK;
	struct stat st;

	if (!log)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the list log");
	snprintf(log->name, sizeof(log->name), "index/log-%llu", (unsigned long long)generation);
	log->folder = folder;
	log->generation = generation;
	atomic_init(&log->refs, 1);
	pthread_mutex_init(&log->mutex, NULL);
	log->fd = openat(dirfd, log->name,
			 O_RDWR | O_NONBLOCK | O_CLOEXEC | (create ? O_CREAT | O_TRUNC : 0), 0666);
	if (log->fd < 0)
		status = file_fail(err, errno, "open", folder, log->name);
	if (status == BK_OK && create)
		status = log_create(log, err);
	if (status == BK_OK && fstat(log->fd, &st) < 0)
		status = file_fail(err, errno, "read", folder, log->name);
	if (status != BK_OK) {
		file_log_unref(log);
		return status;
	}
	uint64_t size = (uint64_t)st.st_size < LOG_START ? LOG_START : (uint64_t)st.st_size;
	atomic_init(&log->tail, (size + 7) & ~(uint64_t)7);
	log->allocated = atomic_load(&log->tail);
	*out = log;
	return BK_OK;
}

struct file_log *file_log_ref(struct file_log *log)
{
	atomic_fetch_add(&log->refs, 1);
	return log;
}

void file_log_unref(struct file_log *log)
{
	if (!log || atomic_fetch_sub(&log->refs, 1) != 1)
		return;
	for (size_t i = 0; i < FILE_LOG_CHUNKS; i++) {
		char *chunk = atomic_load(&log->chunks[i]);

		if (chunk)
			munmap(chunk, FILE_LOG_CHUNK);
	}
	if (log->fd >= 0)
		close(log->fd);
	pthread_mutex_destroy(&log->mutex);
	free(log);
}

/* Space for the log up to `end`; under the mutex.  Space taken ahead costs nothing but itself, and
 * saves the file system the work of allocating for each change. */
static int log_allocate(struct file_log *log, uint64_t end)
{
	uint64_t least = end - log->allocated, more = least < LOG_GROW ? LOG_GROW : least;

	if (end <= log->allocated)
		return 0;
	for (;;) {
		if (fallocate(log->fd, FALLOC_FL_KEEP_SIZE, (off_t)log->allocated, (off_t)more) ==
		    0)
			break;
		if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
			break; /* not offered here: the write itself will tell */
		if (more == least)
			return -1;
		more = least;
	}
	log->allocated += more;
	return 0;
}

bk_status file_log_reserve(struct file_log *log, size_t len, bool removes, uint64_t *offset,
			   struct bk_error *err)
{
	bk_status status = BK_OK;

	if (len > FILE_LOG_SPAN)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "the list entries of one change take %zu bytes, at most %llu are "
			       "allowed; add the links by several appends",
			       len, (unsigned long long)FILE_LOG_SPAN);
	pthread_mutex_lock(&log->mutex);
	uint64_t at = atomic_load_explicit(&log->tail, memory_order_relaxed);
	if (at / FILE_LOG_CHUNK != (at + len - 1) / FILE_LOG_CHUNK)
		at = (at / FILE_LOG_CHUNK + 1) * FILE_LOG_CHUNK;
	if (at / FILE_LOG_CHUNK >= FILE_LOG_CHUNKS)
		status = bk_fail(err, BK_TOO_LARGE, 0, "'%s/%s' is full at 1 TiB; settle it",
				 log->folder, log->name);
	else if (log_allocate(log, at + len + LOG_RESERVE) < 0 && !removes)
		status = file_fail(err, errno, "extend", log->folder, log->name);
	if (status == BK_OK) {
		*offset = at;
		atomic_store_explicit(&log->tail, at + len, memory_order_release);
	}
	pthread_mutex_unlock(&log->mutex);
	return status;
}

bk_status file_log_write(struct file_log *log, uint64_t offset, const void *data, size_t len,
			 struct bk_error *err)
{
	if (file_pwrite_all(log->fd, data, len, offset) < 0)
		return file_fail(err, errno, "write", log->folder, log->name);
	return BK_OK;
}

void file_log_give_back(struct file_log *log, uint64_t offset, size_t len)
{
	pthread_mutex_lock(&log->mutex);
	if (atomic_load(&log->tail) == offset + len)
		atomic_store(&log->tail, offset);
	else
		atomic_fetch_add(&log->garbage, len);
	pthread_mutex_unlock(&log->mutex);
}

static char *log_chunk(struct file_log *log, size_t i)
{
	char *chunk = atomic_load_explicit(&log->chunks[i], memory_order_acquire);

	if (chunk)
		return chunk;
	pthread_mutex_lock(&log->mutex);
	chunk = atomic_load_explicit(&log->chunks[i], memory_order_relaxed);
	if (!chunk) {
		chunk = mmap(NULL, FILE_LOG_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd,
			     (off_t)(i * FILE_LOG_CHUNK));
		if (chunk == MAP_FAILED)
			chunk = NULL;
		atomic_store_explicit(&log->chunks[i], chunk, memory_order_release);
	}
	pthread_mutex_unlock(&log->mutex);
	return chunk;
}

struct file_entry *file_log_entry(struct file_log *log, uint64_t offset)
{
	uint64_t tail = atomic_load_explicit(&log->tail, memory_order_acquire);
	struct file_entry *e;
	char *chunk;

	if (offset < LOG_START || offset % 8 || offset + sizeof(*e) > tail)
		return NULL;
	chunk = log_chunk(log, (size_t)(offset / FILE_LOG_CHUNK));
	if (!chunk)
		return NULL;
	e = (struct file_entry *)(void *)(chunk + offset % FILE_LOG_CHUNK);
	uint64_t end = offset + sizeof(*e) + e->key_len + e->id_len + e->rel_len + e->path_len;
	if (end > tail || end > offset + e->size || e->prev >= tail ||
	    e->check != file_entry_check(e))
		return NULL;
	return e;
}
