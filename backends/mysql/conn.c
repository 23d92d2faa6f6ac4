/*
 * conn.c - making one connection, with everything said explicitly: no option file and no variable
 * of the environment has a say, TLS is there when it was asked for, session settings are ours.
 *
 * The one invariant: with tls=on or verify no connection in plaintext leaves this file.
 */
#include "my.h"

#include <errmsg.h>
#include <pthread.h>
#include <time.h>

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static int library_failed;

static void library_start(void)
{
	struct sigaction before;

	/* The library ignores SIGPIPE, for the whole process, without asking. */
	sigaction(SIGPIPE, NULL, &before);
	library_failed = mysql_library_init(0, NULL, NULL);
	sigaction(SIGPIPE, &before, NULL);
}

static bool pipe_pending(void)
{
	sigset_t set;

	return sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 1;
}

void my_pipe_hold(struct my_pipe *p, const struct bk_store *store)
{
	sigset_t set;

	p->held = store->target.tls != MY_TLS_OFF;
	if (!p->held)
		return; /* the library itself sends with MSG_NOSIGNAL */
	p->pending = pipe_pending();
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, &p->before);
}

void my_pipe_release(struct my_pipe *p)
{
	struct timespec none = {0, 0};
	sigset_t set;

	if (!p->held)
		return;
	if (!p->pending && pipe_pending()) {
		sigemptyset(&set);
		sigaddset(&set, SIGPIPE);
		sigtimedwait(&set, NULL, &none);
	}
	pthread_sigmask(SIG_SETMASK, &p->before, NULL);
	p->held = false;
}

bk_status my_library_init(struct bk_error *err)
{
	pthread_once(&library_once, library_start);
	if (library_failed)
		return bk_fail(err, BK_INTERNAL, library_failed,
			       "mysql: " MY_LIBRARY " does not start");
	return BK_OK;
}

#ifndef LIBMARIADB
static bool is_this_machine(const char *host)
{
	return host &&
	       (!strcmp(host, "localhost") || !strncmp(host, "127.", 4) || !strcmp(host, "::1"));
}
#endif

static void set_tls(MYSQL *conn, const struct my_target *t)
{
#ifdef LIBMARIADB
	my_bool on = 1, verify = t->tls == MY_TLS_VERIFY;

	if (t->tls == MY_TLS_OFF)
		return;
	mysql_options(conn, MYSQL_OPT_SSL_ENFORCE, &on);
	mysql_options(conn, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
#else
	unsigned mode = t->tls == MY_TLS_OFF  ? SSL_MODE_DISABLED
			: t->tls == MY_TLS_ON ? SSL_MODE_REQUIRED
			: t->socket           ? SSL_MODE_VERIFY_CA
					      : SSL_MODE_VERIFY_IDENTITY;

	mysql_options(conn, MYSQL_OPT_SSL_MODE, &mode);
	if (t->tls == MY_TLS_OFF) {
		bool ask = is_this_machine(t->host);

		/* With the server's key the password goes encrypted (caching_sha2_password).  Who
		 * the key is from cannot be told; on this machine nobody comes in between. */
		mysql_options(conn, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &ask);
		return;
	}
#endif
	if (t->tls_ca && *t->tls_ca)
		mysql_options(conn, MYSQL_OPT_SSL_CA, t->tls_ca);
}

static void set_options(MYSQL *conn, const struct my_target *t, uint64_t timeout_ns)
{
	bool socket = t->socket && *t->socket;
	unsigned connect_s = t->connect_timeout_s ? t->connect_timeout_s : 10;
	unsigned protocol = socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
	unsigned infile = 0;

	mysql_options(conn, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
	mysql_options(conn, MYSQL_OPT_PROTOCOL, &protocol);
	mysql_options(conn, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	mysql_options(conn, MYSQL_OPT_LOCAL_INFILE, &infile); /* a server cannot ask for files */
	if (timeout_ns) {
		/* A net under max_statement_time, for a server that does not answer at all. */
		unsigned read_s = (unsigned)(timeout_ns / 1000000000u) + 3;

		mysql_options(conn, MYSQL_OPT_READ_TIMEOUT, &read_s);
		mysql_options(conn, MYSQL_OPT_WRITE_TIMEOUT, &read_s);
	}
	set_tls(conn, t);
}

/* What every connection of ours runs under, whatever the server's own settings are. */
static bk_status set_session(MYSQL *conn, struct bk_store *store, uint64_t timeout_ns,
			     struct bk_error *err)
{
	bool mariadb = strstr(mysql_get_server_info(conn), "MariaDB") != NULL;
	char text[512];
	int n;

	n = snprintf(text, sizeof(text),
		     "SET SESSION sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION%s',"
		     "autocommit=1,wait_timeout=2147483,net_write_timeout=3600,"
		     "optimizer_switch='mrr=off%s'",
		     mariadb ? ",NO_AUTO_CREATE_USER" : "",
		     mariadb ? "" : ",batched_key_access=off,block_nested_loop=off");
	if (mariadb)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      ",join_cache_level=0,in_predicate_conversion_threshold=0");
	if (timeout_ns && mariadb)
		snprintf(text + n, sizeof(text) - (size_t)n, ",max_statement_time=%.6f",
			 (double)timeout_ns / 1e9);
	else if (timeout_ns)
		snprintf(text + n, sizeof(text) - (size_t)n,
			 ",max_execution_time=%u,innodb_lock_wait_timeout=%u",
			 (unsigned)((timeout_ns + 999999) / 1000000),
			 (unsigned)((timeout_ns + 999999999) / 1000000000));
	if (mysql_query(conn, text))
		return my_fail_conn(err, store, conn, "setting up the connection");
	return BK_OK;
}

static bk_status fail_connect(struct bk_error *err, struct bk_store *store, MYSQL *conn)
{
	char where[200], what[300];

	my_target_name(&store->target, where, sizeof(where));
	snprintf(what, sizeof(what), "cannot connect to %s as '%s'", where, store->target.user);
	return my_fail_conn(err, store, conn, what);
}

bk_status my_connect(MYSQL **out, struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	const struct my_target *t = &store->target;
	bool socket = t->socket && *t->socket;
	MYSQL *conn = mysql_init(NULL);
	bk_status st;

	if (!conn)
		return bk_fail(err, BK_NOMEM, 0, "mysql: out of memory");
	set_options(conn, t, timeout_ns);
	if (!mysql_real_connect(conn, socket ? "localhost" : t->host, t->user,
				t->password ? t->password : "", t->database, socket ? 0 : t->port,
				socket ? t->socket : NULL, CLIENT_FOUND_ROWS)) {
		st = fail_connect(err, store, conn);
		goto out;
	}
	if (t->tls != MY_TLS_OFF && !mysql_get_ssl_cipher(conn)) {
		char where[200];

		my_target_name(t, where, sizeof(where));
		st = bk_fail(err, BK_UNAVAILABLE, CR_SSL_CONNECTION_ERROR,
			     "mysql: %s offers no TLS, and option tls asks for it: set up a "
			     "certificate on the server, or tls=off",
			     where);
		goto out;
	}
	st = set_session(conn, store, timeout_ns, err);
out:
	if (st) {
		mysql_close(conn);
		return st;
	}
	*out = conn;
	return BK_OK;
}
