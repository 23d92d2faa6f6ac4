/*
 * schema.c - the tables of a store: made, emptied, removed.  README.md says what each is for.
 *
 * The one invariant: the table `mark` is made first and dropped last, and nothing is dropped or
 * emptied before it has been read.
 */
#include "my.h"

/* In order of making; dropped the other way round. */
const char *const my_table_names[] = {"mark",     "seq",    "node",  "segment", "link",
				      "document", "binary", "chunk", "upload",  NULL};

#define TABLE_END " ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4"

static const char *const common[] = {
	/* Numbers for nodes and binaries; rows are of no use, the counter is. */
	"CREATE TABLE IF NOT EXISTS @seq ("
	"k BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY)" TABLE_END,
	"CREATE TABLE IF NOT EXISTS @binary ("
	"bkey VARBINARY(3072) NOT NULL PRIMARY KEY,"
	"n BIGINT UNSIGNED NOT NULL,"
	"size BIGINT UNSIGNED NOT NULL,"
	"chunk INT UNSIGNED NOT NULL)" TABLE_END,
	"CREATE TABLE IF NOT EXISTS @chunk ("
	"n BIGINT UNSIGNED NOT NULL,"
	"seq INT UNSIGNED NOT NULL,"
	"data LONGBLOB NOT NULL,"
	"PRIMARY KEY (n,seq))" TABLE_END,
	"CREATE TABLE IF NOT EXISTS @upload ("
	"n BIGINT UNSIGNED NOT NULL PRIMARY KEY)" TABLE_END,
	NULL,
};

static const char *const relational[] = {
	"CREATE TABLE IF NOT EXISTS @node ("
	"n BIGINT UNSIGNED NOT NULL PRIMARY KEY,"
	"parent BIGINT UNSIGNED NULL,"
	"version BIGINT UNSIGNED NOT NULL,"
	"segs INT UNSIGNED NOT NULL,"
	"id VARBINARY(1024) NOT NULL,"
	"path VARBINARY(3072) NOT NULL,"
	"doc LONGBLOB NOT NULL,"
	"UNIQUE KEY id (id),"
	"UNIQUE KEY path (path),"
	"KEY parent (parent),"
	"FOREIGN KEY (parent) REFERENCES @node (n))" TABLE_END,
	"CREATE TABLE IF NOT EXISTS @segment ("
	"n BIGINT UNSIGNED NOT NULL,"
	"seq INT UNSIGNED NOT NULL,"
	"data LONGBLOB NOT NULL,"
	"PRIMARY KEY (n,seq),"
	"FOREIGN KEY (n) REFERENCES @node (n) ON DELETE CASCADE)" TABLE_END,
	"CREATE TABLE IF NOT EXISTS @link ("
	"src BIGINT UNSIGNED NOT NULL,"
	"rel VARBINARY(1024) NOT NULL,"
	"target VARBINARY(1024) NOT NULL,"
	"PRIMARY KEY (src,rel,target),"
	"KEY inbound (target,rel,src),"
	"FOREIGN KEY (src) REFERENCES @node (n) ON DELETE CASCADE)" TABLE_END,
	NULL,
};

static const char *const document[] = {
	"CREATE TABLE IF NOT EXISTS @document ("
	"id VARBINARY(3072) NOT NULL PRIMARY KEY,"
	"document LONGBLOB NOT NULL)" TABLE_END,
	NULL,
};

static bk_status create(struct bk_store *store, MYSQL *conn, const char *const *texts,
			struct bk_error *err)
{
	struct my_buf text = {0};
	bk_status st = BK_OK;

	for (; *texts && !st; texts++) {
		if (!my_expand(&text, store->prefix, *texts))
			st = my_nomem(err);
		else if (mysql_real_query(conn, text.data, (unsigned long)text.len - 1))
			st = my_fail_conn(err, store, conn, "making the store's tables");
	}
	my_buf_free(&text);
	return st;
}

/* Ours, of this layout, or nothing yet. */
static bk_status check(struct my_mark *m, MYSQL **conn, struct bk_store *store, bool any_layout,
		       struct bk_error *err)
{
	static const char *const names[] = {"relational", "document"};
	bk_status st = my_control(conn, store, err);

	if (!st)
		st = my_mark_read(m, store, *conn, err);
	if (st)
		return st;
	if (m->found == MY_STRANGE)
		return my_mark_foreign(store, m, err);
	if (m->found == MY_OURS && m->layout != store->layout && !any_layout)
		return bk_fail(err, BK_STATE, 0,
			       "mysql: the store in database '%s' was made with layout=%s; use "
			       "that, or remove it first",
			       store->target.database, names[m->layout]);
	return BK_OK;
}

static bk_status make(struct bk_store *store, struct bk_error *err)
{
	struct my_mark m;
	MYSQL *conn;
	bk_status st = check(&m, &conn, store, false, err);

	if (!st && m.found == MY_NOTHING)
		st = my_mark_write(store, conn, err);
	if (!st)
		st = create(store, conn, common, err);
	if (!st)
		st = create(store, conn, store->layout == MY_DOCUMENT ? document : relational, err);
	if (!st)
		st = my_uploads_sweep(store, conn, err);
	return st;
}

static bk_status clear(struct bk_store *store, struct bk_error *err)
{
	const char *const *name;
	struct my_mark m;
	MYSQL *conn;
	bk_status st = check(&m, &conn, store, false, err);

	if (!st)
		st = make(store, err); /* what is missing, so that all can be emptied */
	if (!st)
		st = my_run(store, conn, "clearing", err, "SET SESSION foreign_key_checks=0");
	for (name = my_table_names; *name && !st; name++) {
		bool other = store->layout == MY_DOCUMENT
				     ? !strcmp(*name, "node") || !strcmp(*name, "segment") ||
					       !strcmp(*name, "link")
				     : !strcmp(*name, "document");

		/* `seq` goes on counting: sessions may hold numbers of it. */
		if (other || !strcmp(*name, "mark") || !strcmp(*name, "seq"))
			continue;
		st = my_run(store, conn, "clearing", err, "TRUNCATE TABLE %t", *name);
	}
	if (!st)
		st = my_run(store, conn, "clearing", err, "SET SESSION foreign_key_checks=1");
	return st;
}

static bk_status unmake(struct bk_store *store, struct bk_error *err)
{
	size_t i = sizeof(my_table_names) / sizeof(*my_table_names) - 1;
	struct my_mark m;
	MYSQL *conn;
	bk_status st = check(&m, &conn, store, true, err);

	if (st || m.found == MY_NOTHING)
		return st;
	while (i-- > 0 && !st)
		st = my_run(store, conn, "removing the store's tables", err,
			    "DROP TABLE IF EXISTS %t", my_table_names[i]);
	return st;
}

/* ---- One at a time ------------------------------------------------------------------------------
 */

/* A client that was killed may have left a statement that still runs: the lock is free when that
 * has ended and the server has noticed. */
static bk_status lock(MYSQL *conn, struct bk_store *store, const char *name, struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st = my_ask(&rows, store, conn, "waiting for others", err,
			      "SELECT GET_LOCK(%s,30)", name);

	if (st)
		return st;
	row = mysql_fetch_row(rows);
	if (!row || !row[0] || strcmp(row[0], "1")) {
		st = bk_fail(
			err, BK_CONFLICT, 0,
			"mysql: somebody else has been making or removing this store for 30 s");
		err->flags = BK_ERR_RETRY;
	}
	mysql_free_result(rows);
	return st;
}

static bk_status locked(bk_status (*fn)(struct bk_store *, struct bk_error *),
			struct bk_store *store, struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();
	char name[64];
	MYSQL *conn;
	bk_status st = my_need_database(store, err);

	if (!st)
		st = my_control(&conn, store, err);
	snprintf(name, sizeof(name), "bakeoff_make_%s", store->prefix);
	if (!st)
		st = lock(conn, store, name, err);
	if (st)
		return st;
	st = fn(store, err);
	if (!my_control(&conn, store, &ignored))
		my_run(store, conn, "letting others", &ignored, "DO RELEASE_LOCK(%s)", name);
	return st;
}

bk_status my_schema_make(struct bk_store *store, struct bk_error *err)
{
	return locked(make, store, err);
}

bk_status my_schema_clear(struct bk_store *store, struct bk_error *err)
{
	return locked(clear, store, err);
}

bk_status my_schema_unmake(struct bk_store *store, struct bk_error *err)
{
	return locked(unmake, store, err);
}
