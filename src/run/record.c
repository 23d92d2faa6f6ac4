/*
 * record.c - a trial into the results file, with the rows of its variant and its cell before the
 * first one.
 */
#include "run/session.h"

#include "util/clock.h"

#include <bakeoff/backend_util.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

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

static bk_status record_trial(struct bk_run_state *s, size_t cell, uint32_t round,
			      const struct bk_trial_verdict *v, struct bk_outcome *out,
			      struct bk_error *err)
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
		.run_seconds = (double)(bk_clock_ns() - s->monitor.run_start_ns) / 1e9,
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

bk_status bk_trial_record(struct bk_run_state *s, size_t cell, uint32_t round,
			  const struct bk_repo *repo, const struct bk_trial_verdict *v,
			  struct bk_outcome *out, struct bk_error *err)
{
	bk_status st = record_variant(s, s->m->cells[cell].variant, repo, err);

	if (st >= 0)
		st = record_cell(s, cell, repo, err);
	if (st >= 0)
		st = record_trial(s, cell, round, v, out, err);
	return st;
}
