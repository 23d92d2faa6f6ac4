/*
 * dump_json.c - a run as one JSON document: the tables of the results file, nested.
 */
#include "report/dump.h"

#include <bakeoff/backend_util.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a column's text becomes a value. */
enum kind { TEXT, NUMBER, JSON };

struct column {
	const char *name;
	enum kind kind;
};

struct rows { /* a query's rows, as objects in a list */
	const struct column *columns;
	json_t *list;
};

/* A count is written as one: 301, not 301.0. */
static json_t *number_of(double value)
{
	if (value == floor(value) && fabs(value) < 9007199254740992.0) /* 2^53 */
		return json_integer((json_int_t)value);
	return json_real(value);
}

/* The same for all within: text that SQLite or an earlier program wrote.  Takes `v` over. */
static json_t *counts_of(json_t *v)
{
	const char *key;
	json_t *item;
	size_t i;
	void *next;

	if (json_is_real(v)) {
		item = number_of(json_real_value(v));
		json_decref(v);
		return item;
	}
	json_array_foreach(v, i, item)
	{
		json_array_set_new(v, i, counts_of(json_incref(item)));
	}
	json_object_foreach_safe(v, next, key, item)
	{
		json_object_set_new(v, key, counts_of(json_incref(item)));
	}
	return v;
}

static json_t *value_of(const char *text, enum kind kind)
{
	json_t *v = NULL;

	if (!text)
		return json_null();
	if (kind == NUMBER)
		v = number_of(strtod(text, NULL));
	else if (kind == JSON)
		v = counts_of(json_loads(text, JSON_DECODE_ANY, NULL));
	return v ? v : json_string(text);
}

static bk_status add_row(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct rows *rows = ctx;
	json_t *o = json_object();
	int i;

	for (i = 0; i < n; i++)
		json_object_set_new(o, rows->columns[i].name,
				    value_of(v[i], rows->columns[i].kind));
	return json_array_append_new(rows->list, o) == 0
		       ? BK_OK
		       : bk_fail(err, BK_NOMEM, 0, "out of memory");
}

static bk_status table(json_t **out, struct bk_results *results, int64_t run, const char *sql,
		       const struct column *columns, struct bk_error *err)
{
	struct rows rows = {columns, json_array()};
	bk_status st = bk_results_query(results, sql, run, add_row, &rows, err);

	*out = rows.list;
	return st;
}

/* Rows of metric, series, histogram and failure go to the trial they belong to. */
struct details {
	json_t *by_id; /* trial id -> object, borrowed */
	const char *member;
};

static bk_status add_detail(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	struct details *d = ctx;
	json_t *trial = json_object_get(d->by_id, v[0]), *member, *value;

	(void)err;
	if (!trial)
		return BK_OK;
	member = json_object_get(trial, d->member);
	if (!member) {
		member = json_object();
		json_object_set_new(trial, d->member, member);
	}
	if (n == 4)
		value = json_pack("{s:s, s:o}", "unit", v[2], "value", value_of(v[3], JSON));
	else
		value = strcmp(d->member, "failures") == 0 ? value_of(v[2], NUMBER)
							   : json_string(v[2]);
	json_object_set_new(member, v[1], value);
	return BK_OK;
}

static bk_status add_details(struct bk_results *results, int64_t run, json_t *by_id,
			     struct bk_error *err)
{
	static const struct {
		const char *member, *sql;
	} kinds[] = {
		{"metrics", "SELECT m.trial, m.name, m.unit, m.value FROM metric m"},
		{"series", "SELECT m.trial, m.name, m.unit, m.data FROM series m"},
		{"histograms", "SELECT m.trial, m.name, m.data FROM histogram m"},
		{"failures", "SELECT m.trial, m.status, m.count FROM failure m"},
	};
	bk_status st = BK_OK;
	char sql[300];
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && st >= 0; i++) {
		struct details d = {.by_id = by_id, .member = kinds[i].member};

		snprintf(sql, sizeof(sql),
			 "%s JOIN trial t ON t.id = m.trial JOIN cell c ON c.id = t.cell"
			 " WHERE c.run = ?",
			 kinds[i].sql);
		st = bk_results_query(results, sql, run, add_detail, &d, err);
	}
	return st;
}

static bk_status trials(json_t **out, struct bk_results *results, int64_t run, struct bk_error *err)
{
	static const struct column columns[] = {
		{"id", TEXT},       {"cell", TEXT},       {"variant", TEXT},   {"case", TEXT},
		{"scenario", TEXT}, {"params", JSON},     {"primary", TEXT},   {"marks", TEXT},
		{"round", NUMBER},  {"position", NUMBER}, {"started", NUMBER}, {"seconds", NUMBER},
		{"status", TEXT},   {"error", TEXT},      {"note", TEXT}};
	json_t *by_id = json_object(), *trial;
	bk_status st;
	size_t i;

	st = table(out, results, run,
		   "SELECT t.id, c.name, c.variant, c.kase, c.scenario, c.params, c.primary_metric,"
		   " c.marks, t.round, t.position, t.started, t.seconds, t.status, t.error, t.note"
		   " FROM cell c JOIN trial t ON t.cell = c.id WHERE c.run = ? ORDER BY t.position",
		   columns, err);
	json_array_foreach(*out, i, trial)
	{
		json_object_set(by_id, json_string_value(json_object_get(trial, "id")), trial);
	}
	if (st >= 0)
		st = add_details(results, run, by_id, err);
	json_array_foreach(*out, i, trial)
	{
		json_object_del(trial, "id");
	}
	json_decref(by_id);
	return st;
}

bk_status bk_dump_json(FILE *out, struct bk_results *results, int64_t run, struct bk_error *err)
{
	static const struct column run_columns[] = {
		{"run", NUMBER},    {"matrix", TEXT}, {"matrix_path", TEXT}, {"matrix_text", TEXT},
		{"started", TEXT},  {"ended", TEXT},  {"status", TEXT},      {"note", TEXT},
		{"rounds", NUMBER}, {"seed", TEXT},   {"durability", TEXT},  {"reference", TEXT},
		{"version", TEXT},  {"host", JSON}};
	static const struct column variant_columns[] = {
		{"position", NUMBER}, {"name", TEXT}, {"nodes", JSON}, {"binaries", JSON}};
	static const struct column dataset_columns[] = {
		{"variant", TEXT},          {"key", TEXT},   {"round", NUMBER},
		{"status", TEXT},           {"error", TEXT}, {"load_seconds", NUMBER},
		{"settle_seconds", NUMBER}, {"settle", TEXT}};
	json_t *runs = NULL, *variants = NULL, *datasets = NULL, *list = NULL, *root;
	bk_status st;

	st = table(
		&runs, results, run,
		"SELECT id, matrix, matrix_path, matrix_text, started, ended, status, note, rounds,"
		" seed, durability, reference, version, host FROM run WHERE id = ?",
		run_columns, err);
	if (st >= 0)
		st = table(&variants, results, run,
			   "SELECT position, name, nodes, binaries FROM variant WHERE run = ?"
			   " ORDER BY position",
			   variant_columns, err);
	if (st >= 0)
		st = table(
			&datasets, results, run,
			"SELECT variant, key, round, status, error, load_seconds, settle_seconds,"
			" settle FROM dataset WHERE run = ?",
			dataset_columns, err);
	if (st >= 0)
		st = trials(&list, results, run, err);
	if (st >= 0) {
		root = json_incref(json_array_get(runs, 0));
		json_object_set_new(root, "schema", json_integer(BK_RESULTS_SCHEMA));
		json_object_set(root, "variants", variants);
		json_object_set(root, "datasets", datasets);
		json_object_set(root, "trials", list);
		json_dumpf(root, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		fputc('\n', out);
		json_decref(root);
	}
	json_decref(runs);
	json_decref(variants);
	json_decref(datasets);
	json_decref(list);
	return st;
}
