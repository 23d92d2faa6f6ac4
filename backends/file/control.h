/*
 * control.h - the file that tells what a process was doing when it died.
 *
 * A page of state, then one slot for each session.  Both are written through a mapping: they cost
 * no system call, and they outlive the process, though not the machine.  After a power cut they
 * are not believed and the index is built anew.
 *
 * The one invariant: a slot is armed before the file of its node is touched, and disarmed when
 * the change has been published, with the stripes of the change held all the while.
 */
#ifndef BK_FILE_CONTROL_H
#define BK_FILE_CONTROL_H

#include "io.h"

#include <stdatomic.h>

#define FILE_SESSIONS 256u

enum file_state {
	FILE_STATE_REBUILD = 1, /* the index is not to be believed */
	FILE_STATE_DIRTY,       /* in use, or its user died */
	FILE_STATE_CLEAN,
};

enum file_intent_op {
	FILE_INTENT_NONE,
	FILE_INTENT_PUT,    /* made if the node's last record bears `version` */
	FILE_INTENT_REMOVE, /* made if the node's file is gone */
	FILE_INTENT_RELIST, /* always made: the entries of a list move */
};

struct file_intent { /* in the file: one slot a session */
	_Atomic uint32_t op;
	uint32_t reserved;
	uint64_t version;
	uint64_t offset, len; /* the change in the log; len 0: none */
	char name[96];        /* the node's file, below the store's folder */
};

struct file_control_head { /* in the file: the first page */
	uint64_t magic;
	_Atomic uint32_t state;
	_Atomic uint32_t synced; /* with CLEAN: it is on disk, and holds after a power cut */
	_Atomic uint32_t lax;    /* names were made since the last flush that may not be on disk */
	uint32_t reserved;
	_Atomic uint64_t generation;
	_Atomic uint64_t version; /* none was given out above, with CLEAN */
	char boot[64];            /* which start of the machine `state` belongs to */
};

struct file_control {
	struct file_control_head *head;
	struct file_intent *intents;
	size_t map_len;
	const char *folder;
};

/* Open index/control; `create` makes it where it is missing or not ours to read, with state
 * REBUILD. */
bk_status file_control_open(struct file_control **out, int dirfd, const char *folder, bool create,
			    struct bk_error *err);
void file_control_close(struct file_control *control);
int file_control_sync(struct file_control *control);

/* Can the index be believed (after the intents are settled, when DIRTY)? */
bool file_control_believed(const struct file_control *control);
/* This process, on this start of the machine, begins to use it. */
void file_control_enter(struct file_control *control, enum file_state state);

void file_intent_arm(struct file_intent *intent, enum file_intent_op op, const char *name,
		     uint64_t version, uint64_t offset, uint64_t len);
static inline void file_intent_disarm(struct file_intent *intent)
{
	atomic_store_explicit(&intent->op, FILE_INTENT_NONE, memory_order_release);
}

#endif
