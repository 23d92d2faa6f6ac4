/*
 * file.h - the store and the session of the file backend.
 *
 *   PATH/SPACE/.bakeoff               the owner mark (mark.h)
 *   PATH/SPACE/nodes/aa/NAME          one file a node (record.h)
 *   PATH/SPACE/binaries/aa/bb/cc/KEY  one file a binary (key.h)
 *   PATH/SPACE/index/                 lists and look-ups, derived from nodes/ (index.h)
 *   PATH/SPACE/tmp/                   files being written
 *   PATH/SPACE/lock                   held while a session is open
 *
 * The one invariant: the files below nodes/ and binaries/ are the truth.  A node exists from the
 * moment its file has its name until the file is gone.
 */
#ifndef BK_FILE_H
#define BK_FILE_H

#include "change.h"
#include "io.h"
#include "key.h"
#include "record.h"

#define FILE_STRIPES      256u
#define FILE_STRIPES_EACH 24 /* who wants more takes them all, by the gate */
#define FILE_ID_MAX       1024u
#define FILE_REL_MAX      1024u
#define FILE_PATH_MAX     8192u
#define FILE_DOC_MAX      ((uint64_t)256 << 20)
#define FILE_NODE_NAME    64u /* "nodes/aa/bb/cc/" and 32 digits */
#define FILE_SYNCED       4096u

struct file_options {
	const char *path;
	uint64_t node_levels, binary_levels;
	uint8_t flush;
};

struct bk_store {
	const struct bk_host *host;
	const struct file_options *opts;
	const char *space, *mark;
	uint32_t durability;
	char *root; /* opts->path without slashes at its end */
	char *dir;  /* root/space */

	pthread_mutex_t mutex; /* guards the next four */
	int dirfd, lockfd;
	unsigned sessions;
	bool slot_used[FILE_SESSIONS];

	/* Set while a session is open, or for a control operation. */
	struct file_control *control;
	pthread_rwlock_t swap; /* held for reading by who uses `index` without a stripe */
	struct file_index *index;
	pthread_rwlock_t gate;
	pthread_mutex_t stripes[FILE_STRIPES];
	_Atomic uint64_t version;             /* the last one given out */
	_Atomic uint64_t synced[FILE_SYNCED]; /* folders known to be on disk, by hash */
	bool syncs_above;                     /* see mount.h */
	const char *volatile_fs;              /* name of a file system that forgets; or NULL */
};

struct file_stripes { /* which are held, a bit each */
	uint64_t bits[FILE_STRIPES / 64];
};

struct bk_cursor {
	struct bk_session *session;
	uint8_t open, kind; /* FILE_CURSOR_* */
	/* A walk along a list. */
	struct file_log *log;
	uint64_t at;
	/* A walk along a node's own links. */
	struct file_parsed node;
	size_t next;
	struct file_buf views;
	/* Both. */
	struct file_buf rel;
	bool any_rel, with_rel;
	uint32_t want;
	/* A list of binaries: list.c */
	struct file_listing *listing;
};
enum { FILE_CURSOR_LIST = 1, FILE_CURSOR_OUT, FILE_CURSOR_KEYS };

struct bk_writer {
	struct bk_session *session;
	int fd; /* -1: none open */
	uint32_t mode;
	uint64_t size, wanted;
	char temp[48];
	struct file_buf name; /* where it goes, NUL-terminated */
};

struct bk_reader {
	struct bk_session *session;
	int fd; /* -1: none open */
	uint64_t at, left;
	struct file_buf name;
};

struct bk_session {
	struct bk_store *store;
	unsigned slot;
	uint32_t durability;
	uint64_t temps; /* temporary names given out */
	struct file_intent *intent;
	struct file_change change;
	struct file_parsed node; /* the node that the last call gave, or changed */
	struct file_buf record;  /* being encoded */
	struct file_buf scratch; /* find's id, the key of a binary */
	struct bk_link *links;   /* sorted, without duplicates */
	size_t link_cap;
	struct bk_cursor cursor;
	struct bk_writer writer;
	struct bk_reader reader;
	uint64_t fsyncs, written_bytes, read_bytes, opens;
};

/* What went wrong with a file of the store's. */
static inline bk_status file_fail_in(struct bk_error *err, int errnum, const char *what,
				     const struct bk_store *store, const char *name)
{
	return file_fail(err, errnum, what, store->dir, name);
}

/* ---- enter.c: from a folder to an open index, and back ------------------------- */

/* Take the lock, open or repair the index; nested calls count.  Under store->mutex. */
bk_status file_store_enter(struct bk_store *store, struct bk_error *err);
void file_store_leave(struct bk_store *store);
uint64_t file_store_version(struct bk_store *store);
/* The lock file alone, for unmake; dirfd is open. */
bk_status file_store_lock(struct bk_store *store, struct bk_error *err);
void file_store_unlock(struct bk_store *store);

/* recover.c */
bk_status file_recover(struct bk_store *store, struct bk_error *err);
bk_status file_rebuild(struct bk_store *store, struct bk_error *err);
/* compact.c: every list in one piece, nothing dead.  Takes every stripe. */
bk_status file_compact(struct bk_store *store, struct bk_error *err);
/* The same when most of the log is garbage. */
void file_compact_maybe(struct bk_store *store);

/* ---- stripes.c --------------------------------------------------------------------- */

void file_stripes_add(struct file_stripes *set, struct bk_slice key);
void file_stripes_all(struct file_stripes *set);
void file_stripes_lock(struct bk_store *store, const struct file_stripes *set);
void file_stripes_unlock(struct bk_store *store, const struct file_stripes *set);

/* ---- names.c ----------------------------------------------------------------------- */

/* What `durability` asks of a file that is complete, and of the folder that has just got or lost
 * a name.  0 or -1. */
int file_sync_file(struct bk_session *s, int fd);
int file_sync_name(struct bk_session *s, const char *name);
/* A name below tmp/ that nobody else uses. */
void file_temp_name(struct bk_session *s, char *out, size_t cap);
/* Name the file at `temp`; makes folders.  0 or -1 (EEXIST when `fresh`). */
int file_give_name(struct bk_session *s, const char *temp, const char *name, bool fresh);

/* ---- load.c ---------------------------------------------------------------------- */

void file_node_name(const struct bk_store *store, char out[FILE_NODE_NAME], struct bk_slice id);
/* Read a node's file into `into`.  OK, NOT_FOUND (err untouched), or an error. */
bk_status file_node_load(struct bk_session *s, struct file_parsed *into, struct bk_slice id,
			 uint32_t want, struct bk_error *err);
bk_status file_node_not_found(struct bk_slice id, struct bk_error *err);
/* An id that may stand in a store: OK, INVALID, TOO_LARGE. */
bk_status file_check_id(struct bk_slice id, struct bk_error *err);

/* make.c */
bk_status file_store_make(struct bk_store *store, struct bk_error *err);
bk_status file_store_clear(struct bk_store *store, struct bk_error *err);
bk_status file_store_unmake(struct bk_store *store, struct bk_error *err);

#define FILE_FEATURES                                                                              \
	(BK_F_NODES | BK_F_CAS | BK_F_APPEND | BK_F_BINARIES | BK_F_BINARY_STREAM |                \
	 BK_F_BINARY_RANGE | BK_F_BINARY_CREATE | BK_F_SETTLE | BK_F_CHILL)

extern const struct bk_store_ops file_store_ops;
extern const struct bk_session_ops file_session_ops;
extern const struct bk_node_ops file_node_ops;
extern const struct bk_binary_ops file_binary_ops;

bk_status file_store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			     struct bk_error *err);

#endif
