/*
 * n_uris.c - one node given N external URIs, one by one; reads the node.
 */
#include "scenario/properties.h"

#include "repo/document.h"
#include "repo/vocab.h"

static const struct bk_property_kind kind = {BK_DOC_URI, BK_RELATION,
					     "http://example.org/subject/"};

static bk_status load(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	return bk_properties_load(env, &kind, out, err);
}

static bk_status expect(struct bk_ntriples *w, const struct bk_env *env, struct bk_error *err)
{
	(void)err;
	return bk_properties_expect(w, env, &kind);
}

static bk_status trial(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	return bk_properties_trial(env, expect, out, err);
}

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
	.primary = "time_to_last",
	.bytes = bk_properties_bytes,
	.uses = bk_properties_uses,
	.load = load,
	.trial = trial,
};
