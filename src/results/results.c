/*
 * results.c - writing the results file.
 */
#include "results/file.h"

#include "util/buf.h"

#include <bakeoff/backend_util.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bk_trial_writer {
	struct bk_results *results;
	int64_t trial;
};

bk_status bk_results_sql_fail(struct bk_results *r, const char *doing, struct bk_error *err)
{
	int code = sqlite3_extended_errcode(r->db);
	bk_status st = BK_IO;

	if ((code & 0xff) == SQLITE_FULL)
		st = BK_NO_SPACE;
	else if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
		st = BK_UNAVAILABLE;
	return bk_fail(err, st, code, "cannot %s in the results file '%s': %s", doing, r->path,
		       sqlite3_errmsg(r->db));
}

bk_status bk_results_sql(struct bk_results *r, const char *sql, const char *doing,
			 struct bk_error *err)
{
	if (sqlite3_exec(r->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return bk_results_sql_fail(r, doing, err);
	return BK_OK;
}

/* ---- Writing -------------------------------------------------------------------------- */

/* Bound in order by a letter each: i int64, u uint32, t text (or NULL), d double, n uint64 as text
 * (SQLite's integers have a sign). */
static bk_status insert(struct bk_results *r, const char *doing, struct bk_error *err,
			const char *sql, const char *types, ...)
{
	sqlite3_stmt *s = NULL;
	char number[24];
	bk_status st = BK_OK;
	va_list ap;
	int i, rc;

	if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
		return bk_results_sql_fail(r, doing, err);
	va_start(ap, types);
	for (i = 0; types[i]; i++) {
		const char *text;

		switch (types[i]) {
		case 'i':
			sqlite3_bind_int64(s, i + 1, va_arg(ap, int64_t));
			break;
		case 'u':
			sqlite3_bind_int64(s, i + 1, va_arg(ap, uint32_t));
			break;
		case 'd':
			sqlite3_bind_double(s, i + 1, va_arg(ap, double));
			break;
		case 'n':
			snprintf(number, sizeof(number), "%llu",
				 (unsigned long long)va_arg(ap, uint64_t));
			sqlite3_bind_text(s, i + 1, number, -1, SQLITE_TRANSIENT);
			break;
		default:
			text = va_arg(ap, const char *);
			if (text)
				sqlite3_bind_text(s, i + 1, text, -1, SQLITE_TRANSIENT);
		}
	}
	va_end(ap);
	rc = sqlite3_step(s);
	if (rc != SQLITE_DONE)
		st = bk_results_sql_fail(r, doing, err);
	sqlite3_finalize(s);
	return st;
}

#define NOW "strftime('%Y-%m-%dT%H:%M:%SZ','now')"

bk_status bk_results_run_begin(int64_t *run, struct bk_results *r, const struct bk_run_row *row,
			       struct bk_error *err)
{
	bk_status st =
		insert(r, "record the run", err,
		       "INSERT INTO run(started, status, matrix, matrix_path, matrix_text, note,"
		       " version, host, reference, durability, seed, rounds)"
		       " VALUES(" NOW ", 'running', ?,?,?,?,?,?,?,?,?,?)",
		       "ttttttttnu", row->matrix_name, row->matrix_path, row->matrix_text,
		       row->note, row->version, row->host_json, row->reference, row->durability,
		       row->seed, row->rounds);

	if (st >= 0)
		*run = sqlite3_last_insert_rowid(r->db);
	return st;
}

const char *bk_results_file(struct bk_results *r)
{
	return sqlite3_db_filename(r->db, "main");
}

bk_status bk_results_run_cut(struct bk_results *r, int64_t run, struct bk_error *err)
{
	return insert(r, "close a run that was killed", err,
		      "UPDATE run SET status = 'killed' WHERE id = ? AND status = 'running'", "i",
		      run);
}

bk_status bk_results_run_end(struct bk_results *r, int64_t run, const char *status,
			     struct bk_error *err)
{
	return insert(r, "end the run", err,
		      "UPDATE run SET ended = " NOW ", status = ? WHERE id = ?", "ti", status, run);
}

bk_status bk_results_variant(struct bk_results *r, int64_t run, const struct bk_variant_row *row,
			     struct bk_error *err)
{
	return insert(r, "record a variant", err,
		      "INSERT OR REPLACE INTO variant(run, position, name, nodes, binaries)"
		      " VALUES(?,?,?,?,?)",
		      "iuttt", run, row->position, row->name, row->nodes_json, row->binaries_json);
}

bk_status bk_results_cell(int64_t *cell, struct bk_results *r, int64_t run,
			  const struct bk_cell_row *row, struct bk_error *err)
{
	bk_status st = insert(r, "record a cell", err,
			      "INSERT INTO cell(run, variant, name, kase, scenario, params,"
			      " primary_metric, marks, position) VALUES(?,?,?,?,?,?,?,?,?)",
			      "itttttttu", run, row->variant, row->name, row->kase, row->scenario,
			      row->params_json, row->primary, row->marks, row->position);

	if (st >= 0)
		*cell = sqlite3_last_insert_rowid(r->db);
	return st;
}

bk_status bk_results_dataset(struct bk_results *r, int64_t run, const struct bk_dataset_row *row,
			     struct bk_error *err)
{
	return insert(r, "record a data set", err,
		      "INSERT INTO dataset(run, variant, key, round, status, error, load_seconds,"
		      " settle_seconds, settle) VALUES(?,?,?,?,?,?,?,?,?)",
		      "ittuttddt", run, row->variant, row->key, row->round, row->status, row->error,
		      row->load_seconds, row->settle_seconds, row->settle);
}

bk_status bk_results_trial(struct bk_results *r, const struct bk_trial_row *row,
			   bk_status (*add)(void *ctx, struct bk_trial_writer *w,
					    struct bk_error *err),
			   void *ctx, struct bk_error *err)
{
	struct bk_trial_writer w = {.results = r};
	bk_status st = bk_results_sql(r, "BEGIN IMMEDIATE", "record a trial", err);

	if (st < 0)
		return st;
	st = insert(
		r, "record a trial", err,
		"INSERT INTO trial(cell, round, position, started, seconds, status, error, note)"
		" VALUES(?,?,?,?,?,?,?,?)",
		"iuuddttt", row->cell, row->round, row->position, row->started_unix, row->seconds,
		row->status, row->error, row->note);
	w.trial = sqlite3_last_insert_rowid(r->db);
	if (st >= 0 && add)
		st = add(ctx, &w, err);
	if (st >= 0)
		st = bk_results_sql(r, "COMMIT", "record a trial", err);
	if (st < 0)
		sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
	return st;
}

bk_status bk_results_add_metric(struct bk_trial_writer *w, const char *name, const char *unit,
				double value, struct bk_error *err)
{
	if (!isfinite(value))
		return bk_fail(err, BK_INTERNAL, 0, "metric %s is not a number", name);
	return insert(w->results, "record a metric", err,
		      "INSERT INTO metric(trial, name, unit, value) VALUES(?,?,?,?)", "ittd",
		      w->trial, name, unit, value);
}

bk_status bk_results_add_histogram(struct bk_trial_writer *w, const char *name, const char *text,
				   struct bk_error *err)
{
	return insert(w->results, "record a histogram", err,
		      "INSERT INTO histogram(trial, name, data) VALUES(?,?,?)", "itt", w->trial,
		      name, text);
}

bk_status bk_results_add_series(struct bk_trial_writer *w, const char *name, const char *unit,
				const double *values, size_t count, struct bk_error *err)
{
	struct bk_buf json = BK_BUF_INIT;
	bk_status st;
	size_t i;

	bk_buf_puts(&json, "[");
	for (i = 0; i < count; i++)
		bk_buf_putf(&json, "%s%.9g", i ? "," : "", values[i]);
	bk_buf_puts(&json, "]");
	st = json.failed ? bk_fail(err, BK_NOMEM, 0, "out of memory for a series")
			 : insert(w->results, "record a series", err,
				  "INSERT INTO series(trial, name, unit, data) VALUES(?,?,?,?)",
				  "ittt", w->trial, name, unit, bk_buf_str(&json));
	bk_buf_free(&json);
	return st;
}

bk_status bk_results_add_failures(struct bk_trial_writer *w, const char *status, uint64_t count,
				  struct bk_error *err)
{
	return insert(w->results, "record failures", err,
		      "INSERT INTO failure(trial, status, count) VALUES(?,?,?)", "iti", w->trial,
		      status, (int64_t)count);
}
