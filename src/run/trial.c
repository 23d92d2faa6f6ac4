/*
 * trial.c - one cell in one round: stores ready, timed part, verdict, record.
 */
#include "run/session.h"

#include "host/host.h"
#include "util/clock.h"
#include "util/error_text.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <string.h>

static void judge(struct bk_trial_verdict *v, struct bk_run_state *s, size_t cell, bk_status st,
		  const struct bk_error *e)
{
	v->error[0] = '\0';
	v->status = "ok";
	if (st >= 0)
		return;
	if (st == BK_CANCELLED && bk_monitor_stopped(&s->monitor) == BK_STOP_TIME) {
		v->status = "guard";
		s->guarded[cell] = true;
		snprintf(v->error, sizeof(v->error), "time guard: over %.0f s",
			 (double)s->m->guard_time_ns / 1e9);
		return;
	}
	v->status = st == BK_CORRUPT ? "wrong" : "failed";
	bk_error_text(v->error, sizeof(v->error), e);
}

/* Scenarios that write start on stores that are empty, and leave them so. */
static bk_status run_writing(struct bk_run_state *s, size_t cell, uint32_t round,
			     struct bk_outcome *out, struct bk_repo *repo, struct bk_error *err)
{
	const struct bk_cell *at = &s->m->cells[cell];
	const struct bk_case *c = &s->m->cases[at->kase];
	struct bk_env env;
	bk_status st;

	bk_monitor_phase(&s->monitor, "clearing", 0);
	st = bk_variant_stores_open(repo, &s->stores[at->variant], "trial", s->m->durability,
				    s->m->guard_time_ns, err);
	if (st < 0)
		return st;
	st = repo->nodes->tables.store.clear(repo->nodes->store, err);
	if (st >= 0 && repo->binaries && repo->binaries != repo->nodes)
		st = repo->binaries->tables.store.clear(repo->binaries->store, err);
	if (st < 0)
		return st;
	bk_monitor_phase(&s->monitor, "measuring", s->m->guard_time_ns);
	env = bk_run_env(s, at->variant, c, repo, round);
	st = c->scenario->trial(&env, out, err);
	if (st >= 0)
		bk_meter_stored(s, out);
	return st;
}

static bk_status run_reading(struct bk_run_state *s, struct bk_dataset *d, size_t cell,
			     uint32_t round, struct bk_outcome *out, struct bk_error *err)
{
	const struct bk_case *c = &s->m->cases[s->m->cells[cell].kase];
	const struct bk_metric *rate = bk_outcome_find(&d->outcome, "load.objects_per_s");
	struct bk_env env = bk_run_env(s, d->variant, c, &d->repo, round);
	bk_status st;

	bk_monitor_phase(&s->monitor, "measuring", s->m->guard_time_ns);
	st = c->scenario->trial(&env, out, err);
	if (st >= 0 && d->fresh && rate) {
		bk_outcome_metric(out, rate->name, rate->unit, rate->value);
		if (d->outcome.series_count)
			bk_outcome_series(out, d->outcome.series[0].name, d->outcome.series[0].unit,
					  d->outcome.series[0].values, d->outcome.series[0].count);
	}
	return st;
}

/* Reasons not to start at all. */
static bk_status admit(struct bk_run_state *s, size_t cell, struct bk_error *err)
{
	uint64_t free_bytes = bk_host_disk_free(s->folder);

	if (s->guarded[cell])
		return bk_fail(err, BK_CANCELLED, 0,
			       "not run: it went over the time guard in an earlier round");
	if (free_bytes < s->m->guard_disk_bytes)
		return bk_fail(
			err, BK_NO_SPACE, 0,
			"not run: %.1f GiB free in %s, under the guard disk_free of %.1f GiB",
			(double)free_bytes / 1073741824.0, s->folder,
			(double)s->m->guard_disk_bytes / 1073741824.0);
	return BK_OK;
}

static void begin_display(struct bk_run_state *s, size_t cell, uint32_t round)
{
	pthread_mutex_lock(&s->monitor.lock);
	s->monitor.trial.matrix = s->m;
	s->monitor.trial.cell = &s->m->cells[cell];
	s->monitor.trial.round = round;
	s->monitor.trial.position = s->position;
	s->monitor.trial.total = (uint32_t)(s->m->rounds * s->m->cell_count);
	pthread_mutex_unlock(&s->monitor.lock);
	bk_monitor_phase(&s->monitor, "opening",
			 0); /* not the last trial's phase under this name */
}

static bk_status execute(struct bk_run_state *s, size_t cell, uint32_t round,
			 struct bk_outcome *out, struct bk_repo *writing, struct bk_dataset **d,
			 struct bk_error *why)
{
	size_t variant = s->m->cells[cell].variant;
	bool restarted;
	bk_status st = admit(s, cell, why);

	if (st >= 0)
		st = bk_variant_stores_revive(&restarted, &s->stores[variant], why);
	if (st < 0)
		return st;
	if (restarted) {
		bk_run_message(s, "the server of %s had died and was started again",
			       s->m->variants[variant].name);
		bk_datasets_lapse(s, variant);
	}
	if (s->dataset_of[cell] == SIZE_MAX)
		return run_writing(s, cell, round, out, writing, why);
	st = bk_dataset_ready(d, s, cell, round, why);
	if (st < 0) { /* opening it again failed, or it was interrupted */
		*d = NULL;
		return st;
	}
	if ((*d)->failed) {
		*why = (*d)->error;
		return why->status;
	}
	return run_reading(s, *d, cell, round, out, why);
}

bk_status bk_trial_run(struct bk_run_state *s, size_t cell, uint32_t round, struct bk_error *err)
{
	struct bk_repo writing = {0};
	struct bk_dataset *d = NULL;
	struct bk_outcome out;
	struct bk_error why = bk_error_init(), cleaning = bk_error_init();
	struct bk_trial_verdict v;
	struct timespec now;
	uint64_t start = bk_clock_ns();
	bk_status st, outcome;

	bk_outcome_init(&out);
	s->position++;
	begin_display(s, cell, round);
	clock_gettime(CLOCK_REALTIME, &now);
	v.started_unix = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	outcome = execute(s, cell, round, &out, &writing, &d, &why);
	v.seconds = (double)(bk_clock_ns() - start) / 1e9;
	st = BK_OK;
	if (s->results_failed ||
	    (outcome == BK_CANCELLED && bk_monitor_stopped(&s->monitor) == BK_STOP_INTERRUPT)) {
		*err = why;
		st = outcome;
	} else {
		const struct bk_repo *repo = d ? &d->repo : &writing;

		bk_variant_stores_explain(&s->stores[s->m->cells[cell].variant], &why);
		judge(&v, s, cell, outcome, &why);
		st = bk_trial_record(s, cell, round, repo, &v, &out, err);
	}
	if (writing.nodes && bk_variant_stores_close(&writing, s->config->keep, &cleaning) < 0)
		bk_run_message(s, "cleaning up %s: %s", s->m->cells[cell].name, cleaning.message);
	if (s->dataset_of[cell] != SIZE_MAX)
		bk_dataset_used(s, cell);
	bk_outcome_free(&out);
	return st;
}
