/*
 * dump.c - rows of the results file as text and CSV.
 */
#include "report/dump.h"

#include "report/csv.h"
#include "report/progress.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *or_dash(const char *text)
{
	return text && *text ? text : "-";
}

static bk_status print_run(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	FILE *out = ctx;

	(void)n;
	(void)err;
	fprintf(out, "%4s  %-20s  %-11s  %-20s  %6s  %6s  %6s  %s\n", v[0], v[1], v[2], v[3], v[4],
		v[5], v[6], v[7] ? v[7] : "");
	return BK_OK;
}

bk_status bk_dump_runs(FILE *out, struct bk_results *results, struct bk_error *err)
{
	fprintf(out, "%4s  %-20s  %-11s  %-20s  %6s  %6s  %6s  %s\n", "run", "started", "status",
		"matrix", "rounds", "ok", "failed", "note");
	return bk_results_query(
		results,
		"SELECT r.id, r.started, r.status, r.matrix, r.rounds,"
		" coalesce(sum(t.status = 'ok'), 0), coalesce(sum(t.status <> 'ok'), 0), r.note"
		" FROM run r LEFT JOIN cell c ON c.run = r.id LEFT JOIN trial t ON t.cell = c.id"
		" GROUP BY r.id ORDER BY r.id",
		0, print_run, out, err);
}

/* ---- show ------------------------------------------------------------------------------ */

static bk_status print_head(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	static const char *const labels[] = {
		"run",    "matrix", "file",       "started",   "ended",   "status", "note",
		"rounds", "seed",   "durability", "reference", "bakeoff", "host"};
	FILE *out = ctx;
	int i;

	(void)err;
	for (i = 0; i < n; i++)
		fprintf(out, "%-11s %s\n", labels[i], or_dash(v[i]));
	return BK_OK;
}

static void print_store(FILE *out, const char *half, const char *json)
{
	json_t *root = json ? json_loads(json, 0, NULL) : NULL, *value;
	const char *key;
	size_t i;

	if (!root)
		return;
	fprintf(out, "  %-9s %s %s\n", half, json_string_value(json_object_get(root, "backend")),
		json_string_value(json_object_get(root, "version")));
	fprintf(out, "    options ");
	json_object_foreach(json_object_get(root, "options"), key, value) if (json_is_string(value))
		fprintf(out, " %s=%s", key, json_string_value(value));
	fputc('\n', out);
	json_object_foreach(root, key, value)
	{
		json_t *feature;

		if (!json_is_array(value) || !json_array_size(value))
			continue;
		fprintf(out, "    %-8s", key);
		json_array_foreach(value, i, feature)
			fprintf(out, " %s", json_string_value(feature));
		fputc('\n', out);
	}
	json_decref(root);
}

static bk_status print_variant(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	FILE *out = ctx;

	(void)n;
	(void)err;
	fprintf(out, "%s\n", v[0]);
	print_store(out, "nodes", v[1]);
	print_store(out, "binaries", v[2]);
	return BK_OK;
}

static bk_status print_dataset(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	FILE *out = ctx;

	(void)n;
	(void)err;
	fprintf(out, "%s  round %s  loaded %.2f s, settled %.2f s (%s)%s%s\n", v[0], v[1],
		strtod(v[2], NULL), strtod(v[3], NULL), or_dash(v[4]), v[5] ? "  FAILED: " : "",
		v[5] ? v[5] : "");
	return BK_OK;
}

static bk_status print_trial(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	char figure[BK_FIGURE_MAX] = "";
	FILE *out = ctx;

	(void)n;
	(void)err;
	if (v[5])
		bk_figure_format(figure, strtod(v[5], NULL), v[6]);
	fprintf(out, "%5s  round %s  %s  %-7s %12s  %7.2f s%s%s%s%s\n", v[0], v[1], v[2], v[3],
		figure, strtod(v[4], NULL), v[7] ? "  " : "", v[7] ? v[7] : "", v[8] ? "  " : "",
		v[8] ? v[8] : "");
	return BK_OK;
}

bk_status bk_dump_show(FILE *out, struct bk_results *results, int64_t run, struct bk_error *err)
{
	static const struct {
		const char *title, *sql;
		bk_status (*print)(void *, const char *const *, int, struct bk_error *);
	} parts[] = {
		{NULL,
		 "SELECT id, matrix, matrix_path, started, ended, status, note, rounds, seed,"
		 " durability, reference, version, host FROM run WHERE id = ?",
		 print_head},
		{"variants",
		 "SELECT name, nodes, binaries FROM variant WHERE run = ? ORDER BY position",
		 print_variant},
		{"data sets",
		 "SELECT printf('%-*s', (SELECT max(length(variant || '/' || key)) FROM dataset"
		 " WHERE run = ?1), variant || '/' || key), round, load_seconds, settle_seconds, settle, error"
		 " FROM dataset WHERE run = ?1 ORDER BY variant, key, round",
		 print_dataset},
		{"trials, in the order in which they ran",
		 "SELECT t.position, t.round, printf('%-*s', (SELECT max(length(name)) FROM cell"
		 " WHERE run = ?1), c.name), t.status, t.seconds, m.value, m.unit, t.error,"
		 " t.note FROM cell c JOIN trial t ON t.cell = c.id LEFT JOIN metric m"
		 " ON m.trial = t.id AND m.name = c.primary_metric WHERE c.run = ?1"
		 " ORDER BY t.position",
		 print_trial},
	};
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && st >= 0; i++) {
		if (parts[i].title)
			fprintf(out, "\n%s\n", parts[i].title);
		st = bk_results_query(results, parts[i].sql, run, parts[i].print, out, err);
	}
	return st;
}

/* ---- CSV -------------------------------------------------------------------------------- */

static bk_status print_csv(void *ctx, const char *const *v, int n, struct bk_error *err)
{
	FILE *out = ctx;
	int i;

	(void)err;
	for (i = 0; i < n; i++) {
		if (i)
			fputc(',', out);
		bk_csv_field(out, v[i]);
	}
	fputs("\r\n", out);
	return BK_OK;
}

bk_status bk_dump_csv(FILE *out, struct bk_results *results, int64_t run, struct bk_error *err)
{
	fputs("run,variant,case,scenario,round,position,status,seconds,error,note,marks,metric,unit,"
	      "value\r\n",
	      out);
	return bk_results_query(
		results,
		"SELECT c.run, c.variant, c.kase, c.scenario, t.round, t.position,"
		" t.status, t.seconds, t.error, t.note, c.marks, m.name, m.unit, m.value"
		" FROM cell c JOIN trial t ON t.cell = c.id"
		" LEFT JOIN metric m ON m.trial = t.id WHERE c.run = ?"
		" ORDER BY t.position, m.name",
		run, print_csv, out, err);
}
