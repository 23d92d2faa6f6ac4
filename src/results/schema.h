/*
 * schema.h - the tables, as SQL.  A change raises BK_RESULTS_SCHEMA and docs/results.md.
 */
#ifndef BK_RESULTS_SCHEMA_H
#define BK_RESULTS_SCHEMA_H

#define BK_RESULTS_SQL                                                                             \
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"              \
	"CREATE TABLE run(id INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT,"              \
	" status TEXT NOT NULL, matrix TEXT NOT NULL, matrix_path TEXT NOT NULL,"                  \
	" matrix_text TEXT NOT NULL, note TEXT, version TEXT NOT NULL, host TEXT NOT NULL,"        \
	" reference TEXT NOT NULL, durability TEXT NOT NULL, seed TEXT NOT NULL,"                  \
	" rounds INTEGER NOT NULL);"                                                               \
	"CREATE TABLE variant(run INTEGER NOT NULL REFERENCES run, position INTEGER NOT NULL,"     \
	" name TEXT NOT NULL, nodes TEXT NOT NULL, binaries TEXT, PRIMARY KEY(run, name))"         \
	" WITHOUT ROWID;"                                                                          \
	"CREATE TABLE cell(id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run,"           \
	" variant TEXT NOT NULL, name TEXT NOT NULL, kase TEXT NOT NULL, scenario TEXT NOT NULL,"  \
	" params TEXT NOT NULL, primary_metric TEXT NOT NULL, marks TEXT NOT NULL,"                \
	" position INTEGER NOT NULL,"                                                              \
	" UNIQUE(run, name));"                                                                     \
	"CREATE INDEX cell_name ON cell(name);"                                                    \
	"CREATE TABLE dataset(run INTEGER NOT NULL REFERENCES run, variant TEXT NOT NULL,"         \
	" key TEXT NOT NULL, round INTEGER NOT NULL, status TEXT NOT NULL, error TEXT,"            \
	" load_seconds REAL NOT NULL, settle_seconds REAL NOT NULL, settle TEXT);"                 \
	"CREATE TABLE trial(id INTEGER PRIMARY KEY, cell INTEGER NOT NULL REFERENCES cell,"        \
	" round INTEGER NOT NULL, position INTEGER NOT NULL, started REAL NOT NULL,"               \
	" seconds REAL NOT NULL, status TEXT NOT NULL, error TEXT, note TEXT,"                     \
	" UNIQUE(cell, round));"                                                                   \
	"CREATE TABLE metric(trial INTEGER NOT NULL REFERENCES trial, name TEXT NOT NULL,"         \
	" unit TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY(trial, name)) WITHOUT ROWID;"       \
	"CREATE TABLE histogram(trial INTEGER NOT NULL REFERENCES trial, name TEXT NOT NULL,"      \
	" data TEXT NOT NULL, PRIMARY KEY(trial, name)) WITHOUT ROWID;"                            \
	"CREATE TABLE series(trial INTEGER NOT NULL REFERENCES trial, name TEXT NOT NULL,"         \
	" unit TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY(trial, name)) WITHOUT ROWID;"        \
	"CREATE TABLE failure(trial INTEGER NOT NULL REFERENCES trial, status TEXT NOT NULL,"      \
	" count INTEGER NOT NULL, PRIMARY KEY(trial, status)) WITHOUT ROWID;"

#endif
