/*
 * n_properties.c - one node given N literals, one by one; reads the node.
 */
#include "scenario/properties.h"

#include "repo/document.h"
#include "repo/vocab.h"

static const struct bk_property_kind kind = {BK_DOC_LITERAL, BK_SUBJECT, "Subject heading "};

const struct bk_scenario bk_scenario_n_properties = {
	.name = "n-properties",
	.summary = "read a node with many literals",
	.details =
		"Set-up: one node with n literal properties; with load=single they are appended one "
		"by one, each kept by the store before the next.\n"
		"Timed: read the node: n triples.  One node is loaded, so this is the price of a "
		"large document.\n"
		"Verified: the count and the sum of all triples, at every read.",
	.params = bk_properties_params,
	.own = &kind,
	.primary = "time_to_last",
	.bytes = bk_properties_bytes,
	.uses = bk_properties_uses,
	.load = bk_properties_load,
	.trial = bk_properties_trial,
};
