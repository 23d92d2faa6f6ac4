/*
 * place.h - databases and buckets made for other people's tests; inside src/service only.
 */
#ifndef BK_SERVICE_PLACE_H
#define BK_SERVICE_PLACE_H

#include "service/service.h"

#include <jansson.h>

/* As someone who may make places. */
bk_status bk_place_open(struct bk_store **admin, const struct bk_plugin *plugin,
			const struct bk_options *options, const char *mark,
			struct bk_store_config *config, struct bk_error *err);
bk_status bk_place_create(const struct bk_plugin *plugin, struct bk_store *admin, const char *name,
			  const char *mark, const char *user, const char *password,
			  const char *from, struct bk_error *err);
/* The place beside `name` that holds its schema. */
void bk_place_schema_name(char out[64], const char *name);

/* `folder`: what is remembered of it, removed last. */
bk_status bk_place_teardown(const char *id, const char *folder, const json_t *state,
			    struct bk_error *err);
/* Drop and create, from its schema place if it has one; `options` are the admin's. */
bk_status bk_place_reset(const struct bk_plugin *plugin, const struct bk_options *options,
			 const json_t *state, struct bk_error *err);

#endif
