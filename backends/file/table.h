/*
 * table.h - a mapped hash table on disk: 64-bit hash -> offset in the list log.
 *
 * One file a shard, grown by doubling into a new file that is renamed over the old one.  Equal
 * hashes may stand for different keys: the caller's `match` looks at the entry itself.
 *
 * The one invariant: every change that a look-up can see is one 8-byte store (a slot's hash last
 * when it is filled), so a process killed between any two instructions leaves a sound table.
 */
#ifndef BK_FILE_TABLE_H
#define BK_FILE_TABLE_H

#include "io.h"

#include <pthread.h>
#include <stdatomic.h>

struct file_slot {
	_Atomic uint64_t hash; /* 0: free, 1: was used; else at least 2 */
	_Atomic uint64_t offset;
};

struct file_table_head; /* the first page of the file */

struct file_table {
	pthread_rwlock_t lock;
	struct file_table_head *head;
	struct file_slot *slots;
	size_t map_len;
	uint64_t mask;
	uint64_t reserved; /* inserts that have been promised room */
	int dirfd;
	const char *folder; /* for messages */
	char name[64];
};

/* Does the entry at this offset have the key that is meant? */
typedef bool (*file_match)(void *ctx, uint64_t offset);

bk_status file_table_open(struct file_table *t, int dirfd, const char *folder, const char *name,
			  bool create, struct bk_error *err);
void file_table_close(struct file_table *t);
uint64_t file_table_live(const struct file_table *t); /* keys in it */
int file_table_sync(struct file_table *t);            /* to disk; 0 or -1 */

/* Promise room for `n` inserts, until the promise is given back (after them, or instead of them).
 */
bk_status file_table_reserve(struct file_table *t, uint64_t n, struct bk_error *err);
void file_table_give_back(struct file_table *t, uint64_t n);

/* 0: none. */
uint64_t file_table_find(struct file_table *t, uint64_t hash, file_match match, void *ctx);
/* Set the key's offset, inserting it when absent (room was reserved). */
void file_table_set(struct file_table *t, uint64_t hash, uint64_t offset, file_match match,
		    void *ctx);
/* Insert a key that is known to be absent. */
void file_table_add(struct file_table *t, uint64_t hash, uint64_t offset);
/* Remove the key if it stands at `offset`. */
void file_table_remove(struct file_table *t, uint64_t hash, uint64_t offset);

/* Every slot in use, in no order, with the table locked for reading. */
bk_status file_table_each(struct file_table *t,
			  bk_status (*fn)(void *ctx, uint64_t hash, uint64_t offset), void *ctx);

#endif
