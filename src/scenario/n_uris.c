/*
 * n_uris.c - one node given N external URIs, one by one; reads the node.
 */
#include "scenario/properties.h"

#include "repo/document.h"
#include "repo/vocab.h"

static const struct bk_property_kind kind = {BK_DOC_URI, BK_RELATION,
					     "http://example.org/subject/"};

const struct bk_scenario bk_scenario_n_uris = {
	.name = "n-uris",
	.summary = "read a node with many external URIs",
	.details =
		"Set-up: one node with n URI properties; with load=single they are appended one "
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
