/*
 * place.h - databases and buckets made for other people's tests; inside src/service only.
 */
#ifndef BK_SERVICE_PLACE_H
#define BK_SERVICE_PLACE_H

#include "service/service.h"

#include <jansson.h>

/* `folder`: what is remembered of it, removed last. */
bk_status bk_place_teardown(const char *id, const char *folder, const json_t *state,
			    struct bk_error *err);
/* Drop and create, from its schema place if it has one; `options` are the admin's. */
bk_status bk_place_reset(const struct bk_plugin *plugin, const struct bk_options *options,
			 const json_t *state, struct bk_error *err);

#endif
