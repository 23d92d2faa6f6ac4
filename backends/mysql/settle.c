/*
 * settle.c - waiting for what a load left to be done: purge of old row versions, statistics, dirty
 * pages.
 *
 * The one invariant: no setting of the server is touched.  FLUSH TABLES ... FOR EXPORT writes the
 * dirty pages of our own tables; where the account may not, that part is left out.
 */
#include "my.h"

#include <stdlib.h>
#include <time.h>

#define PAUSE_NS 50000000L

static uint64_t now(const struct bk_store *store)
{
	return store->host->now_ns(store->host->ctx);
}

static bk_status number(uint64_t *out, struct bk_store *store, MYSQL *conn, struct bk_error *err)
{
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st;

	*out = 0;
	if (store->server.mariadb)
		st = my_ask(&rows, store, conn, "settle", err, "SHOW GLOBAL STATUS LIKE %s",
			    "Innodb_history_list_length");
	else
		st = my_ask(&rows, store, conn, "settle", err,
			    "SELECT NAME,`COUNT` FROM information_schema.INNODB_METRICS "
			    "WHERE NAME=%s",
			    "trx_rseg_history_len");
	if (st)
		return st;
	row = mysql_fetch_row(rows);
	if (row && row[1])
		*out = strtoull(row[1], NULL, 10);
	mysql_free_result(rows);
	return BK_OK;
}

/* Until the history is short, or has not become shorter for a second: others keep it long. */
static bk_status purge(struct bk_store *store, MYSQL *conn, uint64_t deadline_ns,
		       struct bk_error *err)
{
	struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct bk_error hidden = bk_error_init();
	uint64_t least = UINT64_MAX, length, since = now(store);
	bk_status st;

	for (;;) {
		st = number(&length, store, conn, &hidden);
		if (st == BK_AUTH)
			return BK_OK; /* the account may not look */
		if (st) {
			*err = hidden;
			return st;
		}
		if (length < least) {
			least = length;
			since = now(store);
		}
		if (length < 10 || now(store) - since > 1000000000u)
			return BK_OK;
		if (now(store) > deadline_ns)
			return bk_fail(
				err, BK_TIMEOUT, 0,
				"mysql: settle: %llu old row versions are still to be purged",
				(unsigned long long)length);
		nanosleep(&pause, NULL);
	}
}

/* "ANALYZE TABLE a,b" and "FLUSH TABLES a,b FOR EXPORT" */
static bk_status on_all(struct bk_store *store, MYSQL *conn, const char *before, const char *after,
			struct bk_error *err)
{
	struct my_text t = {.failed = false};
	const char *const *name;
	const char *comma = "";

	my_text_add(&t, store, conn, before);
	for (name = my_table_names; *name; name++) {
		bool other = store->layout == MY_DOCUMENT
				     ? !strcmp(*name, "node") || !strcmp(*name, "segment") ||
					       !strcmp(*name, "link")
				     : !strcmp(*name, "document");

		if (other)
			continue;
		my_text_add(&t, store, conn, comma);
		my_text_add(&t, store, conn, "%t", *name);
		comma = ",";
	}
	my_text_add(&t, store, conn, after);
	return my_text_send(NULL, &t, store, conn, "settle", err);
}

bk_status my_store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	struct bk_error refused = bk_error_init();
	uint64_t deadline_ns = now(store) + timeout_ns;
	struct my_mark m;
	MYSQL *conn;
	bk_status st = my_control(&conn, store, err);

	if (!st)
		st = my_mark_read(&m, store, conn, err);

	if (!st && m.found == MY_NOTHING)
		return BK_OK;
	if (!st && m.found == MY_STRANGE)
		return my_mark_foreign(store, &m, err);
	if (!st)
		st = purge(store, conn, deadline_ns, err);
	if (!st)
		st = on_all(store, conn, "ANALYZE TABLE ", "", err);
	if (st)
		return st;
	if (now(store) > deadline_ns)
		return bk_fail(err, BK_TIMEOUT, 0, "mysql: settle: the deadline passed");
	st = on_all(store, conn, "FLUSH TABLES ", " FOR EXPORT", &refused);
	if (st == BK_AUTH)
		return BK_OK;
	if (st)
		*err = refused;
	return st ? st : my_run(store, conn, "settle", err, "UNLOCK TABLES");
}
