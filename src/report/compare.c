/*
 * compare.c - a run's rows from the results file, as a table in memory.
 */
#include "report/compare.h"

#include "report/compare_rows.h"
#include "util/buf.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- The run and its variants ---------------------------------------------------------- */

static bk_status on_run(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct bk_comparison *c = ctx;
	unsigned long rounds = strtoul(v[8], NULL, 10);

	(void)n;
	if (rounds < 1 || rounds > BK_ROUNDS_MAX)
		return bk_fail(err, BK_INVALID, 0, "run %lld is damaged: it says to have %s rounds",
			       (long long)c->run, v[8]);
	c->matrix = bk_comparison_keep(c, v[0]);
	c->started = bk_comparison_keep(c, v[1]);
	c->status = bk_comparison_keep(c, v[2]);
	c->note = bk_comparison_keep(c, v[3]);
	c->durability = bk_comparison_keep(c, v[4]);
	c->seed = bk_comparison_keep(c, v[5]);
	c->host = bk_comparison_keep(c, v[6]);
	c->version = bk_comparison_keep(c, v[7]);
	c->rounds = (uint32_t)rounds;
	return BK_OK;
}

/* Two variants on one backend differ by what was chosen: "layout=document". */
static void put_chosen(struct bk_buf *buf, json_t *root)
{
	json_t *options = json_object_get(root, "options"), *name;
	const char *sep = " with ";
	size_t i;

	json_array_foreach(json_object_get(root, "chosen"), i, name)
	{
		const char *key = json_string_value(name);
		const char *value = key ? json_string_value(json_object_get(options, key)) : NULL;

		if (!value)
			continue;
		bk_buf_putf(buf, "%s%s=%s", sep, key, value);
		sep = " ";
	}
}

/* "BACKEND (PRODUCT VERSION) with OPTION=VALUE": the backend, the product that answered behind it,
 * what was chosen. */
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
	put_chosen(buf, root);
	json_decref(root);
}

static bk_status on_variant(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct bk_comparison *c = ctx;
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
	out->name = bk_comparison_keep(c, v[0]);
	put_product(&product, v[1]);
	if (v[2]) {
		bk_buf_puts(&product, " + ");
		put_product(&product, v[2]);
	}
	out->product = bk_comparison_keep(c, bk_buf_str(&product));
	bk_buf_free(&product);
	return BK_OK;
}

struct reference {
	struct bk_comparison *c;
	const char *name;
};

static bk_status on_reference(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct reference *r = ctx;

	(void)n;
	(void)err;
	r->name = bk_comparison_keep(r->c, v[0]);
	return BK_OK;
}

static bk_status find_reference(struct bk_comparison *c, struct bk_results *results,
				const char *wanted_name, struct bk_error *err)
{
	struct reference r = {.c = c, .name = wanted_name};
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

/* ---- Figures ----------------------------------------------------------------------------- */

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

/* ---- The whole ------------------------------------------------------------------------- */

bk_status bk_comparison_load(struct bk_comparison *out, struct bk_results *results, int64_t run,
			     const char *reference, const char *metrics, struct bk_error *err)
{
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->run = run;
	st = bk_results_query(
		results,
		"SELECT matrix, started, status, note, durability, seed, host, version,"
		" rounds FROM run WHERE id = ?",
		run, on_run, out, err);
	/* a variant whose stores never opened has no row of its own, but its cells have */
	if (st >= 0)
		st = bk_results_query(
			results,
			"SELECT c.variant, v.nodes, v.binaries FROM"
			" (SELECT variant, run, min(id) AS first FROM cell WHERE run = ?"
			" GROUP BY variant) c LEFT JOIN variant v"
			" ON v.run = c.run AND v.name = c.variant"
			" ORDER BY v.position IS NULL, v.position, c.first",
			run, on_variant, out, err);
	if (st >= 0)
		st = find_reference(out, results, reference, err);
	if (st >= 0)
		st = bk_comparison_rows(out, results, metrics, err);
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
