/*
 * compare_data.c - a comparison as CSV or JSON.
 */
#include "report/compare_print.h"

#include "report/csv.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

static void csv_number(FILE *out, double value)
{
	if (!isnan(value))
		fprintf(out, "%.9g", value);
}

void bk_comparison_csv(FILE *out, const struct bk_comparison *c)
{
	size_t i, k;

	fputs("case,metric,unit,variant,rounds_ok,rounds_failed,median,min,max,ratio,reference,marks,"
	      "error\n",
	      out);
	for (i = 0; i < c->row_count; i++) {
		const struct bk_comparison_row *row = &c->rows[i];

		for (k = 0; k < c->variant_count; k++) {
			const struct bk_comparison_cell *cell = &row->cells[k];

			if (!cell->present)
				continue;
			bk_csv_field(out, row->kase);
			fputc(',', out);
			bk_csv_field(out, row->metric);
			fputc(',', out);
			bk_csv_field(out, row->unit);
			fputc(',', out);
			bk_csv_field(out, c->variants[k].name);
			fprintf(out, ",%zu,%" PRIu32 ",", cell->summary.n, cell->failed);
			csv_number(out, cell->summary.median);
			fputc(',', out);
			csv_number(out, cell->summary.min);
			fputc(',', out);
			csv_number(out, cell->summary.max);
			fputc(',', out);
			csv_number(out, cell->ratio);
			fputc(',', out);
			bk_csv_field(out, c->variants[c->reference].name);
			fputc(',', out);
			bk_csv_field(out, cell->marks);
			fputc(',', out);
			bk_csv_field(out, cell->error ? cell->error : "");
			fputc('\n', out);
		}
	}
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *cell_json(const struct bk_comparison *c, const struct bk_comparison_cell *cell)
{
	json_t *values = json_array(), *o = json_object();
	uint32_t r;

	for (r = 0; r < c->rounds; r++)
		json_array_append_new(values, number(cell->by_round[r]));
	json_object_set_new(o, "median", number(cell->summary.median));
	json_object_set_new(o, "min", number(cell->summary.min));
	json_object_set_new(o, "max", number(cell->summary.max));
	json_object_set_new(o, "ratio", number(cell->ratio));
	json_object_set_new(o, "rounds_ok", json_integer((json_int_t)cell->summary.n));
	json_object_set_new(o, "rounds_failed", json_integer(cell->failed));
	json_object_set_new(o, "marks", json_string(cell->marks));
	json_object_set_new(o, "from_cache", json_boolean(cell->from_cache));
	json_object_set_new(o, "error", cell->error ? json_string(cell->error) : json_null());
	json_object_set_new(o, "by_round", values);
	return o;
}

void bk_comparison_json(FILE *out, const struct bk_comparison *c)
{
	json_t *root = json_object(), *variants = json_object(), *rows = json_array();
	size_t i, k;

	for (i = 0; i < c->variant_count; i++)
		json_object_set_new(variants, c->variants[i].name,
				    json_string(c->variants[i].product));
	for (i = 0; i < c->row_count; i++) {
		const struct bk_comparison_row *row = &c->rows[i];
		json_t *o =
			json_pack("{s:s, s:s, s:s, s:b}", "case", row->kase, "metric", row->metric,
				  "unit", row->unit, "higher_is_better", row->higher_is_better);
		json_t *cells = json_object();

		for (k = 0; k < c->variant_count; k++) {
			if (row->cells[k].present)
				json_object_set_new(cells, c->variants[k].name,
						    cell_json(c, &row->cells[k]));
		}
		json_object_set_new(o, "variants", cells);
		json_array_append_new(rows, o);
	}
	json_object_set_new(root, "run", json_integer(c->run));
	json_object_set_new(root, "matrix", json_string(c->matrix));
	json_object_set_new(root, "status", json_string(c->status));
	json_object_set_new(root, "durability", json_string(c->durability));
	json_object_set_new(root, "rounds", json_integer(c->rounds));
	json_object_set_new(root, "reference",
			    c->variant_count ? json_string(c->variants[c->reference].name)
					     : json_null());
	json_object_set_new(root, "host", json_loads(c->host, 0, NULL));
	json_object_set_new(root, "variants", variants);
	json_object_set_new(root, "rows", rows);
	json_dumpf(root, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	fputc('\n', out);
	json_decref(root);
}
