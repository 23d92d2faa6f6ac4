/*
 * connect.c - from options to a connection that is set up and has told what is in force.
 *
 * The invariant: whatever the backend relies on is set by name here and read back from the server;
 * nothing comes from the environment (the harness has cleared it) or from libpq's files but a
 * passfile that the user named.
 */
#include "pg.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#define CON_PAIRS 16

struct con_pairs {
	const char *keys[CON_PAIRS], *values[CON_PAIRS];
	size_t n;
};

static void con_add(struct con_pairs *p, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	p->keys[p->n] = key;
	p->values[p->n] = value;
	p->n++;
	p->keys[p->n] = p->values[p->n] = NULL;
}

static void con_fill(struct con_pairs *p, const struct pg_options *o)
{
	p->n = 0;
	p->keys[0] = p->values[0] = NULL;
	if (o->url) /* first: what follows overrides its parts */
		con_add(p, "dbname", o->url);
	con_add(p, "host", o->host);
	con_add(p, "port", o->port);
	con_add(p, "user", o->user);
	con_add(p, "password", o->password);
	con_add(p, "passfile", o->passfile);
	con_add(p, "sslmode", o->sslmode);
	con_add(p, "client_encoding", "UTF8");
	con_add(p, "fallback_application_name", "bakeoff");
	if (o->database || !o->url)
		con_add(p, "dbname", o->database ? o->database : "postgres");
}

/* libpq's own complaint about a URL quotes it, password and all: only its kind is told. */
static bk_status con_check_url(const struct pg_options *o, struct bk_error *err)
{
	PQconninfoOption *parsed;
	char *why = NULL;

	if (!o->url)
		return BK_OK;
	if (strncmp(o->url, "postgresql://", 13) != 0 && strncmp(o->url, "postgres://", 11) != 0)
		return bk_fail(err, BK_INVALID, 0,
			       "option url: it must begin with postgresql:// or postgres://");
	parsed = PQconninfoParse(o->url, &why);
	PQfreemem(why);
	if (!parsed)
		return bk_fail(err, BK_INVALID, 0,
			       "option url: not a URL that libpq understands; user, password and "
			       "database must be percent-encoded, parameters be libpq's own");
	PQconninfoFree(parsed);
	return BK_OK;
}

static void con_no_notice(void *arg, const PGresult *res)
{
}

/* Until connected, refused or late. */
static bk_status con_wait(PGconn *conn, const struct bk_store *store, uint64_t timeout_ns,
			  struct bk_error *err)
{
	const struct bk_host *host = store->host;
	uint64_t end = host->now_ns(host->ctx) + timeout_ns;
	PostgresPollingStatusType want = PGRES_POLLING_WRITING;
	struct pollfd p;
	uint64_t now;

	while (want != PGRES_POLLING_OK) {
		if (want == PGRES_POLLING_FAILED || PQstatus(conn) == CONNECTION_BAD)
			return pg_error_connect(err, conn, store->options);
		now = host->now_ns(host->ctx);
		if (now >= end)
			return bk_fail(err, BK_TIMEOUT, 0,
				       "cannot connect to %s: no answer within %llu ms",
				       PQhost(conn) ? PQhost(conn) : "the server",
				       (unsigned long long)(timeout_ns / 1000000));
		p.fd = PQsocket(conn);
		p.events = want == PGRES_POLLING_READING ? POLLIN : POLLOUT;
		if (poll(&p, 1, (int)((end - now) / 1000000 % 60000) + 1) < 0 && errno != EINTR)
			return bk_fail(err, BK_IO, errno, "cannot wait for the server: %s",
				       strerror(errno));
		want = PQconnectPoll(conn);
	}
	return BK_OK;
}

static bk_status con_open(struct pg_wire *w, const struct bk_store *store, struct bk_error *err)
{
	const struct pg_options *o = store->options;
	struct con_pairs pairs;
	bk_status status = con_check_url(o, err);

	if (status < 0)
		return status;
	con_fill(&pairs, o);
	w->conn = PQconnectStartParams(pairs.keys, pairs.values, 1);
	if (!w->conn)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (PQstatus(w->conn) == CONNECTION_BAD)
		return pg_error_connect(err, w->conn, o);
	PQsetNoticeReceiver(w->conn, con_no_notice, NULL);
	PQsetErrorVerbosity(w->conn, PQERRORS_VERBOSE); /* the only way to a refusal's SQLSTATE */
	status = con_wait(w->conn, store, o->connect_timeout_us * 1000, err);
	if (status < 0)
		return status;
	PQsetErrorVerbosity(w->conn, PQERRORS_DEFAULT);
	if (PQsetnonblocking(w->conn, 1) || !PQenterPipelineMode(w->conn))
		return bk_fail(err, BK_INTERNAL, 0, "libpq refuses pipeline mode: %s",
			       PQerrorMessage(w->conn));
	w->cancel = PQgetCancel(w->conn);
	if (!w->cancel)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	return BK_OK;
}

/* ---- what a session sets and reads back ------------------------------------------------- */

/* Plans are made once for a prepared statement and must not depend on whether the tables happened
 * to be empty then: every such statement is a search by key, so sequential and bitmap scans are
 * discouraged.  Walks of several steps are planned each time. */
static const char con_setup[] =
	"SELECT set_config('search_path', $1, false), set_config('client_min_messages', 'error', false),"
	" set_config('jit', 'off', false), set_config('enable_seqscan', 'off', false),"
	" set_config('enable_bitmapscan', 'off', false),"
	" set_config('plan_cache_mode', 'force_generic_plan', false),"
	" set_config('cursor_tuple_fraction', '1', false),"
	" set_config('statement_timeout', '0', false),"
	" set_config('synchronous_commit', CASE WHEN $2 = 0 THEN 'off'"
	"   WHEN current_setting('synchronous_commit') = 'off' THEN 'on'"
	"   ELSE current_setting('synchronous_commit') END, false),"
	" current_setting('fsync'), current_setting('full_page_writes'),"
	" current_setting('synchronous_commit'), current_setting('default_transaction_isolation')";
#define CON_FIRST_READ 9

static void con_keep(char *to, size_t size, const PGresult *res, int field)
{
	snprintf(to, size, "%.*s", PQgetlength(res, 0, field), PQgetvalue(res, 0, field));
}

bk_status pg_connect(struct pg_wire *w, const struct bk_store *store, uint32_t durability,
		     struct pg_in_force *f, struct bk_error *err)
{
	struct pg_params p;
	bk_status status = con_open(w, store, err);

	if (status < 0)
		return status;
	pg_params_init(&p);
	pg_params_text(&p, store->schema);
	pg_params_int(&p, durability);
	w->timeout_ns = store->options->connect_timeout_us * 1000;
	pg_wire_start(w);
	status = pg_wire_ask_sql(w, con_setup, &p, "cannot set up the session", err);
	w->timeout_ns = 0;
	if (status < 0)
		return status;
	con_keep(f->fsync, sizeof(f->fsync), w->result, CON_FIRST_READ);
	con_keep(f->full_page_writes, sizeof(f->full_page_writes), w->result, CON_FIRST_READ + 1);
	con_keep(f->synchronous_commit, sizeof(f->synchronous_commit), w->result,
		 CON_FIRST_READ + 2);
	con_keep(f->isolation, sizeof(f->isolation), w->result, CON_FIRST_READ + 3);
	f->version = PQserverVersion(w->conn);
	return BK_OK;
}

uint32_t pg_durability_of(const struct pg_in_force *f)
{
	if (strcmp(f->synchronous_commit, "off") == 0)
		return BK_DURABLE_NONE;
	if (strcmp(f->fsync, "on") == 0 && strcmp(f->full_page_writes, "on") == 0)
		return BK_DURABLE_MACHINE;
	return BK_DURABLE_PROCESS;
}
