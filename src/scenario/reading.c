/*
 * reading.c - one trial of a timed read.
 */
#include "scenario/reading.h"

#include "repo/vocab.h"
#include "util/summary.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READS_MIN   5u
#define SECONDS_MIN 1.0
#define KEPT_MAX    100000u /* figures kept a trial; a faster read than 10 us ends early */
#define SERIES_MAX  1000u   /* of these in the results file */

void bk_walk_add(struct bk_walk_steps *walk, uint32_t dir, const char *rel)
{
	struct bk_step *s = &walk->steps[walk->count++];

	memset(s, 0, sizeof(*s));
	s->dir = dir;
	s->rel = rel ? bk_slice_str(rel) : bk_slice_of("", 0);
}

void bk_walk_add_children(struct bk_walk_steps *walk, const struct bk_hierarchy *hierarchy)
{
	uint32_t l;

	for (l = 0; l <= hierarchy->levels; l++)
		bk_walk_add(walk, BK_CHILDREN, NULL);
}

void bk_reading_expect(struct bk_ntriples *w, const struct bk_env *env, const char *start,
		       const char *title, const char *predicate, bool inverse, const char *parent,
		       const char *type)
{
	struct bk_hierarchy h = bk_case_hierarchy(env->c);
	struct bk_slice from = bk_slice_str(start), by = bk_slice_str(predicate), to;
	uint64_t n = bk_case_u64(env->c, "n"), i;
	struct bk_buf path = BK_BUF_INIT;

	bk_ntriples_literal(w, from, bk_slice_str(BK_TITLE), bk_slice_str(title));
	for (i = 0; i < n; i++) {
		char name[BK_NAME_LEN + 1];

		bk_name_make(name, env->data_seed, type, i);
		bk_ingest_path(&path, &h, parent, name);
		to = bk_slice_of(path.data, path.len);
		bk_ntriples_link(w, inverse ? to : from, by, inverse ? from : to);
	}
	bk_buf_free(&path);
}

struct trial {
	const struct bk_env *env;
	const struct bk_reading *reading;
	enum bk_access access;
	bool cold;
	struct bk_cache *cache;
	struct bk_readers *pool;
	uint64_t triples, sum; /* expected */
	double *last, *first;  /* seconds, of each timed read */
	size_t reads;
	struct bk_read_result result; /* of the last one */
	char reached[120];
};

/* Scenarios whose read is one node have fewer parameters. */
static uint64_t value_or(const struct bk_case *c, const char *name, uint64_t otherwise)
{
	const struct bk_value *value = bk_case_find(c, name);

	return value ? value->u : otherwise;
}

uint64_t bk_reading_uses(const struct bk_case *c)
{
	switch ((enum bk_access)value_or(c, "access", BK_ACCESS_DOCUMENT)) {
	case BK_ACCESS_BATCHED:
		return BK_F_GET_MANY;
	case BK_ACCESS_NATIVE:
		return BK_F_WALK;
	case BK_ACCESS_DOCUMENT:
		break;
	}
	return 0;
}

static bk_status expect(struct trial *t, struct bk_error *err)
{
	struct bk_ntriples w;
	bk_status st;

	if (!bk_ntriples_init(&w))
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the expected triples");
	st = t->reading->expect(&w, t->env, err);
	t->triples = w.triples;
	t->sum = w.sum;
	if (st >= 0 && w.failed)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory for the expected triples");
	bk_ntriples_free(&w);
	return st;
}

static bk_status check(const struct trial *t, struct bk_error *err)
{
	const struct bk_read_result *r = &t->result;

	if (r->triples != t->triples)
		return bk_fail(err, BK_CORRUPT, 0,
			       "wrong answer: %" PRIu64 " triples where %" PRIu64 " were stored",
			       r->triples, t->triples);
	if (r->sum != t->sum)
		return bk_fail(err, BK_CORRUPT, 0,
			       "wrong answer: %" PRIu64 " triples, but not those that were stored "
			       "(sum %016" PRIx64 ", expected %016" PRIx64 ")",
			       r->triples, r->sum, t->sum);
	return BK_OK;
}

static bk_status open_pool(struct trial *t, struct bk_error *err)
{
	struct bk_readers_config config = {
		.repo = t->env->repo,
		.cache = t->cache,
		.readers = t->access == BK_ACCESS_NATIVE
				   ? 1
				   : (uint32_t)value_or(t->env->c, "readers", 1),
		.durability = t->env->durability,
		.stop = t->env->stop,
	};

	return bk_readers_open(&t->pool, &config, err);
}

static bk_status close_and_chill(struct trial *t, struct bk_error *err)
{
	bk_cache_clear(t->cache);
	bk_readers_close(t->pool);
	t->pool = NULL;
	if (!t->env->chill) {
		snprintf(t->reached, sizeof(t->reached), "node cache only");
		return BK_OK;
	}
	return t->env->chill(t->env->host, t->reached, sizeof(t->reached), err);
}

/* The check before the clock, and the warming. */
static bk_status read_untimed(struct trial *t, struct bk_outcome *out, struct bk_error *err)
{
	struct bk_u64set touched = {0};
	bool counted = t->access != BK_ACCESS_NATIVE;
	bk_status st;

	st = bk_readers_read(&t->result, t->pool, &t->reading->read, t->access,
			     counted ? &touched : NULL, err);
	if (st >= 0)
		st = check(t, err);
	if (st >= 0 && counted)
		bk_outcome_metric(out, "nodes.touched", "count", (double)touched.count);
	bk_u64set_free(&touched);
	return st;
}

static void begin_metering(struct trial *t)
{
	bk_readers_meter(t->pool);
	t->env->meter_begin(t->env->host);
}

static void end_metering(struct trial *t)
{
	bk_readers_meter(t->pool);
	t->env->meter_end(t->env->host);
}

/* Cold reads start sessions, and servers, in between: what that costs is not the reads'. */
static bk_status read_timed(struct trial *t, struct bk_error *err)
{
	double total = 0;
	bk_status st;

	while (t->reads < READS_MIN || (total < SECONDS_MIN && t->reads < KEPT_MAX)) {
		if (t->cold) {
			st = close_and_chill(t, err);
			if (st >= 0)
				st = open_pool(t, err);
			if (st < 0)
				return st;
		}
		if (t->cold)
			begin_metering(t);
		st = bk_readers_read(&t->result, t->pool, &t->reading->read, t->access, NULL, err);
		if (st >= 0)
			st = check(t, err);
		if (st < 0)
			return st;
		if (t->cold)
			end_metering(t);
		t->last[t->reads] = (double)t->result.last_ns / 1e9;
		t->first[t->reads] = (double)t->result.first_ns / 1e9;
		total += t->last[t->reads++];
		__atomic_store_n(t->env->progress, t->reads, __ATOMIC_RELAXED);
	}
	return BK_OK;
}

static void report(const struct trial *t, struct bk_outcome *out)
{
	const struct bk_read_result *r = &t->result;

	bk_outcome_metric(out, "time_to_last", "s", bk_summary_of(t->last, t->reads).median);
	bk_outcome_metric(out, "time_to_first", "s", bk_summary_of(t->first, t->reads).median);
	bk_outcome_metric(out, "triples", "count", (double)r->triples);
	bk_outcome_metric(out, "reads", "count", (double)t->reads);
	bk_outcome_metric(out, "round_trips", "count", (double)r->round_trips);
	bk_outcome_metric(out, "cache.hits", "count", (double)r->cache_hits);
	bk_outcome_metric(out, "cache.misses", "count", (double)r->cache_misses);
	bk_outcome_series(out, "time_to_last", "s", t->last,
			  t->reads < SERIES_MAX ? t->reads : SERIES_MAX);
	if (t->cold)
		snprintf(out->note, sizeof(out->note), "cold: %s", t->reached);
}

bk_status bk_reading_trial(const struct bk_env *env, const struct bk_reading *reading,
			   struct bk_outcome *out, struct bk_error *err)
{
	struct trial t = {
		.env = env,
		.reading = reading,
		.access = (enum bk_access)value_or(env->c, "access", BK_ACCESS_DOCUMENT),
		.cold = bk_case_is(env->c, "temperature", "cold"),
	};
	bk_status st = expect(&t, err);

	if (st < 0)
		return st;
	__atomic_store_n(env->progress_total, READS_MIN, __ATOMIC_RELAXED);
	t.last = malloc(KEPT_MAX * sizeof(double));
	t.first = malloc(KEPT_MAX * sizeof(double));
	if (!t.last || !t.first) {
		st = bk_fail(err, BK_NOMEM, 0, "out of memory for a trial's figures");
		goto out;
	}
	st = bk_cache_new(&t.cache, bk_case_u64(env->c, "cache_size"),
			  (uint32_t)value_or(env->c, "readers", 1),
			  (enum bk_cache_policy)value_or(env->c, "cache_policy", BK_CACHE_LRU),
			  err);
	if (st >= 0)
		st = open_pool(&t, err);
	if (st >= 0)
		st = read_untimed(&t, out, err);
	if (st >= 0) {
		if (!t.cold)
			begin_metering(&t);
		st = read_timed(&t, err);
	}
	if (st >= 0) {
		if (!t.cold)
			end_metering(&t);
		report(&t, out);
		env->meter_report(env->host, out, 0, (double)t.reads);
	}
	bk_readers_close(t.pool);
	bk_cache_free(t.cache);
out:
	free(t.last);
	free(t.first);
	return st;
}
