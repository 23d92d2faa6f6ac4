/*
 * trial.c - one cell in one round: stores ready, timed part, verdict, record.
 */
#include "run/session.h"

#include "host/host.h"
#include "util/clock.h"
#include "util/error_text.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHILL_ENGINE "engine caches dropped"

/* ---- The environment ----------------------------------------------------------------- */

static bk_status chill_store(const struct bk_layered *store, const char **word,
			     struct bk_error *err)
{
	uint32_t reached = BK_CHILL_CANNOT;
	bk_status st;

	*word = "engine caches kept";
	if (!bk_repo_has(store, BK_F_CHILL))
		return BK_OK;
	st = store->tables.store.chill(store->store, &reached, err);
	if (st >= 0 && reached == BK_CHILL_DROPPED)
		*word = CHILL_ENGINE;
	return st;
}

static struct bk_dataset *chilled_dataset(struct bk_run_state *s)
{
	size_t i;

	for (i = 0; i < s->dataset_count; i++) {
		if (&s->datasets[i].repo == s->metered)
			return &s->datasets[i];
	}
	return NULL;
}

/* A private server is stopped and started: nothing of it stays warm but the page cache, which goes
 * next. */
static bk_status chill(void *host, char *reached, size_t size, struct bk_error *err)
{
	struct bk_run_state *s = host;
	struct bk_dataset *d = chilled_dataset(s);
	const char *engine = "engine caches kept";
	bool restarted = false;
	bk_status st = BK_OK;

	if (d && (s->stores[d->variant].nodes.server || s->stores[d->variant].binaries.server)) {
		size_t variant = d->variant;

		bk_datasets_lapse(s, variant);
		st = bk_variant_stores_restart(&restarted, &s->stores[variant], err);
		engine = "server restarted";
	} else {
		st = chill_store(s->metered->nodes, &engine, err);
	}
	if (st < 0)
		return st;
	snprintf(reached, size, "%s, %s", engine, bk_host_drop_pages(s->folder));
	return restarted ? bk_dataset_reopen(s, d, err) : BK_OK;
}

struct bk_env bk_trial_env(struct bk_run_state *s, size_t variant, const struct bk_case *c,
			   const struct bk_repo *repo, uint32_t round)
{
	struct bk_buf key = BK_BUF_INIT, name = BK_BUF_INIT;
	struct bk_env env = {
		.c = c,
		.repo = repo,
		.durability = s->m->durability,
		.scratch = s->folder,
		.stop = &s->monitor.stop,
		.progress = &s->monitor.progress,
		.progress_total = &s->monitor.progress_total,
		.chill = chill,
		.meter_begin = bk_meter_begin,
		.meter_end = bk_meter_end,
		.meter_report = bk_meter_report,
		.host = s,
	};

	bk_case_data_key(&key, c);
	bk_case_name(&name, c);
	env.data_seed = bk_rng_derive(bk_rng_derive(s->m->seed, "data"), bk_buf_str(&key));
	env.order_seed = bk_rng_derive_u64(
		bk_rng_derive(bk_rng_derive(s->m->seed, "requests"), bk_buf_str(&name)), round);
	s->metered = repo;
	s->metered_stores = &s->stores[variant];
	memset(&s->meter, 0, sizeof(s->meter));
	bk_buf_free(&key);
	bk_buf_free(&name);
	return env;
}

/* ---- Recording ------------------------------------------------------------------------- */

static const char *marks(const struct bk_repo *repo, const struct bk_case *c)
{
	uint64_t used = c->scenario->uses ? c->scenario->uses(c) : 0;

	if (!repo->nodes)
		return "";
	if (repo->nodes->looped & used)
		return "looped";
	return repo->nodes->emulated & used ? "emulated" : "";
}

static char *params_json(const struct bk_case *c)
{
	json_t *root = json_object();
	char *text;
	size_t i;

	for (i = 0; c->scenario->params[i]; i++) {
		const struct bk_param *p = c->scenario->params[i];
		bool number = p->type == BK_PARAM_COUNT || p->type == BK_PARAM_BYTES;

		json_object_set_new(root, p->name,
				    number ? json_integer((json_int_t)c->values[i].u)
					   : json_string(c->values[i].text));
	}
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

/* The variant's row: without its features until its stores are open, for only then are they known.
 */
static bk_status record_variant(struct bk_run_state *s, size_t variant, const struct bk_repo *repo,
				struct bk_error *err)
{
	const struct bk_variant_stores *stores = &s->stores[variant];
	struct bk_variant_row row = {.position = (uint32_t)variant,
				     .name = s->m->variants[variant].name};
	char *nodes, *binaries = NULL;
	bk_status st;

	if (s->described[variant])
		return BK_OK;
	nodes = bk_store_describe(&stores->nodes, repo->nodes);
	if (stores->binaries.plugin)
		binaries = bk_store_describe(&stores->binaries, repo->binaries);
	row.nodes_json = nodes;
	row.binaries_json = binaries;
	st = nodes ? bk_results_variant(s->config->results, s->run, &row, err)
		   : bk_fail(err, BK_NOMEM, 0, "out of memory");
	s->described[variant] = st >= 0 && repo->nodes;
	free(nodes);
	free(binaries);
	return st;
}

static bk_status record_cell(struct bk_run_state *s, size_t cell, const struct bk_repo *repo,
			     struct bk_error *err)
{
	const struct bk_cell *at = &s->m->cells[cell];
	const struct bk_case *c = &s->m->cases[at->kase];
	struct bk_cell_row row = {
		.variant = s->m->variants[at->variant].name,
		.name = at->name,
		.kase = s->m->case_names[at->kase],
		.scenario = c->scenario->name,
		.primary = c->scenario->primary,
		.marks = marks(repo, c),
		.position = (uint32_t)at->kase,
	};
	char *params;
	bk_status st;

	if (s->cells[cell])
		return BK_OK;
	params = params_json(c);
	row.params_json = params;
	st = params ? bk_results_cell(&s->cells[cell], s->config->results, s->run, &row, err)
		    : bk_fail(err, BK_NOMEM, 0, "out of memory");
	free(params);
	return st;
}

static const char *status_word(uint32_t code)
{
	switch (-(bk_status)code) {
#define X(name, value, text)                                                                       \
	case value:                                                                                \
		return #name;
		BK_STATUS_MAP(X)
#undef X
	default:
		return "OTHER";
	}
}

static bk_status add_outcome(void *ctx, struct bk_trial_writer *w, struct bk_error *err)
{
	const struct bk_outcome *out = ctx;
	bk_status st = BK_OK;
	uint32_t code;
	size_t i;

	for (i = 0; i < out->metric_count && st >= 0; i++)
		st = bk_results_add_metric(w, out->metrics[i].name, out->metrics[i].unit,
					   out->metrics[i].value, err);
	for (i = 0; i < out->histogram_count && st >= 0; i++) {
		char *text = NULL;

		if (bk_histogram_write(&text, out->histograms[i].histogram) < 0)
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
		st = bk_results_add_histogram(w, out->histograms[i].name, text, err);
		free(text);
	}
	for (i = 0; i < out->series_count && st >= 0; i++)
		st = bk_results_add_series(w, out->series[i].name, out->series[i].unit,
					   out->series[i].values, out->series[i].count, err);
	for (code = 1; code < 32 && st >= 0; code++) {
		if (out->failed_by_status[code])
			st = bk_results_add_failures(w, status_word(code),
						     out->failed_by_status[code], err);
	}
	return st;
}

struct verdict {
	const char *status; /* ok, failed, wrong, guard */
	char error[600];    /* "" when ok */
	double seconds, started_unix;
};

static bk_status record(struct bk_run_state *s, size_t cell, uint32_t round,
			const struct verdict *v, struct bk_outcome *out, struct bk_error *err)
{
	bool ok = strcmp(v->status, "ok") == 0;
	struct bk_trial_row row = {
		.cell = s->cells[cell],
		.round = round,
		.position = s->position,
		.started_unix = v->started_unix,
		.seconds = v->seconds,
		.status = v->status,
		.error = ok ? NULL : v->error,
		.note = out->note[0] ? out->note : NULL,
	};
	const struct bk_run_events *events = s->config->events;
	const struct bk_metric *primary =
		bk_outcome_find(out, s->m->cases[s->m->cells[cell].kase].scenario->primary);
	struct bk_run_verdict verdict = {
		.trial = &s->monitor.trial,
		.status = v->status,
		.error = row.error,
		.seconds = v->seconds,
	};
	bk_status st = bk_results_trial(s->config->results, &row, add_outcome, out, err);

	if (st < 0)
		return st;
	*(ok ? &s->summary->trials_ok : &s->summary->trials_failed) += 1;
	if (ok && primary) {
		verdict.metric = primary->name;
		verdict.unit = primary->unit;
		verdict.value = primary->value;
	}
	if (events && events->finished)
		events->finished(events->ctx, &verdict);
	return BK_OK;
}

/* ---- The trial ---------------------------------------------------------------------------- */

static void judge(struct verdict *v, struct bk_run_state *s, size_t cell, bk_status st,
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
	env = bk_trial_env(s, at->variant, c, repo, round);
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
	struct bk_env env = bk_trial_env(s, d->variant, c, &d->repo, round);
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
	struct verdict v;
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
		st = record_variant(s, s->m->cells[cell].variant, repo, err);
		if (st >= 0)
			st = record_cell(s, cell, repo, err);
		if (st >= 0)
			st = record(s, cell, round, &v, &out, err);
	}
	if (writing.nodes && bk_variant_stores_close(&writing, s->config->keep, &cleaning) < 0)
		bk_run_message(s, "cleaning up %s: %s", s->m->cells[cell].name, cleaning.message);
	if (s->dataset_of[cell] != SIZE_MAX)
		bk_dataset_used(s, cell);
	bk_outcome_free(&out);
	return st;
}
