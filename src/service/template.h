/*
 * template.h - ready-made data folders, kept in the cache under a key, each in one file.
 *
 * The one invariant: what is under its key is complete and was shut down cleanly: it is built
 * beside (KEY.new), synced, described by template.json, and renamed while the key's lock is held.
 */
#ifndef BK_SERVICE_TEMPLATE_H
#define BK_SERVICE_TEMPLATE_H

#include "service/run.h"

#define BK_TEMPLATE_KEY_MAX 96

/* The key: NAME-HASH over everything that shapes the data: programs, commands, backend, schema
 * files. */
bk_status bk_template_key(char out[BK_TEMPLATE_KEY_MAX], const struct bk_service_run *run,
			  const char *const *schema, struct bk_error *err);

/* The pack under a key, the caller's path to free; NULL: there is none, or it is not whole, and it
 * should be built again. */
char *bk_template_find(const struct bk_service_run *run, const char *key);

/* What a template's files hold, by its description; 0: not known. */
uint64_t bk_template_bytes(const char *key);

/* The key's lock, to build it; waits for another builder. */
bk_status bk_template_lock(int *out, const struct bk_service_run *run, const char *key,
			   struct bk_error *err);

/* Put a stopped server's data under the key. */
bk_status bk_template_publish(const struct bk_service_run *run, const char *key, const char *data,
			      struct bk_error *err);

/* A copy of the template made ahead for the next start, in the folder in which it will be: taken by
 * renaming it, so that only one gets it.  false: there is none. */
bool bk_template_take_spare(const struct bk_service_run *run, const char *to);
void bk_template_make_spare(const struct bk_service_run *run, bool (*stop)(void *ctx), void *ctx);

#endif
