/*
 * child_reads.c - reads each of N children in turn, in a random order that is the same for every
 * variant.
 */
#include "scenario/n_children.h"

#include "load/load.h"
#include "repo/vocab.h"
#include "util/rng.h"
#include "util/summary.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MIN 1.0
#define PASSES_MAX  1000u

static const struct bk_param param_cache_size = {
	.name = "cache_size",
	.help = "nodes that the node cache holds; 0 so that the store is read, not the cache",
	.def = "0",
	.type = BK_PARAM_COUNT,
	.max = 1000000000,
};

struct pass { /* what the workers share */
	const struct bk_env *env;
	struct bk_cache *cache;
	unsigned char *ids; /* in the order of reading */
	uint64_t *ends;
	struct worker *workers;
};

struct worker {
	const struct pass *pass;
	struct bk_repo_session session;
	struct bk_ntriples out;
};

static bk_status worker_start(void *ctx, uint32_t number, void **state, struct bk_error *err)
{
	struct pass *pass = ctx;
	struct worker *w = &pass->workers[number];
	bk_status st;

	w->pass = pass;
	st = bk_repo_session_open(&w->session, pass->env->repo, number, pass->env->durability, err);
	if (st >= 0 && !bk_ntriples_init(&w->out)) {
		bk_repo_session_close(&w->session);
		st = bk_fail(err, BK_NOMEM, 0, "out of memory for a reader");
	}
	if (st >= 0)
		bk_repo_session_meter(&w->session);
	*state = w;
	return st;
}

static void worker_stop(void *state)
{
	struct worker *w = state;

	bk_repo_session_close(&w->session);
	bk_ntriples_free(&w->out);
}

static void worker_finish(void *state)
{
	struct worker *w = state;

	bk_repo_session_meter(&w->session);
}

static bk_status read_child(void *state, uint64_t i, struct bk_error *err)
{
	struct worker *w = state;
	const struct pass *pass = w->pass;
	uint64_t from = i ? pass->ends[i - 1] : 0;
	struct bk_cached *node;
	bk_status st;

	st = bk_repo_load(&node, &w->session, pass->cache,
			  bk_slice_of(pass->ids + from, (size_t)(pass->ends[i] - from)), err);
	if (st < 0)
		return st;
	if (!bk_ntriples_document(&w->out, node->path, node->doc))
		st = bk_fail(err, BK_CORRUPT, 0, "the document of '%.*s' does not parse",
			     (int)node->path.len, (const char *)node->path.data);
	bk_cache_release(pass->cache, node);
	return st;
}

/* The ids in a random order, and the triples that reading them all must give. */
static bk_status prepare(struct pass *pass, uint64_t n, uint64_t *sum, struct bk_error *err)
{
	struct bk_hierarchy h = bk_case_hierarchy(pass->env->c);
	uint64_t *order = malloc(n * sizeof(*order)), used = 0, cap = 0, i;
	struct bk_buf path = BK_BUF_INIT;
	struct bk_ntriples w;
	struct bk_rng rng;
	bk_status st = BK_OK;

	pass->ends = malloc(n * sizeof(*pass->ends));
	if (!bk_ntriples_init(&w) || !order || !pass->ends)
		goto no_memory;
	for (i = 0; i < n; i++)
		order[i] = i;
	bk_rng_init(&rng, pass->env->order_seed);
	bk_rng_shuffle(&rng, order, (size_t)n, sizeof(*order));
	for (i = 0; i < n; i++) {
		unsigned char bytes[BK_REPO_ID_LEN];
		struct bk_slice id;
		char title[64];

		bk_children_path(&path, pass->env, &h, order[i]);
		id = bk_repo_id(pass->env->repo, bytes, bk_slice_of(path.data, path.len));
		if (cap - used < id.len) {
			unsigned char *ids = realloc(pass->ids, (cap + id.len) * 2 + 4096);

			if (!ids)
				goto no_memory;
			pass->ids = ids;
			cap = (cap + id.len) * 2 + 4096;
		}
		memcpy(pass->ids + used, id.data, id.len);
		used += id.len;
		pass->ends[i] = used;
		bk_loading_title(title, "Child", order[i]);
		bk_ntriples_literal(&w, bk_slice_of(path.data, path.len), bk_slice_str(BK_TITLE),
				    bk_slice_str(title));
	}
	*sum = w.sum;
out:
	bk_ntriples_free(&w);
	bk_buf_free(&path);
	free(order);
	return st;
no_memory:
	st = bk_fail(err, BK_NOMEM, 0, "out of memory for %" PRIu64 " ids", n);
	goto out;
}

static bk_status check(const struct bk_load_result *r, const struct pass *pass, uint64_t n,
		       uint64_t sum, uint32_t workers, struct bk_error *err)
{
	uint64_t triples = 0, got = 0;
	uint32_t i;

	if (r->failed) {
		*err = r->first_error;
		return err->status;
	}
	if (r->stopped)
		return bk_fail(err, BK_CANCELLED, 0, "the reads were stopped");
	for (i = 0; i < workers; i++) {
		triples += pass->workers[i].out.triples;
		got += pass->workers[i].out.sum;
	}
	if (triples != n || got != sum)
		return bk_fail(err, BK_CORRUPT, 0,
			       "wrong answer: %" PRIu64 " triples (sum %016" PRIx64
			       ") where %" PRIu64 " (sum %016" PRIx64 ") were stored",
			       triples, got, n, sum);
	return BK_OK;
}

static bk_status one_pass(struct bk_load_result *r, struct pass *pass, uint64_t n, uint64_t sum,
			  bool metered, struct bk_error *err)
{
	uint32_t workers = (uint32_t)bk_case_u64(pass->env->c, "readers");
	struct bk_load_plan plan = {
		.workers = workers,
		.total = n,
		.ctx = pass,
		.start = worker_start,
		.op = read_child,
		.finish = worker_finish,
		.stop = worker_stop,
		.begin = metered ? pass->env->meter_begin : NULL,
		.end = metered ? pass->env->meter_end : NULL,
		.host = pass->env->host,
		.failures_max = 1,
		.stop_flag = pass->env->stop,
		.progress = pass->env->progress,
	};
	bk_status st;

	memset(pass->workers, 0, workers * sizeof(*pass->workers));
	st = bk_load_run(r, &plan, err);
	if (st >= 0) {
		st = check(r, pass, n, sum, workers, err);
		if (st < 0)
			bk_load_result_free(r);
	}
	return st;
}

static bk_status timed_passes(struct pass *pass, uint64_t n, uint64_t sum, struct bk_outcome *out,
			      struct bk_error *err)
{
	bool cold = bk_case_is(pass->env->c, "temperature", "cold");
	struct bk_histogram *all = bk_histogram_new();
	double rates[PASSES_MAX], seconds = 0;
	struct bk_load_result r;
	char reached[120] = "node cache only";
	size_t passes = 0;
	bk_status st = BK_OK;

	if (!all)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a histogram");
	if (!cold) {
		st = one_pass(&r, pass, n, sum, false, err);
		if (st >= 0)
			bk_load_result_free(&r);
	}
	while (st >= 0 && passes < PASSES_MAX && seconds < SECONDS_MIN) {
		if (cold) {
			bk_cache_clear(pass->cache);
			if (pass->env->chill)
				st = pass->env->chill(pass->env->host, reached, sizeof(reached),
						      err);
			if (st < 0)
				break;
		}
		st = one_pass(&r, pass, n, sum, true, err);
		if (st < 0)
			break;
		rates[passes++] = (double)n * 1e9 / (double)r.last_done_ns;
		seconds += (double)r.last_done_ns / 1e9;
		bk_histogram_merge(all, r.latency);
		bk_load_result_free(&r);
	}
	if (st >= 0) {
		bk_outcome_metric(out, "reads_per_s", "1/s", bk_summary_of(rates, passes).median);
		bk_outcome_metric(out, "operations", "count", (double)n * (double)passes);
		bk_outcome_latency(out, "latency", all);
		bk_outcome_series(out, "reads_per_s", "1/s", rates, passes);
		pass->env->meter_report(pass->env->host, out, 0, (double)passes);
		if (cold)
			snprintf(out->note, sizeof(out->note), "cold: %s", reached);
	}
	bk_histogram_free(all);
	return st;
}

static bk_status trial(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	uint64_t n = bk_case_u64(env->c, "n"), sum = 0;
	uint32_t readers = (uint32_t)bk_case_u64(env->c, "readers");
	struct pass pass = {.env = env};
	bk_status st;

	__atomic_store_n(env->progress_total, n, __ATOMIC_RELAXED);
	pass.workers = calloc(readers, sizeof(*pass.workers));
	st = pass.workers ? prepare(&pass, n, &sum, err)
			  : bk_fail(err, BK_NOMEM, 0, "out of memory for %u readers", readers);
	if (st >= 0)
		st = bk_cache_new(&pass.cache, bk_case_u64(env->c, "cache_size"), readers,
				  BK_CACHE_LRU, err);
	if (st >= 0)
		st = timed_passes(&pass, n, sum, out, err);
	bk_cache_free(pass.cache);
	free(pass.workers);
	free(pass.ids);
	free(pass.ends);
	return st;
}

static const struct bk_param *const params[] = {&bk_param_n,
						&param_cache_size,
						&bk_param_readers,
						&bk_param_temperature,
						&bk_param_load,
						&bk_param_hierarchy_pairtree,
						NULL};

const struct bk_scenario bk_scenario_child_reads = {
	.name = "child-reads",
	.summary = "read each of many children in turn",
	.details =
		"Set-up: as n-children.\n"
		"Timed: each child once, by id, in a random order; passes are repeated until they "
		"have taken a second, and the number is the median rate.  The node cache is off "
		"unless cache_size says otherwise.\n"
		"Verified: the count and the sum of all triples of each pass.",
	.params = params,
	.primary = "reads_per_s",
	.bytes = bk_children_bytes,
	.load = bk_children_load,
	.trial = trial,
};
