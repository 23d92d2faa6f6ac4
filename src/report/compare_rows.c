/*
 * compare_rows.c - the trials of a run into rows and cells.
 */
#include "report/compare_rows.h"

#include "scenario/scenario.h"
#include "util/list.h"

#include <bakeoff/backend_util.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 20000u

struct loader { /* what each row of the query is added to */
	struct bk_comparison *c;
	const char *metrics;
	size_t row_room;
};

static struct bk_comparison_row *row_of(struct loader *l, const char *kase, const char *scenario,
					const char *metric, const char *unit)
{
	struct bk_comparison *c = l->c;
	const struct bk_metric_kind *kind = bk_metric_kind(metric);
	struct bk_comparison_row *row;
	size_t i;

	for (i = c->row_count; i-- > 0;) {
		row = &c->rows[i];
		if (strcmp(row->kase, kase) == 0 && strcmp(row->metric, metric) == 0) {
			if (!row->unit[0] && unit)
				row->unit = bk_comparison_keep(l->c, unit);
			return row;
		}
	}
	if (c->row_count == l->row_room) {
		size_t room = l->row_room ? l->row_room * 2 : 32;

		if (c->row_count >= ROWS_MAX)
			return NULL;
		row = realloc(c->rows, room * sizeof(*row));
		if (!row)
			return NULL;
		c->rows = row;
		l->row_room = room;
	}
	row = &c->rows[c->row_count];
	memset(row, 0, sizeof(*row));
	row->cells = bk_arena_alloc(&c->arena, c->variant_count * sizeof(*row->cells));
	if (!row->cells)
		return NULL;
	row->kase = bk_comparison_keep(l->c, kase);
	row->scenario = bk_comparison_keep(l->c, scenario);
	row->metric = bk_comparison_keep(l->c, metric);
	row->unit = unit ? bk_comparison_keep(l->c, unit) : "";
	row->higher_is_better = kind && kind->higher_is_better;
	row->counts = !kind || kind->count;
	c->row_count++;
	return row;
}

static struct bk_comparison_cell *cell_of(struct loader *l, struct bk_comparison_row *row,
					  const char *variant)
{
	struct bk_comparison *c = l->c;
	struct bk_comparison_cell *cell;
	size_t i;
	uint32_t r;

	for (i = 0; i < c->variant_count; i++) {
		if (strcmp(c->variants[i].name, variant) == 0)
			break;
	}
	if (i == c->variant_count)
		return NULL;
	cell = &row->cells[i];
	if (cell->present)
		return cell;
	cell->by_round = bk_arena_alloc(&c->arena, (c->rounds + 1) * sizeof(double));
	if (!cell->by_round)
		return NULL;
	for (r = 0; r < c->rounds; r++)
		cell->by_round[r] = NAN;
	cell->present = true;
	cell->ratio = NAN;
	cell->marks = "";
	return cell;
}

/* What the scenario itself wants seen: its primary metric, and those of its list. */
static bool shown_by_scenario(const char *scenario, const char *metric, const char *primary)
{
	const struct bk_scenario *s = bk_scenario_find(scenario);
	size_t i;

	for (i = 0; s && s->shown && s->shown[i]; i++) {
		if (strcmp(s->shown[i], metric) == 0)
			return true;
	}
	return strcmp(metric, primary) == 0;
}

static bool wanted(const struct loader *l, const char *scenario, const char *metric,
		   const char *primary)
{
	if (!l->metrics)
		return shown_by_scenario(scenario, metric, primary);
	return strcmp(l->metrics, "all") == 0 || bk_list_has(l->metrics, metric);
}

/* 0 variant 1 kase 2 scenario 3 primary 4 marks 5 round 6 status 7 error 8 note 9 metric 10 unit
 * 11 value 12 round trips of a timed read; metric NULL: the trial has none. */
static bk_status on_trial(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct loader *l = ctx;
	bool ok = strcmp(v[6], "ok") == 0;
	const char *metric = ok ? v[9] : v[3];
	struct bk_comparison_row *row;
	struct bk_comparison_cell *cell;
	uint32_t round = (uint32_t)strtoul(v[5], NULL, 10);

	(void)n;
	if (!metric || (ok && !wanted(l, v[2], metric, v[3])))
		return BK_OK;
	row = row_of(l, v[1], v[2], metric, ok ? v[10] : NULL);
	cell = row ? cell_of(l, row, v[0]) : NULL;
	if (!cell)
		return row ? BK_OK : bk_fail(err, BK_NOMEM, 0, "the comparison is too large");
	cell->marks = bk_comparison_keep(l->c, v[4]);
	cell->from_cache = v[12] && strtod(v[12], NULL) == 0;
	if (v[8])
		cell->note = bk_comparison_keep(l->c, v[8]);
	if (ok && round >= 1 && round <= l->c->rounds) {
		cell->by_round[round - 1] = strtod(v[11], NULL);
	} else if (!ok) {
		cell->failed++;
		if (!cell->error) {
			cell->error = bk_comparison_keep(l->c, v[7] ? v[7] : "");
			cell->status = bk_comparison_keep(l->c, v[6]);
		}
	}
	return BK_OK;
}

static bool has_row_of(const struct bk_comparison *c, const char *metric)
{
	size_t i;

	for (i = 0; i < c->row_count; i++) {
		if (strcmp(c->rows[i].metric, metric) == 0)
			return true;
	}
	return false;
}

/* A metric that exists may be absent from this run; a name that is none is a slip of the pen. */
static bk_status check_metrics(const struct loader *l, struct bk_error *err)
{
	const char *p = l->metrics;

	do {
		size_t n = strcspn(p, ",");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", n > 63 ? 63 : (int)n, p);
		if (!bk_metric_kind(name) && !has_row_of(l->c, name))
			return bk_fail(err, BK_NOT_FOUND, 0,
				       "run %lld has no metric '%s'; --metrics all shows every one",
				       (long long)l->c->run, name);
		p += n;
	} while (*p++);
	if (l->c->row_count == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "run %lld has none of the metrics '%s'",
			       (long long)l->c->run, l->metrics);
	return BK_OK;
}

bk_status bk_comparison_rows(struct bk_comparison *c, struct bk_results *results,
			     const char *metrics, struct bk_error *err)
{
	struct loader l = {.c = c, .metrics = metrics};
	bk_status st = bk_results_query(
		results,
		"SELECT c.variant, c.kase, c.scenario, c.primary_metric, c.marks,"
		" t.round, t.status, t.error, t.note, m.name, m.unit, m.value,"
		" (SELECT value FROM metric r WHERE r.trial = t.id"
		" AND r.name = 'round_trips')"
		" FROM cell c JOIN trial t ON t.cell = c.id"
		" LEFT JOIN metric m ON m.trial = t.id AND t.status = 'ok' WHERE c.run = ?"
		" ORDER BY c.position, m.name <> c.primary_metric, m.name, t.round",
		c->run, on_trial, &l, err);

	if (st >= 0 && metrics && strcmp(metrics, "all") != 0)
		st = check_metrics(&l, err);
	return st;
}
