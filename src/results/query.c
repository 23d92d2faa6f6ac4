/*
 * query.c - asking the results file.
 */
#include "results/file.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>

bk_status bk_results_query(struct bk_results *r, const char *sql, int64_t run,
			   bk_status (*fn)(void *ctx, const char *const *values, int count,
					   struct bk_error *err),
			   void *ctx, struct bk_error *err)
{
	const char *values[32];
	sqlite3_stmt *s = NULL;
	bk_status st = BK_OK;
	int rc, i, n;

	if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
		return bk_results_sql_fail(r, "read", err);
	for (i = 1; i <= sqlite3_bind_parameter_count(s); i++)
		sqlite3_bind_int64(s, i, run);
	n = sqlite3_column_count(s);
	while (st >= 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		for (i = 0; i < n && i < 32; i++)
			values[i] = (const char *)sqlite3_column_text(s, i);
		st = fn(ctx, values, n, err);
	}
	if (st >= 0 && rc != SQLITE_DONE)
		st = bk_results_sql_fail(r, "read", err);
	sqlite3_finalize(s);
	return st;
}

bk_status bk_results_run_find(int64_t *run, struct bk_results *r, const char *text,
			      struct bk_error *err)
{
	sqlite3_stmt *s = NULL;
	int64_t wanted = 0, last = 0, count = 0;
	bool any = !*text || strcmp(text, "last") == 0, found = false;
	char *end = NULL;

	if (!any) {
		wanted = strtoll(text, &end, 10);
		if (*end || wanted <= 0)
			return bk_fail(err, BK_INVALID, 0,
				       "'%s' is no run; write its number (`bakeoff runs`) or last",
				       text);
	}
	if (sqlite3_prepare_v2(r->db, "SELECT id FROM run ORDER BY id", -1, &s, NULL) != SQLITE_OK)
		return bk_results_sql_fail(r, "read", err);
	while (sqlite3_step(s) == SQLITE_ROW) {
		last = sqlite3_column_int64(s, 0);
		found = found || last == wanted;
		count++;
	}
	sqlite3_finalize(s);
	if (!count)
		return bk_fail(err, BK_NOT_FOUND, 0, "'%s' holds no runs yet", r->path);
	if (!any && !found)
		return bk_fail(err, BK_NOT_FOUND, 0, "run %s is not in '%s'; the last one is %lld",
			       text, r->path, (long long)last);
	*run = any ? last : wanted;
	return BK_OK;
}

double bk_results_earlier_seconds(struct bk_results *r, const char *cell_name)
{
	sqlite3_stmt *s = NULL;
	double seconds = -1;

	if (sqlite3_prepare_v2(r->db,
			       "SELECT avg(t.seconds) FROM trial t JOIN cell c ON c.id = t.cell"
			       " WHERE c.name = ? AND t.status = 'ok'",
			       -1, &s, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_text(s, 1, cell_name, -1, SQLITE_STATIC);
	if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL)
		seconds = sqlite3_column_double(s, 0);
	sqlite3_finalize(s);
	return seconds;
}
