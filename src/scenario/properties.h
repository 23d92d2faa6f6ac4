/*
 * properties.h - one node with many properties: n-uris and n-properties differ in their kind only.
 */
#ifndef BK_SCENARIO_PROPERTIES_H
#define BK_SCENARIO_PROPERTIES_H

#include "scenario/reading.h"

struct bk_property_kind {
	char record; /* BK_DOC_LITERAL or BK_DOC_URI */
	const char *predicate;
	const char *prefix; /* of each value, before its number */
};

/* For descriptors whose `own` is a kind. */
bk_status bk_properties_load(const struct bk_env *env, struct bk_outcome *out,
			     struct bk_error *err);
bk_status bk_properties_trial(const struct bk_env *env, struct bk_outcome *out,
			      struct bk_error *err);
uint64_t bk_properties_bytes(const struct bk_case *c);
uint64_t bk_properties_uses(const struct bk_case *c);

extern const struct bk_param *const bk_properties_params[];

#endif
