/*
 * index.h - what is where: nodes by id and by path, children of a node, links to a node.
 *
 * All of it is derived: the files below nodes/ hold everything, and the index is built anew from
 * them when it is missing or may have lost something to a power cut.
 *
 * A change (one put, append or remove) is a run of entries in the log: new ones, and kills.  It
 * is written before the node's file is touched, and published after: pointers are set, kills are
 * done.  Publishing the same change twice is the same as once; recovery relies on it.
 *
 * The one invariant: a list is changed only by who holds the stripe of its key (session.h).
 */
#ifndef BK_FILE_INDEX_H
#define BK_FILE_INDEX_H

#include "log.h"
#include "table.h"

#define FILE_SHARDS 16u

enum file_key_kind { /* the low three bits of a hash */
		     FILE_KEY_ID = 2,
		     FILE_KEY_PATH,
		     FILE_KEY_LINK,
		     FILE_KEY_CHILDREN,
		     FILE_KEY_IN,
};

struct file_key {
	enum file_key_kind kind;
	struct bk_slice a;           /* id, path, source, parent or target */
	struct bk_slice rel, target; /* FILE_KEY_LINK only */
	uint64_t hash;
};
struct file_key file_key(enum file_key_kind kind, struct bk_slice a);
struct file_key file_key_link(struct bk_slice source, struct bk_slice rel, struct bk_slice target);

struct file_index {
	uint64_t generation;
	struct file_log *log;
	struct file_table tables[FILE_SHARDS];
	_Atomic bool damaged; /* an entry did not check out: what was not found may be there */
	int dirfd;
	const char *folder;
};

bk_status file_index_open(struct file_index **out, int dirfd, const char *folder,
			  uint64_t generation, bool create, struct bk_error *err);
void file_index_close(struct file_index *ix);
bk_status file_index_sync(struct file_index *ix, struct bk_error *err);
/* Remove all files of the index but those of one generation. */
void file_index_sweep(int dirfd, uint64_t keep);

/* The entry of a key and its offset; NULL: none.  With the key's stripe held, or the store's
 * swap lock, it stays where it is. */
struct file_entry *file_index_find(struct file_index *ix, const struct file_key *key,
				   uint64_t *offset);
/* CORRUPT when something not found may yet be there, else OK. */
bk_status file_index_check(struct file_index *ix, struct bk_error *err);
void file_index_set(struct file_index *ix, const struct file_key *key, uint64_t offset);
static inline struct file_table *file_index_table(struct file_index *ix, uint64_t hash)
{
	return &ix->tables[hash >> 60];
}

/* The key of the list in which an entry stands. */
struct file_key file_entry_list(const struct file_entry *e);

#endif
