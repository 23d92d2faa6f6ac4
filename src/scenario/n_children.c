/*
 * n_children.c - a parent and N children with one triple each; reads the parent.
 */
#include "scenario/n_children.h"

#include "repo/vocab.h"

#include <bakeoff/backend_util.h>

#define PARENT_TITLE "A parent of many"

uint64_t bk_children_bytes(const struct bk_case *c)
{
	uint64_t levels = bk_case_hierarchy(c).levels;

	return bk_case_u64(c, "n") * (200 + levels * 120);
}

void bk_children_path(struct bk_buf *buf, const struct bk_env *env,
		      const struct bk_hierarchy *hierarchy, uint64_t i)
{
	char name[BK_NAME_LEN + 1];

	bk_name_make(name, env->data_seed, "child", i);
	bk_ingest_path(buf, hierarchy, BK_CHILDREN_PARENT, name);
}

bk_status bk_children_load(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	uint64_t n = bk_case_u64(env->c, "n"), i;
	struct bk_loading l;
	const char *path;
	bk_status st = bk_loading_begin(&l, env, n, err);

	if (st < 0)
		return st;
	st = bk_loading_put(&l, NULL, BK_CHILDREN_PARENT, "container", PARENT_TITLE, NULL, 0, err);
	for (i = 0; i < n && st >= 0; i++) {
		st = bk_loading_post(&path, &l, BK_CHILDREN_PARENT, "child", i, "Child", NULL, 0,
				     err);
		if (st >= 0)
			st = bk_loading_object(&l, err);
	}
	return bk_loading_end(&l, st, out, err);
}

static bk_status expect(struct bk_ntriples *w, const struct bk_env *env, struct bk_error *err)
{
	(void)err;
	bk_reading_expect(w, env, BK_CHILDREN_PARENT, PARENT_TITLE, BK_CONTAINS, false,
			  BK_CHILDREN_PARENT, "child");
	return BK_OK;
}

static bk_status trial(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	static const struct bk_hop hops[] = {{.kind = BK_HOP_CHILDREN}};
	struct bk_hierarchy h = bk_case_hierarchy(env->c);
	struct bk_walk_steps walk = {.count = 0};
	struct bk_reading reading = {.expect = expect};

	bk_walk_add_children(&walk, &h);
	reading.read = (struct bk_read){
		.start = bk_slice_str(BK_CHILDREN_PARENT),
		.hops = hops,
		.hop_count = 1,
		.steps = walk.steps,
		.step_count = walk.count,
		.predicate = BK_CONTAINS,
	};
	return bk_reading_trial(env, &reading, out, err);
}

static const struct bk_param *const params[] = {&bk_param_n, BK_READING_PARAMS,
						&bk_param_hierarchy_pairtree, NULL};

const struct bk_scenario bk_scenario_n_children = {
	.name = "n-children",
	.summary = "read a container with many children",
	.details =
		"Set-up: a parent, and n children with one triple each under the hierarchy.\n"
		"Timed: read the parent: its own triple and n containment triples.\n"
		"Document access loads the parent and, depth first, every descendant down to the "
		"first that is no pairtree level.  Native access is one walk of CHILDREN steps.\n"
		"Verified: the count and the sum of all triples, at every read.",
	.params = params,
	.primary = "time_to_last",
	.uses = bk_reading_uses,
	.bytes = bk_children_bytes,
	.load = bk_children_load,
	.trial = trial,
};
