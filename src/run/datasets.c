/*
 * datasets.c - what trials of one variant share: loaded once a run, settled, used in every round.
 *
 * Each data set has a space of its own in the variant's stores, so that cases can come in any
 * order.  It stays open until the last trial that uses it.
 */
#include "run/session.h"

#include "util/clock.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SETTLE_NS UINT64_C(300000000000)

static size_t find_or_add(struct bk_run_state *s, size_t variant, const char *key)
{
	struct bk_dataset *d;
	size_t i;

	for (i = 0; i < s->dataset_count; i++) {
		if (s->datasets[i].variant == variant && strcmp(s->datasets[i].key, key) == 0)
			return i;
	}
	d = &s->datasets[s->dataset_count];
	d->variant = variant;
	d->key = strdup(key);
	if (!d->key)
		return SIZE_MAX;
	snprintf(d->space, sizeof(d->space), "d%016" PRIx64,
		 (uint64_t)XXH3_64bits(key, strlen(key)));
	bk_outcome_init(&d->outcome);
	return s->dataset_count++;
}

bk_status bk_datasets_plan(struct bk_run_state *s, struct bk_error *err)
{
	struct bk_buf key = BK_BUF_INIT;
	size_t i;

	s->datasets = calloc(s->m->cell_count, sizeof(*s->datasets));
	s->dataset_of = calloc(s->m->cell_count, sizeof(*s->dataset_of));
	if (!s->datasets || !s->dataset_of)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the data sets");
	for (i = 0; i < s->m->cell_count; i++) {
		const struct bk_case *c = &s->m->cases[s->m->cells[i].kase];
		const struct bk_value *load = bk_case_find(c, "load");
		struct bk_dataset *d;

		s->dataset_of[i] = SIZE_MAX;
		if (c->scenario->writes)
			continue;
		bk_buf_reset(&key);
		bk_case_data_key(&key, c);
		s->dataset_of[i] = find_or_add(s, s->m->cells[i].variant, bk_buf_str(&key));
		if (s->dataset_of[i] == SIZE_MAX) {
			bk_buf_free(&key);
			return bk_fail(err, BK_NOMEM, 0, "out of memory for the data sets");
		}
		d = &s->datasets[s->dataset_of[i]];
		d->uses_left += s->m->rounds;
		d->fresh = s->m->fresh || (load && strcmp(load->text, "single") == 0);
	}
	bk_buf_free(&key);
	return BK_OK;
}

static void close_dataset(struct bk_run_state *s, struct bk_dataset *d, bool keep)
{
	struct bk_error err = bk_error_init();

	if (!d->open)
		return;
	d->open = d->loaded = false;
	if (bk_variant_stores_close(&d->repo, keep, &err) < 0)
		bk_run_message(s, "cleaning up %s/%s: %s", s->m->variants[d->variant].name, d->key,
			       err.message);
}

void bk_datasets_lapse(struct bk_run_state *s, size_t variant)
{
	struct bk_error ignored = bk_error_init();
	size_t i;

	for (i = 0; i < s->dataset_count; i++) {
		struct bk_dataset *d = &s->datasets[i];

		if (d->variant != variant || !d->open)
			continue;
		bk_variant_stores_close(&d->repo, true, &ignored);
		d->open = false;
		d->stale = d->loaded;
	}
}

bk_status bk_dataset_reopen(struct bk_run_state *s, struct bk_dataset *d, struct bk_error *err)
{
	bk_status st = bk_variant_stores_open(&d->repo, &s->stores[d->variant], d->space,
					      s->m->durability, s->m->guard_time_ns, err);

	d->open = st >= 0;
	d->stale = st < 0;
	return st;
}

/* Waits until the stores are quiet. */
static bk_status settle(const struct bk_repo *repo, struct bk_error *err)
{
	bk_status st = BK_OK;

	if (bk_repo_has(repo->nodes, BK_F_SETTLE))
		st = repo->nodes->tables.store.settle(repo->nodes->store, SETTLE_NS, err);
	if (st >= 0 && repo->binaries && repo->binaries != repo->nodes &&
	    bk_repo_has(repo->binaries, BK_F_SETTLE))
		st = repo->binaries->tables.store.settle(repo->binaries->store, SETTLE_NS, err);
	return st;
}

static bk_status load(struct bk_run_state *s, struct bk_dataset *d, const struct bk_case *c,
		      uint32_t round, double seconds[2], struct bk_error *err)
{
	struct bk_env env = bk_run_env(s, d->variant, c, &d->repo, round);
	uint64_t start = bk_clock_ns();
	bk_status st;

	bk_monitor_phase(&s->monitor, "loading", s->m->guard_time_ns);
	st = c->scenario->load(&env, &d->outcome, err);
	seconds[0] = (double)(bk_clock_ns() - start) / 1e9;
	if (st < 0)
		return st;
	start = bk_clock_ns();
	bk_monitor_phase(&s->monitor, "settling", 0);
	st = settle(&d->repo, err);
	seconds[1] = (double)(bk_clock_ns() - start) / 1e9;
	return st;
}

static bk_status record(struct bk_run_state *s, const struct bk_dataset *d, uint32_t round,
			const double seconds[2], struct bk_error *err)
{
	const struct bk_repo *repo = &d->repo;
	struct bk_dataset_row row = {
		.variant = s->m->variants[d->variant].name,
		.key = d->key,
		.status = d->failed ? "failed" : "ok",
		.error = d->failed ? d->error.message : NULL,
		.load_seconds = seconds[0],
		.settle_seconds = seconds[1],
		.round = round,
		.settle = repo->nodes && bk_repo_has(repo->nodes, BK_F_SETTLE)
				  ? "by the store"
				  : "nothing to wait for",
	};

	return bk_results_dataset(s->config->results, s->run, &row, err);
}

static bk_status open_and_load(struct bk_run_state *s, struct bk_dataset *d,
			       const struct bk_case *c, uint32_t round, struct bk_error *err)
{
	double seconds[2] = {0, 0};
	struct bk_error why = bk_error_init();
	bk_status st;

	bk_outcome_free(&d->outcome);
	st = bk_variant_stores_open(&d->repo, &s->stores[d->variant], d->space, s->m->durability,
				    s->m->guard_time_ns, &why);
	d->open = st >= 0;
	if (st >= 0)
		st = load(s, d, c, round, seconds, &why);
	if (st == BK_CANCELLED && bk_monitor_stopped(&s->monitor) == BK_STOP_INTERRUPT) {
		close_dataset(s, d, false);
		*err = why;
		return st;
	}
	if (st == BK_CANCELLED)
		bk_fail(&why, BK_CANCELLED, 0, "time guard: loading took over %.0f s",
			(double)s->m->guard_time_ns / 1e9);
	d->loaded = st >= 0;
	d->failed = st < 0;
	if (st < 0)
		d->error = why;
	st = record(s, d, round, seconds, err);
	s->results_failed = st < 0;
	if (d->failed)
		close_dataset(s, d, false);
	return st;
}

bk_status bk_dataset_ready(struct bk_dataset **out, struct bk_run_state *s, size_t cell,
			   uint32_t round, struct bk_error *err)
{
	struct bk_dataset *d = &s->datasets[s->dataset_of[cell]];

	*out = d;
	if (d->fresh && d->open)
		close_dataset(s, d, false);
	if (d->loaded && !d->stale)
		return BK_OK;
	if (d->stale && !d->fresh)
		return bk_dataset_reopen(s, d, err);
	if (d->failed && !d->fresh)
		return BK_OK;
	return open_and_load(s, d, &s->m->cases[s->m->cells[cell].kase], round, err);
}

void bk_dataset_used(struct bk_run_state *s, size_t cell)
{
	struct bk_dataset *d = &s->datasets[s->dataset_of[cell]];

	if (--d->uses_left == 0 && !s->config->keep)
		close_dataset(s, d, false);
}

void bk_datasets_close(struct bk_run_state *s)
{
	size_t i;

	for (i = 0; i < s->dataset_count; i++) {
		close_dataset(s, &s->datasets[i], s->config->keep);
		bk_outcome_free(&s->datasets[i].outcome);
		free(s->datasets[i].key);
	}
	free(s->datasets);
	free(s->dataset_of);
}
