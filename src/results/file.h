/*
 * file.h - the open results file, for those who open it and those who use it.  Private to results/.
 */
#ifndef BK_RESULTS_FILE_H
#define BK_RESULTS_FILE_H

#include "results/results.h"

#include <sqlite3.h>

struct bk_results {
	sqlite3 *db;
	char *path;
	bool write;
};

/* "cannot `doing` in the results file ...": what SQLite said last. */
bk_status bk_results_sql_fail(struct bk_results *r, const char *doing, struct bk_error *err);
bk_status bk_results_sql(struct bk_results *r, const char *sql, const char *doing,
			 struct bk_error *err);

#endif
