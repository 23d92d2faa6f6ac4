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
 * calls that it has; sets `looped`.  A looped multi-step walk keeps the ids of one step's hits
 * in memory. */
bk_status bk_layer_loop(struct bk_layered *io, struct bk_error *err);

/* lock: one call at a time, for BK_THREADS_SERIAL; leaves PARALLEL behind. */
bk_status bk_layer_lock(struct bk_layered *io, struct bk_error *err);

/* check: aborts the process with a message on a breach of the contract by the harness (order,
 * threads, one cursor/reader/writer a session), answers INTERNAL with a message on one by the
 * backend (a positive status where none is meant, an error without message, out of range n, views
 * that are NULL), and poisons borrowed views once they have lapsed (it copies what the backend
 * returns, so that the sanitizers see late use).  Used in tests and by `conform`; never timed. */
bk_status bk_layer_check(struct bk_layered *io, struct bk_error *err);

#endif
