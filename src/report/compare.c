/*
 * compare.c - a run's rows from the results file, as a table in memory.
 */
#include "report/compare.h"

#include "scenario/scenario.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 20000u

bool bk_format_parse(enum bk_format *out, const char *text)
{
	static const char *const names[] = {"table", "md", "csv", "json"};
	size_t i;

	for (i = 0; i < 4; i++) {
		if (strcmp(names[i], text) == 0) {
			*out = (enum bk_format)i;
			return true;
		}
	}
	return false;
}

struct loader {
	struct bk_comparison *c;
	const char *metrics;
	size_t row_room;
};

static const char *keep(struct loader *l, const char *text)
{
	return text ? bk_arena_strdup(&l->c->arena, text) : NULL;
}

static bk_status on_run(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct loader *l = ctx;
	struct bk_comparison *c = l->c;

	unsigned long rounds = strtoul(v[8], NULL, 10);

	(void)n;
	if (rounds < 1 || rounds > BK_ROUNDS_MAX)
		return bk_fail(err, BK_INVALID, 0, "run %lld is damaged: it says to have %s rounds",
			       (long long)c->run, v[8]);
	c->matrix = keep(l, v[0]);
	c->started = keep(l, v[1]);
	c->status = keep(l, v[2]);
	c->note = keep(l, v[3]);
	c->durability = keep(l, v[4]);
	c->seed = keep(l, v[5]);
	c->host = keep(l, v[6]);
	c->version = keep(l, v[7]);
	c->rounds = (uint32_t)rounds;
	return BK_OK;
}

/* "BACKEND (PRODUCT VERSION)": the backend, and the product that answered behind it. */
static void put_product(struct bk_buf *buf, const char *json)
{
	json_t *root = json ? json_loads(json, 0, NULL) : NULL;
	json_t *identity = json_object_get(root, "identity");
	const char *backend = json_string_value(json_object_get(root, "backend"));
	const char *product = json_string_value(json_object_get(identity, "server.product"));
	const char *version = json_string_value(json_object_get(identity, "server.version"));

	if (!product)
		product = json_string_value(json_object_get(identity, "product"));
	if (!version)
		version = json_string_value(json_object_get(identity, "version"));
	if (version && strcmp(version, "unsupported") == 0) /* the server does not say */
		version = NULL;
	if (backend)
		bk_buf_puts(buf, backend);
	if (product || version)
		bk_buf_putf(buf, " (%s%s%s)", product ? product : "", product && version ? " " : "",
			    version ? version : "");
	json_decref(root);
}

static bk_status on_variant(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct loader *l = ctx;
	struct bk_comparison *c = l->c;
	struct bk_compared_variant *out, *larger;
	struct bk_buf product = BK_BUF_INIT;

	(void)n;
	larger = bk_arena_alloc(&c->arena, (c->variant_count + 1) * sizeof(*larger));
	if (!larger)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (c->variant_count)
		memcpy(larger, c->variants, c->variant_count * sizeof(*larger));
	c->variants = larger;
	out = &c->variants[c->variant_count++];
	out->name = keep(l, v[0]);
	put_product(&product, v[1]);
	if (v[2]) {
		bk_buf_puts(&product, " + ");
		put_product(&product, v[2]);
	}
	out->product = keep(l, bk_buf_str(&product));
	bk_buf_free(&product);
	return BK_OK;
}

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
				row->unit = keep(l, unit);
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
	row->kase = keep(l, kase);
	row->scenario = keep(l, scenario);
	row->metric = keep(l, metric);
	row->unit = unit ? keep(l, unit) : "";
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
	const char *p = l->metrics;
	size_t len = strlen(metric);

	if (!p)
		return shown_by_scenario(scenario, metric, primary);
	if (strcmp(p, "all") == 0)
		return true;
	while (*p) {
		size_t n = strcspn(p, ",");

		if (n == len && strncmp(p, metric, n) == 0)
			return true;
		p += n + (p[n] == ',');
	}
	return false;
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
	cell->marks = keep(l, v[4]);
	cell->from_cache = v[12] && strtod(v[12], NULL) == 0;
	if (v[8])
		cell->note = keep(l, v[8]);
	if (ok && round >= 1 && round <= l->c->rounds) {
		cell->by_round[round - 1] = strtod(v[11], NULL);
	} else if (!ok) {
		cell->failed++;
		if (!cell->error) {
			cell->error = keep(l, v[7] ? v[7] : "");
			cell->status = keep(l, v[6]);
		}
	}
	return BK_OK;
}

static double ratio_of(const struct bk_comparison *c, const struct bk_comparison_cell *cell,
		       const struct bk_comparison_cell *reference)
{
	double *ratios = malloc((c->rounds + 1) * sizeof(double)), ratio = NAN;
	size_t n = 0;
	uint32_t r;

	for (r = 0; ratios && r < c->rounds; r++) {
		double y = cell->by_round[r], yref = reference->by_round[r];

		if (!isnan(y) && !isnan(yref) && yref != 0)
			ratios[n++] = y / yref;
	}
	if (n)
		ratio = bk_summary_of(ratios, n).median;
	free(ratios);
	return ratio;
}

static void summarise(struct bk_comparison *c)
{
	size_t i, k;

	for (i = 0; i < c->row_count; i++) {
		struct bk_comparison_row *row = &c->rows[i];
		struct bk_comparison_cell *ref = &row->cells[c->reference];

		for (k = 0; k < c->variant_count; k++) {
			struct bk_comparison_cell *cell = &row->cells[k];
			double *done =
				cell->present ? malloc((c->rounds + 1) * sizeof(double)) : NULL;
			size_t n = 0;
			uint32_t r;

			for (r = 0; done && r < c->rounds; r++) {
				if (!isnan(cell->by_round[r]))
					done[n++] = cell->by_round[r];
			}
			if (done)
				cell->summary = bk_summary_of(done, n);
			if (done && ref->present && k != c->reference && !row->counts)
				cell->ratio = ratio_of(c, cell, ref);
			free(done);
		}
	}
}

struct reference {
	struct loader *l;
	const char *name;
};

static bk_status on_reference(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct reference *r = ctx;

	(void)n;
	(void)err;
	r->name = keep(r->l, v[0]);
	return BK_OK;
}

static bk_status find_reference(struct loader *l, struct bk_results *results,
				const char *wanted_name, struct bk_error *err)
{
	struct bk_comparison *c = l->c;
	struct reference r = {.l = l, .name = wanted_name};
	struct bk_suggest suggest;
	bk_status st = BK_OK;
	size_t i;

	if (!wanted_name)
		st = bk_results_query(results, "SELECT reference FROM run WHERE id = ?", c->run,
				      on_reference, &r, err);
	for (i = 0; st >= 0 && i < c->variant_count; i++) {
		if (r.name && strcmp(c->variants[i].name, r.name) == 0) {
			c->reference = i;
			return BK_OK;
		}
	}
	/* the run's own reference may have been left out by --only */
	if (st < 0 || !wanted_name)
		return st;
	bk_suggest_init(&suggest, wanted_name);
	for (i = 0; i < c->variant_count; i++)
		bk_suggest_offer(&suggest, c->variants[i].name);
	return bk_fail(err, BK_INVALID, 0, "run %lld has no variant '%s'%s%s%s", (long long)c->run,
		       wanted_name, suggest.best ? "; did you mean '" : "",
		       suggest.best ? suggest.best : "", suggest.best ? "'?" : "");
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

bk_status bk_comparison_load(struct bk_comparison *out, struct bk_results *results, int64_t run,
			     const char *reference, const char *metrics, struct bk_error *err)
{
	struct loader l = {.c = out, .metrics = metrics};
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->run = run;
	st = bk_results_query(
		results,
		"SELECT matrix, started, status, note, durability, seed, host, version,"
		" rounds FROM run WHERE id = ?",
		run, on_run, &l, err);
	/* a variant whose stores never opened has no row of its own, but its cells have */
	if (st >= 0)
		st = bk_results_query(
			results,
			"SELECT c.variant, v.nodes, v.binaries FROM"
			" (SELECT variant, run, min(id) AS first FROM cell WHERE run = ?"
			" GROUP BY variant) c LEFT JOIN variant v"
			" ON v.run = c.run AND v.name = c.variant"
			" ORDER BY v.position IS NULL, v.position, c.first",
			run, on_variant, &l, err);
	if (st >= 0)
		st = find_reference(&l, results, reference, err);
	if (st >= 0)
		st = bk_results_query(
			results,
			"SELECT c.variant, c.kase, c.scenario, c.primary_metric, c.marks,"
			" t.round, t.status, t.error, t.note, m.name, m.unit, m.value,"
			" (SELECT value FROM metric r WHERE r.trial = t.id"
			" AND r.name = 'round_trips')"
			" FROM cell c JOIN trial t ON t.cell = c.id"
			" LEFT JOIN metric m ON m.trial = t.id AND t.status = 'ok' WHERE c.run = ?"
			" ORDER BY c.position, m.name <> c.primary_metric, m.name, t.round",
			run, on_trial, &l, err);
	if (st >= 0 && metrics && strcmp(metrics, "all") != 0)
		st = check_metrics(&l, err);
	if (st < 0) {
		bk_comparison_free(out);
		return st;
	}
	summarise(out);
	return BK_OK;
}

void bk_comparison_free(struct bk_comparison *c)
{
	free(c->rows);
	bk_arena_free(&c->arena);
	memset(c, 0, sizeof(*c));
}

bk_status bk_compare_run(FILE *out, struct bk_results *results, int64_t run, const char *reference,
			 enum bk_format format, struct bk_error *err)
{
	struct bk_comparison c;
	bk_status st = bk_comparison_load(&c, results, run, reference, NULL, err);

	if (st < 0)
		return st;
	bk_comparison_print(out, &c, format);
	bk_comparison_free(&c);
	return BK_OK;
}
