/*
 * state.h - what is remembered of a server: state.json and a lock in its folder, and a list of all
 * folders in the cache.
 *
 * The one invariant: whoever holds the lock of a folder is its keeper; while the lock is free the
 * keeper is dead, whatever state.json says.
 *
 *   CACHE/instances/ID   a link to the folder (for a place on an existing server: the folder)
 *   CACHE/templates/     template.h
 */
#ifndef BK_SERVICE_STATE_H
#define BK_SERVICE_STATE_H

#include <bakeoff/backend.h>

#include <jansson.h>
#include <stdbool.h>

/* $XDG_CACHE_HOME/bakeoff, ~/.cache/bakeoff; where neither can be written to, a folder of this user
 * in /tmp.  Made if missing, 0700; CACHE/`sub` too.  The caller's to free. */
bk_status bk_state_cache(char **out, const char *sub, struct bk_error *err);

bk_status bk_state_write(const char *folder, const json_t *state, struct bk_error *err);
json_t *bk_state_read(const char *folder); /* NULL: none, or not readable */

/* The lock, held until the descriptor is closed; -1: somebody else has it, or it cannot be made. */
int bk_state_lock(const char *folder);
/* The same without a file in it: the folder itself is locked. */
int bk_state_lock_folder(const char *folder);

bk_status bk_state_register(const char *id, const char *folder, struct bk_error *err);
void bk_state_unregister(const char *id);
/* The folder of an id, the caller's to free; NULL. */
char *bk_state_folder(const char *id);
/* All ids, sorted, NULL-terminated; bk_strings_free(). */
char **bk_state_ids(void);

/* state.json of what runs under an id; NOT_FOUND with the nearest id. */
bk_status bk_state_by_id(json_t **out, const char *id, struct bk_error *err);

/* Text of a member, "" when it is not there. */
const char *bk_state_text(const json_t *state, const char *name);
uint64_t bk_state_u64(const json_t *state, const char *name);

#endif
