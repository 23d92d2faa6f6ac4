/*
 * layer.h - wrappers over any backend's tables.
 *
 * A layer takes an open store and the tables that drive it and gives a store and tables that
 * behave the same, plus what the layer is for.  Layers stack; each knows only the one beneath.
 * Per operation a layer allocates nothing but the handles that wrap sessions, cursors, readers
 * and writers, which are kept with the session and used again.
 */
#ifndef BK_LAYER_LAYER_H
#define BK_LAYER_LAYER_H

#include "plugin/plugin.h"

struct bk_layered {
	struct bk_tables tables;
	struct bk_store *store; /* closed through tables.store.close, which closes all beneath */
	uint64_t native, emulated, looped;
	struct bk_limits limits;
	uint32_t threads; /* BK_THREADS_* */
};

/* loop: get_many, put_many, append and multi-step walks for a backend that lacks them, made of the
 * calls that it has; sets `looped`.  Does nothing where none is missing.  A looped multi-step walk
 * keeps the ids of one step's hits in memory.  A looped append is a get and a put: where versions
 * are kept it is made again until nobody came between (not within a transaction); where they are
 * not, a change that comes between is lost. */
bk_status bk_layer_loop(struct bk_layered *io, struct bk_error *err);

/* lock: one call at a time, for BK_THREADS_SERIAL; leaves PARALLEL behind. */
bk_status bk_layer_lock(struct bk_layered *io, struct bk_error *err);

/* check: both sides held to the contract.  Used in tests and by `conform`; never timed.
 * A breach by the harness (a handle used after its end or on another thread, a second cursor,
 * reader or writer, two control calls at once, a NULL slice with a length) ends the process with a
 * line on standard error.
 * One by the backend (an outcome that is none, *err not filled in or touched on success, anything
 * written on failure, n out of range, fields that were not asked for, views that are NULL, a byte
 * count that does not fit, OK where STATE is due) is answered INTERNAL with a message that names
 * the operation.
 * Borrowed views are copied; when they lapse, the copy is poisoned and freed, so that the
 * sanitizers see late use, and the backend's own bytes must still be what they were. */
bk_status bk_layer_check(struct bk_layered *io, struct bk_error *err);

#endif
