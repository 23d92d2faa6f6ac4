/*
 * n_memberof.c - N objects that each say themselves what they belong to; reads the collection with
 * its inbound references.
 */
#include "scenario/reading.h"

#include "repo/vocab.h"

#include <bakeoff/backend_util.h>

#define COLLECTION "collection"
#define CONTAINER  "memberof"
#define OBJECTS    "objects"
#define TITLE      "A collection"

static uint64_t bytes(const struct bk_case *c)
{
	uint64_t levels = bk_case_hierarchy(c).levels;

	return bk_case_u64(c, "n") * (3 * 280 + levels * 2 * 130);
}

/* Object i, its container, and the proxy in it. */
static bk_status load_object(struct bk_loading *l, uint64_t i, struct bk_buf *object,
			     struct bk_buf *container, struct bk_error *err)
{
	struct bk_ingest_link resource = {BK_MEMBERSHIP_RESOURCE, NULL};
	struct bk_ingest_link proxy[2] = {{BK_PROXY_FOR, NULL}, {BK_PROXY_IN, COLLECTION}};
	const char *path;
	bk_status st = bk_loading_post_named(object, l, OBJECTS, "object", i, "Object", err);

	if (st < 0)
		return st;
	resource.target = proxy[0].target = bk_buf_str(object);
	st = bk_loading_put(l, bk_buf_str(object), CONTAINER, "container", NULL, &resource, 1, err);
	if (st < 0)
		return st;
	bk_buf_reset(container);
	bk_buf_putf(container, "%s/" CONTAINER, bk_buf_str(object));
	return bk_loading_post(&path, l, bk_buf_str(container), "proxy", i, NULL, proxy, 2, err);
}

static bk_status load(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	uint64_t n = bk_case_u64(env->c, "n"), i;
	struct bk_buf object = BK_BUF_INIT, container = BK_BUF_INIT;
	struct bk_loading l;
	bk_status st = bk_loading_begin(&l, env, n, err);

	if (st < 0)
		return st;
	st = bk_loading_put(&l, NULL, COLLECTION, "collection", TITLE, NULL, 0, err);
	if (st >= 0)
		st = bk_loading_put(&l, NULL, OBJECTS, "container", NULL, NULL, 0, err);
	for (i = 0; i < n && st >= 0; i++) {
		st = load_object(&l, i, &object, &container, err);
		if (st >= 0)
			st = bk_loading_object(&l, err);
	}
	bk_buf_free(&object);
	bk_buf_free(&container);
	return bk_loading_end(&l, st, out, err);
}

static bk_status expect(struct bk_ntriples *w, const struct bk_env *env, struct bk_error *err)
{
	(void)err;
	bk_reading_expect(w, env, COLLECTION, TITLE, BK_MEMBER_OF, true, OBJECTS, "object");
	return BK_OK;
}

static bk_status trial(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	static const struct bk_hop hops[] = {
		{.kind = BK_HOP_IN, .rel = BK_PROXY_IN},
		{.kind = BK_HOP_CONTAINER, .descendants = true},
		{.kind = BK_HOP_OUT, .rel = BK_MEMBERSHIP_RESOURCE, .ancestors = true},
	};
	struct bk_walk_steps walk = {.count = 0};
	struct bk_reading reading = {.expect = expect};

	bk_walk_add(&walk, BK_IN, BK_PROXY_IN);
	bk_walk_add(&walk, BK_OUT, BK_PROXY_FOR);
	reading.read = (struct bk_read){
		.start = bk_slice_str(COLLECTION),
		.hops = hops,
		.hop_count = 3,
		.steps = walk.steps,
		.step_count = walk.count,
		.predicate = BK_MEMBER_OF,
		.inverse = true,
	};
	return bk_reading_trial(env, &reading, out, err);
}

static const struct bk_param *const params[] = {&bk_param_n, BK_READING_PARAMS,
						&bk_param_hierarchy_pairtree, NULL};

const struct bk_scenario bk_scenario_n_memberof = {
	.name = "n-memberof",
	.summary = "read a collection that many objects refer to",
	.details =
		"Set-up: a collection; n objects, each with an indirect container of its own that "
		"holds one proxy, with links proxyFor to the object and proxyIn to the collection.\n"
		"Timed: read the collection with its inbound references: n memberOf triples.\n"
		"Document access loads every referrer of the collection, its parent container, the "
		"container's membershipResource, the container's descendants, and the object's "
		"ancestors.  Native access is one walk: collection <- proxyIn, -> proxyFor, path.\n"
		"Verified: the count and the sum of all triples, at every read.",
	.params = params,
	.primary = "time_to_last",
	.uses = bk_reading_uses,
	.bytes = bytes,
	.load = load,
	.trial = trial,
};
