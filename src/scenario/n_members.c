/*
 * n_members.c - a collection with N members; reads the collection.
 *
 * Indirect: the members hang on proxies in a container that names the collection; direct: the
 * collection itself has N links.
 */
#include "scenario/reading.h"

#include "repo/vocab.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTION "collection"
#define CONTAINER  "members"
#define OBJECTS    "objects"
#define TITLE      "A collection"

static const char *const membership_choices[] = {"indirect", "direct", NULL};
static const struct bk_param param_membership = {
	.name = "membership",
	.help = "indirect: by proxies in a container; direct: n links on the collection itself",
	.def = "indirect",
	.choices = membership_choices,
	.type = BK_PARAM_CHOICE,
	.flags = BK_PARAM_DATA,
};

static bool is_direct(const struct bk_case *c)
{
	return bk_case_is(c, "membership", "direct");
}

static uint64_t bytes(const struct bk_case *c)
{
	uint64_t levels = bk_case_hierarchy(c).levels;

	return bk_case_u64(c, "n") * 2 * (260 + levels * 120);
}

static void object_path(struct bk_buf *path, const struct bk_env *env, const struct bk_hierarchy *h,
			uint64_t i)
{
	char name[BK_NAME_LEN + 1];

	bk_name_make(name, env->data_seed, "object", i);
	bk_ingest_path(path, h, OBJECTS, name);
}

/* Object i and the proxy that makes it a member. */
static bk_status load_indirect_member(struct bk_loading *l, uint64_t i, struct bk_buf *object,
				      struct bk_error *err)
{
	struct bk_ingest_link links[2] = {{BK_PROXY_FOR, NULL}, {BK_PROXY_IN, COLLECTION}};
	const char *path;
	bk_status st = bk_loading_post_named(object, l, OBJECTS, "object", i, "Object", err);

	if (st < 0)
		return st;
	links[0].target = bk_buf_str(object);
	return bk_loading_post(&path, l, COLLECTION "/" CONTAINER, "proxy", i, NULL, links, 2, err);
}

static bk_status load_indirect(struct bk_loading *l, uint64_t n, struct bk_error *err)
{
	const struct bk_ingest_link resource = {BK_MEMBERSHIP_RESOURCE, COLLECTION};
	struct bk_buf object = BK_BUF_INIT;
	bk_status st = bk_loading_put(l, NULL, COLLECTION, "collection", TITLE, NULL, 0, err);
	uint64_t i;

	if (st >= 0)
		st = bk_loading_put(l, COLLECTION, CONTAINER, "container", NULL, &resource, 1, err);
	for (i = 0; i < n && st >= 0; i++) {
		st = load_indirect_member(l, i, &object, err);
		if (st >= 0)
			st = bk_loading_object(l, err);
	}
	bk_buf_free(&object);
	return st;
}

/* One by one, as a client that PATCHes the collection for each member does. */
static bk_status link_member(struct bk_loading *l, struct bk_slice object, struct bk_error *err)
{
	const struct bk_repo *repo = l->env->repo;
	unsigned char collection[BK_REPO_ID_LEN], target[BK_REPO_ID_LEN];
	struct bk_link link = {bk_slice_str(BK_HAS_MEMBER), bk_repo_id(repo, target, object)};

	return bk_repo_nodes(repo)->append(l->session.nodes,
					   bk_repo_id(repo, collection, bk_slice_str(COLLECTION)),
					   bk_slice_of("", 0), &link, 1, err);
}

static bk_status load_direct(struct bk_loading *l, const struct bk_env *env, uint64_t n,
			     struct bk_error *err)
{
	struct bk_hierarchy h = bk_case_hierarchy(env->c);
	struct bk_ingest_link *links = NULL;
	struct bk_buf path_buf = BK_BUF_INIT;
	char **targets = calloc((size_t)n, sizeof(*targets));
	const char *path;
	bk_status st = BK_OK;
	uint64_t i;

	if (l->single)
		st = bk_loading_put(l, NULL, COLLECTION, "collection", TITLE, NULL, 0, err);
	for (i = 0; i < n && st >= 0; i++) {
		st = bk_loading_post(&path, l, OBJECTS, "object", i, "Object", NULL, 0, err);
		if (st >= 0)
			st = bk_loading_object(l, err);
		if (st >= 0 && l->single) {
			object_path(&path_buf, env, &h, i);
			st = link_member(l, bk_slice_of(path_buf.data, path_buf.len), err);
		} else if (st >= 0 && !(targets && (targets[i] = strdup(path)))) {
			st = bk_fail(err, BK_NOMEM, 0, "out of memory for %" PRIu64 " links", n);
		}
	}
	if (st >= 0 && !l->single) {
		links = calloc((size_t)n, sizeof(*links));
		for (i = 0; links && i < n; i++)
			links[i] = (struct bk_ingest_link){BK_HAS_MEMBER, targets[i]};
		st = links ? bk_loading_put(l, NULL, COLLECTION, "collection", TITLE, links,
					    (size_t)n, err)
			   : bk_fail(err, BK_NOMEM, 0, "out of memory for %" PRIu64 " links", n);
	}
	for (i = 0; targets && i < n; i++)
		free(targets[i]);
	free(targets);
	free(links);
	bk_buf_free(&path_buf);
	return st;
}

static bk_status load(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	uint64_t n = bk_case_u64(env->c, "n");
	struct bk_loading l;
	bk_status st = bk_loading_begin(&l, env, n, err);

	if (st < 0)
		return st;
	st = bk_loading_put(&l, NULL, OBJECTS, "container", NULL, NULL, 0, err);
	if (st >= 0)
		st = is_direct(env->c) ? load_direct(&l, env, n, err) : load_indirect(&l, n, err);
	return bk_loading_end(&l, st, out, err);
}

static bk_status expect(struct bk_ntriples *w, const struct bk_env *env, struct bk_error *err)
{
	(void)err;
	bk_reading_expect(w, env, COLLECTION, TITLE, BK_HAS_MEMBER, false, OBJECTS, "object");
	return BK_OK;
}

static bk_status trial(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	static const struct bk_hop indirect[] = {
		{.kind = BK_HOP_IN, .rel = BK_MEMBERSHIP_RESOURCE},
		{.kind = BK_HOP_CHILDREN},
		{.kind = BK_HOP_OUT, .rel = BK_PROXY_FOR, .ancestors = true},
	};
	static const struct bk_hop direct[] = {
		{.kind = BK_HOP_OUT, .rel = BK_HAS_MEMBER, .ancestors = true},
	};
	struct bk_hierarchy h = bk_case_hierarchy(env->c);
	struct bk_walk_steps walk = {.count = 0};
	struct bk_reading reading = {.expect = expect};

	if (is_direct(env->c)) {
		bk_walk_add(&walk, BK_OUT, BK_HAS_MEMBER);
	} else {
		bk_walk_add(&walk, BK_IN, BK_MEMBERSHIP_RESOURCE);
		bk_walk_add_children(&walk, &h);
		bk_walk_add(&walk, BK_OUT, BK_PROXY_FOR);
	}
	reading.read = (struct bk_read){
		.start = bk_slice_str(COLLECTION),
		.hops = is_direct(env->c) ? direct : indirect,
		.hop_count = is_direct(env->c) ? 1 : 3,
		.steps = walk.steps,
		.step_count = walk.count,
		.predicate = BK_HAS_MEMBER,
	};
	return bk_reading_trial(env, &reading, out, err);
}

static const struct bk_param *const params[] = {
	&bk_param_n, BK_READING_PARAMS, &bk_param_hierarchy_pairtree, &param_membership, NULL};

const struct bk_scenario bk_scenario_n_members = {
	.name = "n-members",
	.summary = "read a collection with many members",
	.details =
		"Set-up, indirect: a collection, a container that names it as membershipResource, n "
		"objects with one title, and n proxies in the container, each with links proxyFor to "
		"its object and proxyIn to the collection.  Direct: the collection itself has n links "
		"hasMember.\n"
		"Timed: read the collection: its title and n hasMember triples.\n"
		"Document access loads the collection's referrers by membershipResource, each "
		"container's descendants, the target of each proxyFor, and the ancestors of what it "
		"names.  Native access is one walk: collection <- membershipResource, down to the "
		"proxies, -> proxyFor, path of the object.\n"
		"Verified: the count and the sum of all triples, at every read.",
	.params = params,
	.primary = "time_to_last",
	.uses = bk_reading_uses,
	.bytes = bytes,
	.load = load,
	.trial = trial,
};
