/*
 * open.c - opening a results file, and refusing what is none.
 */
#include "results/file.h"

#include "results/schema.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *bk_results_path(const char *flag)
{
	const char *env = getenv("BAKEOFF_RESULTS");

	if (flag)
		return flag;
	return env && *env ? env : BK_RESULTS_DEFAULT;
}

static bk_status schema_of(int *out, struct bk_results *r, struct bk_error *err)
{
	sqlite3_stmt *s = NULL;
	int rc;

	*out = -1;
	rc = sqlite3_prepare_v2(r->db, "SELECT count(*) FROM sqlite_master", -1, &s, NULL);
	if (rc != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW) {
		sqlite3_finalize(s);
		return bk_fail(err, BK_INVALID, rc, "'%s' is not a results file: %s", r->path,
			       sqlite3_errmsg(r->db));
	}
	if (sqlite3_column_int(s, 0) == 0)
		*out = 0;
	sqlite3_finalize(s);
	if (*out == 0)
		return BK_OK;
	rc = sqlite3_prepare_v2(r->db, "SELECT value FROM meta WHERE key = 'schema'", -1, &s, NULL);
	if (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		*out = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	if (*out <= 0)
		return bk_fail(
			err, BK_INVALID, 0,
			"'%s' is a database, but not a results file of bakeoff; it is left as "
			"it is",
			r->path);
	return BK_OK;
}

/* One text from `db`, or NULL.  The caller's to free. */
static char *ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	char *text = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
		text = strdup((const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	return text;
}

/* Every table that a new file has, as it is there?  Those who read rely on NOT NULL.  A view or an
 * index that somebody added does no harm. */
static bool has_our_tables(struct bk_results *r)
{
	sqlite3_stmt *ours = NULL, *theirs = NULL;
	sqlite3 *model = NULL;
	bool same;

	same = sqlite3_open(":memory:", &model) == SQLITE_OK &&
	       sqlite3_exec(model, BK_RESULTS_SQL, NULL, NULL, NULL) == SQLITE_OK &&
	       sqlite3_prepare_v2(model, "SELECT sql FROM sqlite_master WHERE type = 'table'", -1,
				  &ours, NULL) == SQLITE_OK &&
	       sqlite3_prepare_v2(r->db, "SELECT 1 FROM sqlite_master WHERE sql = ?", -1, &theirs,
				  NULL) == SQLITE_OK;
	while (same && sqlite3_step(ours) == SQLITE_ROW) {
		sqlite3_bind_value(theirs, 1, sqlite3_column_value(ours, 0));
		same = sqlite3_step(theirs) == SQLITE_ROW;
		sqlite3_reset(theirs);
	}
	sqlite3_finalize(ours);
	sqlite3_finalize(theirs);
	sqlite3_close(model);
	return same;
}

/* A damaged file is neither read, for half of a comparison is none, nor written on. */
static bk_status check_whole(struct bk_results *r, struct bk_error *err)
{
	char *found = ask(r->db, "PRAGMA quick_check(1)");
	bk_status st = BK_OK;

	if (!found || strcmp(found, "ok") != 0)
		st = bk_fail(err, BK_INVALID, 0,
			     "'%s' is damaged (%s); `sqlite3 FILE .recover` may save what is left",
			     r->path, found ? found : sqlite3_errmsg(r->db));
	else if (!has_our_tables(r))
		st = bk_fail(err, BK_INVALID, 0,
			     "'%s' is damaged: its tables are not those of schema %d; name another "
			     "file with --results",
			     r->path, BK_RESULTS_SCHEMA);
	free(found);
	return st;
}

static bk_status prepare_schema(struct bk_results *r, bool write, struct bk_error *err)
{
	int schema;
	bk_status st = schema_of(&schema, r, err);

	if (st < 0)
		return st;
	if (schema == BK_RESULTS_SCHEMA)
		return check_whole(r, err);
	if (schema > 0)
		return bk_fail(
			err, BK_INVALID, 0,
			"'%s' has schema %d, this bakeoff writes schema %d; name another file "
			"with --results",
			r->path, schema, BK_RESULTS_SCHEMA);
	if (!write)
		return bk_fail(err, BK_INVALID, 0, "'%s' is empty; nothing was recorded in it",
			       r->path);
	st = bk_results_sql(r, "BEGIN IMMEDIATE", "make the tables", err);
	if (st >= 0)
		st = schema_of(&schema, r, err);
	if (st >= 0 && schema != 0) /* another run made them while this one waited */
		return bk_results_sql(r, "ROLLBACK", "make the tables", err);
	if (st >= 0)
		st = bk_results_sql(r, BK_RESULTS_SQL "INSERT INTO meta VALUES('schema', '1')",
				    "make the tables", err);
	if (st >= 0)
		st = bk_results_sql(r, "COMMIT", "make the tables", err);
	return st;
}

/* A file by that name and nothing else: to SQLite ":memory:" and "file:..." mean other things, and
 * a device would be written to. */
static bk_status open_file(struct bk_results *r, bool write, struct bk_error *err)
{
	char *name = bk_fs_join(r->path[0] == '/' ? "" : ".", r->path);
	bool there, folder;
	struct stat sb;
	int rc;

	if (!name)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	there = stat(r->path, &sb) == 0;
	folder = there && S_ISDIR(sb.st_mode);
	if (!r->path[0] || (there && !S_ISREG(sb.st_mode))) {
		free(name);
		return bk_fail(err, BK_INVALID, 0, "'%s' is %s, not a results file", r->path,
			       !r->path[0] ? "no name"
			       : folder    ? "a folder"
					   : "a device or a pipe");
	}
	rc = sqlite3_open_v2(
		name, &r->db,
		write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY, NULL);
	free(name);
	if (rc == SQLITE_OK)
		return BK_OK;
	return bk_fail(err, BK_INVALID, rc, "cannot open the results file '%s': %s%s", r->path,
		       r->db ? sqlite3_errmsg(r->db) : "out of memory",
		       write ? "" : "; has anything been run?");
}

bk_status bk_results_open(struct bk_results **out, const char *path, bool write,
			  struct bk_error *err)
{
	struct bk_results *r = calloc(1, sizeof(*r));
	bk_status st;

	if (!r || !(r->path = strdup(path))) {
		free(r);
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	st = open_file(r, write, err);
	if (st >= 0) {
		sqlite3_busy_timeout(r->db, 10000);
		st = prepare_schema(r, write, err);
	}
	r->write = st >= 0 && write;
	/* each trial is on disk when the next one starts; readers may look on */
	if (st >= 0 && write)
		st = bk_results_sql(r, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
				    "set the journal", err);
	if (st < 0) {
		bk_results_close(r);
		return st;
	}
	*out = r;
	return BK_OK;
}

void bk_results_close(struct bk_results *r)
{
	if (!r)
		return;
	/* at rest it is one file, which can be read where nothing can be written; not when somebody
	 * else has it open, whose turn it will be */
	if (r->write) {
		sqlite3_busy_timeout(r->db, 0);
		sqlite3_exec(r->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	}
	sqlite3_close(r->db);
	free(r->path);
	free(r);
}
