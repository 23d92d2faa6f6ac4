/*
 * log.h - the list log: one append-only file of entries, read through a mapping.
 *
 * An entry stands for one place in one list: a node among its parent's children, or the source of
 * a link among those that point at its target.  The entries of a list are chained from the newest
 * to the oldest; where a chain begins stands in the table (table.h).  Only what is reached from
 * there counts: bytes that a killed process left behind are never seen.
 *
 * The one invariant: an entry that can be reached never changes, but for `dead`, `live`, `total`.
 */
#ifndef BK_FILE_LOG_H
#define BK_FILE_LOG_H

#include "io.h"

#include <pthread.h>
#include <stdatomic.h>

enum file_entry_kind {
	FILE_ENTRY_NODE = 1, /* key: the parent (empty: none), id: the node, path: its path */
	FILE_ENTRY_LINK = 2, /* key: the target, id and path: the source, rel: the relation */
	FILE_ENTRY_KILL = 3, /* in a change only: `prev` is the entry that dies */
};

struct file_entry {
	uint64_t prev; /* next older entry of the list, 0: none */
	uint32_t size; /* whole, a multiple of 8 */
	uint32_t path_len;
	uint16_t key_len, id_len, rel_len, kind;
	uint32_t check; /* of all above, and of the bytes */
	_Atomic uint32_t dead;
	_Atomic uint32_t live, total; /* of the list; count while this is its newest entry */
				      /* key, id, rel, path */
};

static inline const char *file_entry_bytes(const struct file_entry *e)
{
	return (const char *)(e + 1);
}
static inline struct bk_slice file_entry_key(const struct file_entry *e)
{
	return bk_slice_of(file_entry_bytes(e), e->key_len);
}
static inline struct bk_slice file_entry_id(const struct file_entry *e)
{
	return bk_slice_of(file_entry_bytes(e) + e->key_len, e->id_len);
}
static inline struct bk_slice file_entry_rel(const struct file_entry *e)
{
	return bk_slice_of(file_entry_bytes(e) + e->key_len + e->id_len, e->rel_len);
}
static inline struct bk_slice file_entry_path(const struct file_entry *e)
{
	return bk_slice_of(file_entry_bytes(e) + e->key_len + e->id_len + e->rel_len, e->path_len);
}
uint32_t file_entry_check(const struct file_entry *e);

#define FILE_LOG_CHUNK  ((uint64_t)256 << 20) /* no change lies across the end of one */
#define FILE_LOG_CHUNKS 4096u                 /* 1 TiB */
#define FILE_LOG_SPAN   (FILE_LOG_CHUNK / 2)  /* the largest change */

struct file_log {
	int fd;
	_Atomic unsigned refs; /* the index, and each cursor that reads */
	uint64_t generation;
	char name[64];
	const char *folder; /* for messages */
	pthread_mutex_t mutex;
	_Atomic uint64_t tail;    /* where the next change goes */
	uint64_t allocated;       /* the file has space up to here */
	_Atomic uint64_t garbage; /* bytes of entries that are dead, an estimate */
	_Atomic(char *) chunks[FILE_LOG_CHUNKS];
};

/* Open log number `generation` below the index's folder; `create` makes it, empty. */
bk_status file_log_open(struct file_log **out, int dirfd, const char *folder, uint64_t generation,
			bool create, struct bk_error *err);
struct file_log *file_log_ref(struct file_log *log);
void file_log_unref(struct file_log *log);

/* Where `len` bytes may be written.  A change that only removes may use the last reserve of
 * space, so that a full disk can be emptied. */
bk_status file_log_reserve(struct file_log *log, size_t len, bool removes, uint64_t *offset,
			   struct bk_error *err);
bk_status file_log_write(struct file_log *log, uint64_t offset, const void *data, size_t len,
			 struct bk_error *err);
/* Give back what was reserved last, if nothing came after it. */
void file_log_give_back(struct file_log *log, uint64_t offset, size_t len);

/* The entry at an offset, checked; NULL when there is none that checks out. */
struct file_entry *file_log_entry(struct file_log *log, uint64_t offset);

#endif
